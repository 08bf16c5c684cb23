% DAEDALUS_FIT  parameters and initial values of a problem from measured data.
%
%   R = daedalus_fit (WHAT, DATA, FREE, NAME, VALUE, ...)
%
% WHAT: a problem, model or equation file, or its text. DATA: a CSV file with a column t and columns named as components and sensors
% (sd(x): standard deviations); a struct with the fields t, x, y, ... and sd_x; or a cell of such experiments. A struct may have the
% field Parameters: what is different in this experiment, {name, value}. NaN where nothing was measured. Values in SI units.
% FREE: names of parameters ('k1') and initial values ('x(0)') that may vary, or {'k1', [min max], 'k2', start, 'k3', [start min max]}.
%
% Options: Loss ('square', 'huber'), Starts (1), Seed, Intervals (multiple shooting), Iterations, Tolerance, Level (0.95), and those of
% daedalus_run: Method, RelTol, Parameters, ...
%
% R has the fields names, value, sd, lower, upper (interval of confidence), at_bound, correlation, singular_values, rank, unidentifiable
% (which combinations the data do not tell, in words), cost, rms, noise, iterations, model and residual (a cell per experiment), json,
% status, message.
%
% See also: daedalus_run, daedalus_optimize, daedalus_gradient
function r = daedalus_fit (what, data, free, varargin)
  if (nargin < 3 || ~ischar (what))
    error ('daedalus:input', 'Invalid call to daedalus_fit.  Correct usage is: R = daedalus_fit (PROBLEM, DATA, FREE, ...)');
  end
  [parameters, options, o] = daedalus_read ('daedalus_fit', varargin, {'loss', 'starts', 'seed', 'intervals', 'iterations', ...
                                                                       'tolerance', 'level'});
  [o.names, o.free] = daedalus_free (free);
  if (~iscell (data)), data = {data}; end
  o.data = cell (1, numel (data));
  for k = 1:numel (data), o.data{k} = experiment (data{k}, k); end
  r = daedalus_mex ('fit', what, parameters, options, o);
  r.names = o.names;
end

function e = experiment (d, k)
  e = struct ('name', sprintf ('experiment %d', k), 'settings', {{}});
  if (ischar (d))
    e.name = d;
    e.text = fileread (d);
    return;
  end
  if (~isstruct (d) || ~isfield (d, 't'))
    error ('daedalus:input', 'daedalus_fit: %s is neither a file nor a struct with a field t', e.name);
  end
  fields = fieldnames (d);
  e.t = double (d.t(:));
  e.columns = {};
  e.value = [];
  deviation = [];
  for i = 1:numel (fields)
    f = fields{i};
    if (strcmpi (f, 'Parameters')), e.settings = daedalus_pairs (d.(f)); continue, end
    if (strcmp (f, 't') || strncmp (f, 'sd_', 3)), continue, end
    x = double (d.(f)(:));
    if (numel (x) ~= numel (e.t))
      error ('daedalus:input', 'daedalus_fit: %s: %s has %d values, t has %d', e.name, f, numel (x), numel (e.t));
    end
    e.columns{end+1} = f;
    e.value = [e.value, x];
    s = NaN (numel (x), 1);
    if (isfield (d, ['sd_' f])), s = double (d.(['sd_' f])(:)) + zeros (numel (x), 1); end
    deviation = [deviation, s];
  end
  if (any (isfinite (deviation(:)))), e.sd = deviation; end
end

%!shared decay
%! decay = sprintf ("model decay\nparam k = 2\nvar x = 1\nx' = -k*x\nsolve t = 0 .. 1, rtol = 1e-9\n");
%!test
%! t = linspace (0, 1, 9);
%! r = daedalus_fit (decay, struct ('t', t, 'x', 3 * exp (-0.7 * t)), {'k', [0 5], 'x(0)', []});
%! assert (r.value, [0.7, 3], 1e-6);
%! assert (r.names, {'k', 'x(0)'});
%! assert (r.rank, 2);
%!test # linear least squares about the answer, by hand
%! t = linspace (0, 1, 11).';
%! noise = 0.01 * cos (7 * (0:10)).';
%! r = daedalus_fit (decay, struct ('t', t, 'x', exp (-1.3 * t) + noise, 'sd_x', 0.01), 'k');
%! J = -t .* exp (-1.3 * t);
%! assert (r.value, 1.3 + J \ noise, 1e-3);
%! assert (r.sd, 0.01 / norm (J), 2e-4);
%!test # a file, and two experiments
%! file = [tempname() '.csv'];
%! t = linspace (0, 1, 6);
%! id = fopen (file, 'w');
%! fprintf (id, "t,x\n");
%! fprintf (id, '%.17g,%.17g\n', [t; exp(-2.5 * t)]);
%! fclose (id);
%! r = daedalus_fit (decay, {file, struct('t', t, 'x', exp (-2.5 * t))}, 'k');
%! unlink (file);
%! assert (r.value, 2.5, 1e-6);
%! assert (numel (r.residual), 2);
%!error <nix> daedalus_fit (decay, struct ('t', [0 1], 'nix', [1 2]), 'k')
%!error <has 2 values> daedalus_fit (decay, struct ('t', [0 1 2], 'x', [1 2]), 'k')
%!error <nobody> daedalus_fit (decay, struct ('t', [0 1], 'x', [1 2]), 'nobody')
