% DAEDALUS_ODE  solve y' = f(t,y), M y' = f(t,y) with a method of the library.
%
%   [T, Y] = daedalus_ode (METHOD, F, TSPAN, Y0)
%   [T, Y] = daedalus_ode (METHOD, F, TSPAN, Y0, OPTIONS)
%   [T, Y, TE, YE, IE] = daedalus_ode (METHOD, ...)     with the option Events
%   SOL = daedalus_ode (METHOD, ...)                    for deval (SOL, T), odextend (SOL, [], TEND)
%   daedalus_ode (METHOD, ...)                          draws the solution as it comes
%
% METHOD: 'auto' or a name of daedalus_methods, such as 'radau5', 'dop853', 'mebdfi'. Each has a function of its name, too:
% [T, Y] = radau5 (F, TSPAN, Y0, OPTIONS).
% F: a function F(t, y) that returns a column. TSPAN = [t0 tend]: every step is returned; with more times, these.
% Rows of Y belong to the times T.
%
% OPTIONS come from odeset: RelTol (1e-3), AbsTol (1e-6), InitialStep, MaxStep, Events, Mass, Jacobian, JPattern, OutputFcn,
% OutputSel, Refine, Stats, NonNegative, InitialSlope, MStateDependence; and can be set by hand for what only this library
% has: OPTIONS.Index (index of each variable, 1 to 3), OPTIONS.Discontinuity (times), OPTIONS.MaxSteps, OPTIONS.MaxSeconds,
% OPTIONS.LinearAlgebra ('dense', 'banded', 'sparse'), OPTIONS.Settings (a struct of options of the method).
%
% A run that ends early gives a warning, such as daedalus:step_too_small, and what was computed until then.
%
% See also: daedalus_ide, daedalus_run, daedalus_methods, deval, odextend, odeset
function varargout = daedalus_ode (method, varargin)
  if (nargin < 1 || ~ischar (method))
    error ('daedalus:input', 'Invalid call to daedalus_ode.  Correct usage is: [T, Y] = daedalus_ode (METHOD, F, TSPAN, Y0, OPTIONS)');
  end
  results = daedalus_solve ('daedalus_ode', method, 'ode', nargout, varargin);
  [varargout{1:nargout}] = results{:};
end

%!test # decay, all digits that were asked for
%! opt = odeset ('RelTol', 1e-10, 'AbsTol', 1e-12);
%! for method = {'radau5', 'dop853', 'mebdfi', 'auto'}
%!   [t, y] = daedalus_ode (method{1}, @(t, y) -y, [0 2], 1, opt);
%!   assert (t(end), 2);
%!   assert (y(end), exp (-2), 1e-8);
%!   assert (y, exp (-t), 1e-8);
%! end
%!test # times that are asked for
%! [t, y] = daedalus_ode ('dopri5', @(t, y) [y(2); -y(1)], 0:0.5:3, [0 1], odeset ('RelTol', 1e-9, 'AbsTol', 1e-9));
%! assert (t, (0:0.5:3).');
%! assert (y, [sin(t), cos(t)], 1e-7);
%!test # an index 2 system: x' = y, 0 = x - sin t
%! opt = odeset ('Mass', [1 0; 0 0], 'RelTol', 1e-8, 'AbsTol', 1e-8);
%! opt.Index = [1 2];
%! [t, y] = daedalus_ode ('radau5', @(t, y) [y(2); y(1) - sin(t)], [0 1], [0 1], opt);
%! assert (y(end,:), [sin(1), cos(1)], 1e-6);
%!test # a bouncing ball hits the ground at sqrt (2/9.81), and the run ends there
%! ground = @(t, y) deal (y(1), 1, -1);
%! [t, y, te, ye, ie] = daedalus_ode ('dop853', @(t, y) [y(2); -9.81], [0 3], [1 0], odeset ('Events', ground));
%! assert (te, sqrt (2 / 9.81), 1e-12);
%! assert (t(end), te);
%! assert (y(end,:), ye);
%! assert (ie, 1);
%!test # y' = y^2 has a pole at 1: a warning, and the solution up to there
%! lastwarn ('', '');
%! evalc ("[t, y] = daedalus_ode ('dop853', @(t, y) y^2, [0 2], 1, odeset ('RelTol', 1e-8));");
%! [msg, id] = lastwarn ();
%! assert (strncmp (id, 'daedalus:', 9));
%! assert (t(end), 1, 1e-3);
%!test # the pendulum of docs/octave.md, index 3: the energy and the length stay
%! f = @(t, y) [y(3); y(4); -y(1)*y(5); -y(2)*y(5) - 9.81; y(1)^2 + y(2)^2 - 1];
%! opt = odeset ('Mass', diag ([1 1 1 1 0]), 'RelTol', 1e-6, 'AbsTol', 1e-6);
%! opt.Index = [1 1 2 2 3];
%! [t, y] = radau5 (f, [0 10], [1 0 0 0 0], opt);
%! assert (sum (y(:,1:2) .^ 2, 2), ones (size (t)), 1e-5);
%! assert (sum (y(:,3:4) .^ 2, 2) / 2 + 9.81 * y(:,2), zeros (size (t)), 1e-2);
%!error <only wrong here> s = daedalus_ode ('radau5', @(t, y) error ('my:id', 'only wrong here'), [0 1], 1)
%!error <expected 2 real numbers> s = daedalus_ode ('radau5', @(t, y) 1, [0 1], [1 2])
%!error <Invalid call> daedalus_ode ()
%!error <Invalid call> daedalus_ode ('radau5')
%!error id=daedalus:input s = daedalus_ode ('radau55', @(t, y) -y, [0 1], 1)
%!test # the identifier of an error in f arrives
%! try
%!   s = daedalus_ode ('mebdfi', @(t, y) error ('my:id', 'at %g', t), [0 1], 1);
%!   id = '';
%! catch e
%!   id = e.identifier;
%! end
%! assert (id, 'my:id');
%!test # an output function that stops
%! [t, y] = daedalus_ode ('dopri5', @(t, y) -y, [0 100], 1, odeset ('OutputFcn', @(t, y, flag) isempty (flag) && t > 5));
%! assert (t(end) > 5 && t(end) < 100);
%!test # a component that must not be negative: y' = -1 stays at zero
%! [t, y] = daedalus_ode ('dopri5', @(t, y) -1, [0 2], 1, odeset ('NonNegative', 1));
%! assert (all (y >= 0));
%! assert (y(end), 0);
%!test # and so by every kind of method
%! for m = {'radau5', 'vode', 'dassl', 'lsoda', 'mebdfi', 'gamd'}
%!   [t, y] = daedalus_ode (m{1}, @(t, y) -abs (y), [0 60], 1, odeset ('NonNegative', 1));
%!   assert (all (y >= 0) && y(end) < 0.05);
%! end
%!test # a solver inside of a solver
%! inner = @(t) deval (daedalus_ode ('dopri5', @(s, z) z, [0 1], 1, odeset ('RelTol', 1e-8)), 1);
%! [t, y] = daedalus_ode ('radau5', @(t, y) -y * inner (t) / exp (1), [0 1], 1);
%! assert (y(end), exp (-1), 1e-3);
