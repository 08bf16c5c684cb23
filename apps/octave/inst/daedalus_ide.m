% DAEDALUS_IDE  solve F(t,y,y') = 0 with a method for implicit systems: mebdfi, dassl, pside, ida.
%
%   [T, Y] = daedalus_ide (METHOD, F, TSPAN, Y0, YP0)
%   [T, Y, TE, YE, IE] = daedalus_ide (METHOD, F, TSPAN, Y0, YP0, OPTIONS)
%   SOL = daedalus_ide (METHOD, ...)
%
% F: a function F(t, y, yp) that returns a column. Y0 and YP0 should satisfy F = 0: decic finds such values.
% The option Jacobian is a function [DFDY, DFDYP] = J(t, y, yp) or a cell {DFDY, DFDYP}; events get (t, y, yp).
% All else is as with daedalus_ode.
%
% See also: daedalus_ode, decic, odeset
function varargout = daedalus_ide (method, varargin)
  if (nargin < 1 || ~ischar (method))
    error ('daedalus:input', 'Invalid call to daedalus_ide.  Correct usage is: [T, Y] = daedalus_ide (METHOD, F, TSPAN, Y0, YP0, OPTIONS)');
  end
  results = daedalus_solve ('daedalus_ide', method, 'ide', nargout, varargin);
  [varargout{1:nargout}] = results{:};
end

%!test # decay in implicit form, with an algebraic variable
%! F = @(t, y, yp) [yp(1) + y(2); y(2) - 2 * y(1)];
%! [y0, yp0] = decic (F, 0, [1; 0], [1; 0], [0; 0], [0; 1]);
%! assert (y0, [1; 2], 1e-6);
%! for method = {'mebdfi', 'dassl', 'pside', 'ida'}
%!   [t, y] = daedalus_ide (method{1}, F, [0 1], [1; 2], [-2; -4], odeset ('RelTol', 1e-8, 'AbsTol', 1e-10));
%!   assert (y(end,:), exp (-2) * [1 2], 1e-6);
%! end
%!error <Invalid call> daedalus_ide ('mebdfi', @(t, y, yp) y, [0 1], 1)
