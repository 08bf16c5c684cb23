% agreement PACKAGE PROGRAM MODELS: Octave's numbers are those of the command line, bit for bit.
args = argv ();
[package, program, models] = args{end-2:end};
addpath (package);
cases = {'hires', 'radau5', 1e-6, ''; 'plei', 'dop853', 1e-8, ''; 'emep', 'vode', 1e-3, 'sparse'; ...
         'vdpol-mu', 'lsoda', 1e-6, ''; 'chemakzo', 'mebdfdae', 1e-6, ''; 'fekete', 'radau5', 1e-4, 'dense'; ...
         'nand', 'dassl', 1e-5, ''; 'andrews', 'auto', 1e-7, ''; 'seven-body', 'phem56', 1e-8, ''; ...
         'medakzo', 'radau5', 1e-4, ''};
for name = {'slider_crank', 'newtons_cradle', 'four_bar', 'spinning_top', 'stiff_double_pendulum'}
  cases(end+1,:) = {fullfile(models, [name{1} '.json']), '', [], ''};
end
bad = false;
for i = 1:size (cases, 1)
  [what, method, rtol, algebra] = cases{i,:};
  words = sprintf ('"%s" run "%s" --json --quiet', program, what);
  options = {};
  if (! isempty (method))
    words = [words sprintf(' --solver %s', method)];
    options = [options, {'Method', method}];
  end
  if (! isempty (rtol))
    words = [words sprintf(' --rtol %.17g', rtol)];
    options = [options, {'RelTol', rtol}];
  end
  if (! isempty (algebra))
    words = [words ' --linear-algebra ' algebra];
    options = [options, {'LinearAlgebra', algebra}];
  end
  [status, out] = system (words);
  found = regexp (out, '"y":\[([^\]]*)\]', 'tokens', 'once');
  theirs = str2double (strsplit (found{1}, ','));
  r = daedalus_run (what, options{:});
  same = isequal (theirs(:), r.y_last) && ! isempty (theirs);
  printf ('%-60s %d numbers, %d differ\n', what, numel (theirs), sum (theirs(:) != r.y_last));
  bad = bad || ! same;
end
% and with the function called back: the same steps, the same bits
opt = odeset ('RelTol', 1e-6, 'AbsTol', 1e-6, 'InitialStep', 1e-9);
opt.Jacobian = @(t, y) daedalus_mex ('jeval', 'hires', {}, t, y);
info = daedalus_mex ('problem', 'hires');
[t, y] = radau5 (@(t, y) daedalus_mex ('feval', 'hires', {}, t, y), [info.t0 info.t_end], info.y0, opt);
r = daedalus_run ('hires', 'Method', 'radau5', 'RelTol', 1e-6, 'AbsTol', 1e-6, 'InitialStep', 1e-9);
printf ('hires with functions called back: largest difference %g\n', max (abs (y(end,:).' - r.y_last)));
bad = bad || ! isequal (y(end,:).', r.y_last) || ! isequal (size (y, 1), size (r.y, 2));
exit (double (bad));
