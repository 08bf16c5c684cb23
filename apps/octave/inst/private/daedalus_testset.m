% daedalus_testset: what odetest and idetest do. ide: 1 for F(t,y,y') = 0.
function [sol, stats] = daedalus_testset (name, ide, problem, solver, atol, rtol, component, extra)
  mprob = minterface (problem);
  prob = mprob ('Prob');
  if (strcmpi (prob.TYPE, 'IDE') ~= ide)
    other = {'idetest', 'odetest'};
    error ('daedalus:input', '%s: %s is of type %s: use %s', name, prob.PROBLM, prob.TYPE, other{1 + ide});
  end
  n = prob.NEQN;
  [y0, yp0, consistent] = mprob ('Init', n, prob.T(1));
  [atol_all, rtol_all] = mprob ('Tolerances', n, atol, rtol);
  ours = any (strcmp (strrep (solver, '_', '-'), {daedalus_mex('methods').name})) || strncmp (solver, 'daedalus_', 9);
  opt = odeset ('AbsTol', atol_all, 'RelTol', min (rtol_all));
  if (ide)
    f = @(t, y, yp) checked (mprob, n, t, y, yp);
    if (~prob.NUMJAC && ~prob.NUMMAS), opt.Jacobian = @(t, y, yp) pair (mprob, prob, t, y, yp); end
  else
    f = @(t, y) checked (mprob, n, t, y, []);
    if (~prob.NUMJAC), opt.Jacobian = @(t, y) square (mprob ('Jeval', [], n, t, y, [], [], []), prob.MLJAC, prob.MUJAC, n); end
    if (strcmpi (prob.TYPE, 'DAE'))
      opt.Mass = square (mprob ('Meval', [], n, prob.T(1), y0, yp0, [], []), prob.MLMAS, prob.MUMAS, n);
      opt.MStateDependence = 'none';
      if (consistent), opt.InitialSlope = yp0; end
      if (ours), opt.Index = prob.IND; end
    end
  end
  if (~isempty (component))
    opt.OutputFcn = @odeplot;
    opt.OutputSel = component;
  end
  start = cputime ();
  [sol, calls] = over_pieces (solver, ide, f, prob.T, y0, yp0, opt, ours, prob.NDISC);
  stats = struct ('problem', prob.PROBLM, 'solver', solver, 'atol', atol, 'rtol', rtol, 'cpu_seconds', cputime () - start, ...
                  'steps', numel (sol.x) - 1, 'restarts', calls - 1, 'mescd', NaN, 'scd', NaN);
  try
    yref = mprob ('Solut', n, prob.T(end));
  catch
    yref = [];
  end
  if (~isempty (yref) && sol.x(end) == prob.T(end))
    [stats.mescd, stats.scd] = mprob ('Report', n, yref, sol.y(:,end), prob.PROBLM, numel (atol_all) > 1, atol_all, rtol_all);
  end
  leave_scripts (mprob, prob, solver, sol, extra);
end

% Ours are told the discontinuities; others are started again at each.
function [sol, calls] = over_pieces (solver, ide, f, T, y0, yp0, opt, ours, ndisc)
  S = str2func (solver);
  calls = 1;
  if (ours)
    if (ndisc > 0), opt.Discontinuity = T(2:end-1); end
    if (ide), sol = S (f, T([1 end]), y0, yp0, opt); else, sol = S (f, T([1 end]), y0, opt); end
    return
  end
  calls = numel (T) - 1;
  for k = 1:calls
    if (ide), part = S (f, T(k:k+1), y0, yp0, opt); else, part = S (f, T(k:k+1), y0, opt); end
    part.x = part.x(:).';
    if (size (part.y, 2) ~= numel (part.x)), part.y = part.y.'; end
    if (k == 1)
      sol = part;
    else
      sol.x = [sol.x, part.x(2:end)];
      sol.y = [sol.y, part.y(:,2:end)];
    end
    y0 = part.y(:,end);
    if (part.x(end) ~= T(k+1)), return, end
  end
end

% What cannot be evaluated is not a number: solvers take a smaller step.
function f = checked (mprob, n, t, y, yp)
  [f, ierr] = mprob ('Feval', n, t, y, yp, [], []);
  if (ierr ~= 0), f = NaN (n, 1); end
end

function [J, M] = pair (mprob, prob, t, y, yp)
  n = prob.NEQN;
  J = square (mprob ('Jeval', [], n, t, y, yp, [], []), prob.MLJAC, prob.MUJAC, n);
  M = square (mprob ('Meval', [], n, t, y, yp, [], []), prob.MLMAS, prob.MUMAS, n);
end

% Rows of diagonals as a sparse matrix: row k of A is diagonal mu + 1 - k, entry (i, j) in column j.
function A = square (A, ml, mu, n)
  if (ml >= n), return, end
  A = spdiags (A(1:ml + mu + 1,:).', mu:-1:-ml, n, n);
end

% PRINTSOLOUT: problemSOLVER.txt holds the printed components; problemSOLVER.m and .sci draw them.
function leave_scripts (mprob, prob, solver, sol, extra)
  folder = '';
  for i = 1:2:numel (extra) - 1
    if (strcmpi (extra{i}, 'Scripts')), folder = extra{i+1}; else, error ('daedalus:input', 'odetest: there is no option %s', extra{i}); end
  end
  try
    [~, printed, ~, component] = mprob ('Output', prob.NEQN);
  catch
    printed = false;
    component = [];
  end
  if (printed && isempty (folder)), folder = pwd (); end
  if (isempty (folder)), return, end
  if (isempty (component)), component = 1:min (prob.NEQN, 4); end
  stem = fullfile (folder, [strrep(prob.PROBLM, '-', '_') upper(solver)]);
  write_file ([stem '.txt'], [repmat(' %.16e', 1, numel (component) + 1) '\n'], [sol.x(:).'; sol.y(component,:)]);
  write_script ([stem '.m'], prob, solver, sol, component, '%');
  write_script ([stem '.sci'], prob, solver, sol, component, '//');
end

function write_script (name, prob, solver, sol, component, mark)
  text = sprintf ('%s %s by %s: the printed components. A row: time, components.\nsolution = [\n', mark, prob.PROBLM, solver);
  text = [text, sprintf([repmat(' %.16e', 1, numel (component) + 1) ';\n'], [sol.x(:).'; sol.y(component,:)]), sprintf('];\n')];
  line = 'figure (%d); plot (solution(:,1), solution(:,%d)); title (''%s, component %d'');\n';
  if (strcmp (mark, '//')), line = 'scf (%d); plot2d (solution(:,1), solution(:,%d)); xtitle (''%s, component %d'');\n'; end
  for k = 1:numel (component)
    text = [text, sprintf(line, k, k + 1, prob.PROBLM, component(k))];
  end
  write_file (name, '%s', text);
end

% Aside, and renamed when it is complete.
function write_file (name, varargin)
  draft = [name '.new'];
  file = fopen (draft, 'w');
  if (file < 0), error ('daedalus:file', 'odetest: %s cannot be written', name); end
  fprintf (file, varargin{:});
  fclose (file);
  [good, text] = movefile (draft, name, 'f');
  if (~good), error ('daedalus:file', 'odetest: %s', text); end
end
