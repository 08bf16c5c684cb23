% IDETEST  solve an implicit problem F(t,y,y') = 0 of the test set, or an own one, with ode15i or a solver of this library.
%
%   [SOL, STATS] = idetest (PROBLEM, SOLVER, ATOL, RTOL, COMPONENT)
%
% All is as with odetest, for problems of type IDE: nand, wheel, equation files in implicit form.
% SOLVER: 'ode15i', 'mebdfi', 'pside', 'ida', 'daedalus_dassl'.
%
% See also: minterface, odetest
function [sol, stats] = idetest (problem, solver, atol, rtol, component, varargin)
  if (nargin < 4)
    error ('daedalus:input', 'Invalid call to idetest.  Correct usage is: [SOL, STATS] = idetest (PROBLEM, SOLVER, ATOL, RTOL, COMPONENT)');
  end
  if (nargin < 5), component = []; end
  [sol, stats] = daedalus_testset ('idetest', true, problem, solver, atol, rtol, component, varargin);
end

%!test
%! [sol, stats] = idetest ('nand', 'mebdfi', 1e-6, 1e-6);
%! assert (sol.x(end), 80);
%! assert (stats.mescd > 3);
%!test
%! [sol, stats] = idetest ('nand', 'daedalus_dassl', 1e-6, 1e-6);
%! assert (stats.mescd > 2);
%!error <use odetest> idetest ('hires', 'mebdfi', 1e-5, 1e-5)
%!error <Invalid call> idetest ('nand')
