% IDETEST_70  the name that the report of the test set gives to idetest.
%
%   [SOL, STATS] = idetest_70 (PROBLEM, SOLVER, ATOL, RTOL, COMPONENT)
%
% See also: idetest, minterface
function [sol, stats] = idetest_70 (varargin)
  [sol, stats] = idetest (varargin{:});
end

%!test
%! [sol, stats] = idetest_70 ('nand', 'mebdfi', 1e-5, 1e-5);
%! [sol2, stats2] = idetest ('nand', 'mebdfi', 1e-5, 1e-5);
%! assert (sol.y, sol2.y);
%! assert (stats.scd, stats2.scd);
