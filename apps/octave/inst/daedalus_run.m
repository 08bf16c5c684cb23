% DAEDALUS_RUN  integrate a problem of the test set, a model or an equation file, at the full speed of the library.
%
%   R = daedalus_run ('hires')                         a problem by its name
%   R = daedalus_run ('model.json')                    a mechanism
%   R = daedalus_run ('oven.deq', 'RelTol', 1e-6)      equations
%   R = daedalus_run (WHAT, OPTIONS)                   options in a struct, also of odeset
%
% Options: Method ('auto'), Formulation, RelTol, AbsTol (given RelTol alone it keeps its ratio to it), InitialStep, MaxStep,
% MaxSteps, MaxSeconds, LinearAlgebra, Jacobian ('auto', 'difference'), Threads; Parameters: a struct or a cell {name, value}
% of parameters of the problem; Settings: the same for options of the method; TEnd: another end; At: times at which the
% solution is wanted; Points: so many equidistant points, or Refine: so many per step (1).
%
% R has the fields t (row), y (a column per time), t_last, y_last, at_t, at_y, names, units, te, ie, event, scd, mescd, stats,
% solver, formulation, reason, status, message. A run that ends early gives a warning and what was computed until then.
%
% See also: daedalus_ode, minterface, odetest
function r = daedalus_run (what, varargin)
  if (nargin < 1 || ~ischar (what))
    error ('daedalus:input', 'Invalid call to daedalus_run.  Correct usage is: R = daedalus_run (PROBLEM, NAME, VALUE, ...)');
  end
  opt = read (varargin);
  words = {'method', 'formulation', 'reltol', 'abstol', 'initialstep', 'maxstep', 'maxsteps', 'maxseconds', ...
           'linearalgebra', 'jacobian', 'threads'};
  names = {'method', 'formulation', 'rtol', 'atol', 'h0', 'h_max', 'max_steps', 'max_seconds', 'linear_algebra', ...
           'jacobian', 'threads'};
  others = {'parameters', 'settings', 'tend', 'at', 'points', 'refine'};
  o = struct ('refine', 1);
  parameters = {};
  options = {};
  given = fieldnames (opt);
  for i = 1:numel (given)
    x = opt.(given{i});
    k = find (strcmp (given{i}, words));
    if (isempty (x)), continue, end
    if (~isempty (k))
      options = [options, daedalus_pairs({names{k}, x})];
    elseif (strcmp (given{i}, 'parameters'))
      parameters = daedalus_pairs (x);
    elseif (strcmp (given{i}, 'settings'))
      o.settings = daedalus_pairs (x);
    elseif (strcmp (given{i}, 'tend'))
      o.t_end = double (x);
    elseif (any (strcmp (given{i}, others)))
      o.(given{i}) = double (x);
    else
      error ('daedalus:input', 'daedalus_run: there is no option %s; help daedalus_run lists them', given{i});
    end
  end
  o.keep_ratio = isfield (opt, 'reltol') && ~isempty (opt.reltol) && ~(isfield (opt, 'abstol') && ~isempty (opt.abstol));
  r = daedalus_mex ('run', what, parameters, options, o);
  if (r.status >= 0), return, end
  id = ['daedalus:' lower(strrep (r.status_name, 'DAE_ERR_', ''))];
  if (isempty (r.y_last) || any (r.status == [-1 -2 -10 -14])), error (id, 'daedalus_run: %s', r.message); end
  warning (id, 'daedalus_run: the run of %s ended at t = %.10g: %s', what, r.t_last, r.message);
end

function opt = read (args)
  opt = struct ();
  if (~isempty (args) && (isstruct (args{1}) || isempty (args{1})))
    given = args{1};
    if (isstruct (given))
      names = fieldnames (given);
      for i = 1:numel (names), opt.(lower (names{i})) = given.(names{i}); end
    end
    args = args(2:end);
  end
  if (mod (numel (args), 2)), error ('daedalus:input', 'daedalus_run: options come as NAME, VALUE'); end
  for i = 1:2:numel (args), opt.(lower (args{i})) = args{i+1}; end
end

%!test
%! r = daedalus_run ('hires', 'Method', 'radau5', 'RelTol', 1e-6);
%! assert (r.solver, 'radau5');
%! assert (r.t_last, 321.8122);
%! assert (r.mescd > 6);
%! assert (r.y(:,end), r.y_last);
%! assert (r.atol / r.rtol, daedalus_run ('hires').atol / daedalus_run ('hires').rtol, 1e-12);
%!test # an equation file as text
%! r = daedalus_run (sprintf ("model decay\nparam k = 2\nvar x = 1\nx' = -k*x\nsolve t = 0 .. 1, rtol = 1e-9\n"), ...
%!                   'Parameters', {'k', 3}, 'At', [0.5 1]);
%! assert (r.at_y, exp (-3 * [0.5 1]), 1e-7);
%! assert (r.names, {'x'});
%!error <there is no option> daedalus_run ('hires', 'Colour', 3)
%!error daedalus_run ('no-such-problem')
