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
% solution is wanted; Points: so many equidistant points, or Refine: so many per step (1); Sensitivity: a cell of names of parameters
% ('k1') and initial values ('x(0)') by which the solution is differentiated; Integral: a cell of expressions that are integrated along
% the run (R.integral).
%
% R has the fields t (row), y (a column per time), t_last, y_last, at_t, at_y, names, units, te, ie, event, scd, mescd, stats,
% solver, formulation, reason, status, message; with Sensitivity also sensitivity (components x names x times) and sensitivity_last, at fixed times; derived_sensitivity (derived_names x names x times), those of sensors and reactions; event_sensitivity (names x events) are the derivatives of the times of events, and where one ended the run sensitivity_total those of the state at it, which moves with it. A run that ends early gives a warning and what was computed until then.
%
% See also: daedalus_ode, daedalus_fit, daedalus_optimize, daedalus_gradient, minterface, odetest
function r = daedalus_run (what, varargin)
  if (nargin < 1 || ~ischar (what))
    error ('daedalus:input', 'Invalid call to daedalus_run.  Correct usage is: R = daedalus_run (PROBLEM, NAME, VALUE, ...)');
  end
  [parameters, options, o] = daedalus_read ('daedalus_run', varargin, {'at', 'points', 'refine', 'sensitivity', 'integral'});
  if (~isfield (o, 'refine')), o.refine = 1; end
  if (isfield (o, 'integral')), o.integral = cellstr (o.integral); end
  if (isfield (o, 'sensitivity')), o.sensitivity = cellstr (o.sensitivity); end
  r = daedalus_mex ('run', what, parameters, options, o);
  if (r.status >= 0), return, end
  id = ['daedalus:' lower(strrep (r.status_name, 'DAE_ERR_', ''))];
  if (isempty (r.y_last) || any (r.status == [-1 -2 -10 -14])), error (id, 'daedalus_run: %s', r.message); end
  warning (id, 'daedalus_run: the run of %s ended at t = %.10g: %s', what, r.t_last, r.message);
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
%!test # derivatives by a parameter and an initial value
%! r = daedalus_run (sprintf ("model decay\nparam k = 2\nvar x = 1\nx' = -k*x\nsolve t = 0 .. 1, rtol = 1e-9\n"), ...
%!                   'Sensitivity', {'k', 'x(0)'}, 'Integral', 'x');
%! assert (size (r.sensitivity), [1, 2, numel(r.t)]);
%! assert (squeeze (r.sensitivity(1,1,:)).', -r.t .* exp (-2 * r.t), 1e-7);
%! assert (r.sensitivity_last, [-exp(-2), exp(-2)], 1e-7);
%! assert (r.integral, (1 - exp (-2)) / 2, 1e-8);
%! assert (r.integral_sensitivity, [exp(-2) / 2 - (1 - exp (-2)) / 4, (1 - exp (-2)) / 2], 1e-6);
%!test # and of what is derived of the solution: e = k exp (-2 k t)
%! r = daedalus_run (sprintf ("model decay\nparam k = 2\nvar x = 1\nlet e = k*x^2\nx' = -k*x\noutput x, e\nsolve t = 0 .. 1, rtol = 1e-9\n"), ...
%!                   'Sensitivity', {'k'});
%! assert (r.derived_names, {'e'});
%! assert (squeeze (r.derived_sensitivity(1,1,:)).', (1 - 4 * r.t) .* exp (-4 * r.t), 1e-7);
%!test # a fall that ends on the ground: at a fixed time, of the time, and at the event
%! r = daedalus_run (sprintf ("model fall\nparam g = 9.81, H = 2\nvar y = H, v = 0\ny' = v\nv' = -g\nwhen y < 0: stop\nsolve t = 0 .. 5, rtol = 1e-9\n"), ...
%!                   'Sensitivity', {'H', 'g'});
%! t = sqrt (4 / 9.81);
%! assert (r.sensitivity_last, [1, -t^2/2; 0, -t], 1e-8);
%! assert (r.event_sensitivity, [t/4; -t/2/9.81], 1e-8);
%! assert (r.sensitivity_total, [0, 0; -9.81*t/4, -t/2], 1e-8);
%!error <there is no option> daedalus_run ('hires', 'Colour', 3)
%!error daedalus_run ('no-such-problem')
