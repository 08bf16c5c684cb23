% ODETEST  solve a problem of the test set, or an own one, with any solver of Octave, MATLAB or this library.
%
%   [SOL, STATS] = odetest (PROBLEM, SOLVER, ATOL, RTOL)
%   [SOL, STATS] = odetest (PROBLEM, SOLVER, ATOL, RTOL, COMPONENT)              draws a component with odeplot
%   [SOL, STATS] = odetest (PROBLEM, SOLVER, ATOL, RTOL, COMPONENT, 'Scripts', FOLDER)
%
% PROBLEM: as minterface takes it, of type ODE or DAE. SOLVER: a name such as 'ode15s', 'radau5', 'mebdfi'. The solver gets
% Jacobian, mass matrix and tolerances as the problem has them, and is started again at discontinuities.
% STATS: mescd and scd, the digits against the reference solution where there is one; steps, restarts, cpu_seconds.
% With Scripts, or where the problem's 'Output' says PRINTSOLOUT, problemSOLVER.txt, problemSOLVER.m and
% problemSOLVER.sci are written: the printed components, and scripts for Octave (MATLAB) and Scilab that draw them.
%
% See also: minterface, idetest, daedalus_run
function [sol, stats] = odetest (problem, solver, atol, rtol, component, varargin)
  if (nargin < 4)
    error ('daedalus:input', 'Invalid call to odetest.  Correct usage is: [SOL, STATS] = odetest (PROBLEM, SOLVER, ATOL, RTOL, COMPONENT)');
  end
  if (nargin < 5), component = []; end
  [sol, stats] = daedalus_testset ('odetest', false, problem, solver, atol, rtol, component, varargin);
end

%!test # ours
%! [sol, stats] = odetest ('hires', 'radau5', 1e-8, 1e-8);
%! assert (sol.x(end), 321.8122);
%! assert (stats.mescd > 7);
%!test # a DAE, and Octave's own
%! [sol, stats] = odetest ('chemakzo', 'mebdfdae', 1e-8, 1e-8);
%! assert (stats.scd > 6);
%!testif HAVE_SUNDIALS
%! [sol, stats] = odetest ('hires', 'ode15s', 1e-7, 1e-6);
%! assert (stats.mescd > 3);
%! [sol, stats] = odetest ('chemakzo', 'ode15s', 1e-7, 1e-6);
%! assert (stats.mescd > 3);
%!test # index 3, and bands
%! [sol, stats] = odetest ('caraxis', 'radau5', 1e-7, 1e-7);
%! assert (stats.mescd > 3);
%! [sol, stats] = odetest ('medakzo', 'radau5', 1e-4, 1e-4);
%! assert (stats.mescd > 2.5);
%!test # the scripts that a run leaves
%! folder = tempname ();
%! mkdir (folder);
%! odetest ('hires', 'radau5', 1e-4, 1e-4, [], 'Scripts', folder);
%! text = fileread (fullfile (folder, 'hiresRADAU5.m'));
%! eval (text(1:strfind (text, '];') + 1));
%! assert (solution(end,1), 321.8122);
%! assert (exist (fullfile (folder, 'hiresRADAU5.sci'), 'file'), 2);
%! assert (load (fullfile (folder, 'hiresRADAU5.txt')), solution);
%! confirm_recursive_rmdir (false, 'local');
%! rmdir (folder, 's');
%!function varargout = own (what, varargin) # y' = -y in the format of IV.3
%!  switch (what)
%!    case 'Prob'
%!      varargout = {struct('FULLNM', 'Decay', 'PROBLM', 'decay', 'TYPE', 'ODE', 'NEQN', 1, 'NDISC', 1, 'T', [0; 0.5; 1], ...
%!                          'NUMJAC', true, 'MLJAC', 1, 'MUJAC', 1, 'NUMMAS', true, 'MLMAS', 1, 'MUMAS', 1, 'IND', 0)};
%!    case 'Init'
%!      varargout = {1, -1, true};
%!    case 'Tolerances'
%!      varargout = varargin(2:3);
%!    case 'Feval'
%!      varargout = {-varargin{3}, 0, [], []};
%!    case 'Solut'
%!      varargout = {exp(-1)};
%!    case 'Report'
%!      scd = -log10 (abs (varargin{3} / varargin{2} - 1));
%!      varargout = {scd, scd};
%!    otherwise
%!      error ('own: no %s', what);
%!  end
%!endfunction
%!test # an own problem, by ours and by Octave's own, which is started again at the discontinuity
%! [sol, stats] = odetest (@own, 'dop853', 1e-9, 1e-9);
%! assert (stats.scd > 8);
%! [sol, stats] = odetest (@own, 'ode45', 1e-8, 1e-8);
%! assert (stats.restarts, 1);
%! assert (stats.scd > 6);
%! assert (any (sol.x == 0.5));
%!error <use idetest> odetest ('nand', 'mebdfi', 1e-5, 1e-5)
%!error <Invalid call> odetest ('hires', 'radau5')
