% ODETEST_70  the name that the report of the test set gives to odetest.
%
%   [SOL, STATS] = odetest_70 (PROBLEM, SOLVER, ATOL, RTOL, COMPONENT)
%
% See also: odetest, minterface
function [sol, stats] = odetest_70 (varargin)
  [sol, stats] = odetest (varargin{:});
end

%!test
%! [sol, stats] = odetest_70 ('hires', 'radau5', 1e-5, 1e-5);
%! [sol2, stats2] = odetest ('hires', 'radau5', 1e-5, 1e-5);
%! assert (sol.y, sol2.y);
%! assert (stats.scd, stats2.scd);
