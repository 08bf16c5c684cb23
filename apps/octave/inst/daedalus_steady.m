% DAEDALUS_STEADY  a steady state of a problem, steady states along a parameter, or a cycle.
%
%   R = daedalus_steady (WHAT, NAME, VALUE, ...)                  a steady state: R.y, R.eigenvalues, R.unstable
%   R = daedalus_steady (WHAT, 'Along', 'B', 'Range', [0 5], ...) all of them along a parameter, through folds
%   R = daedalus_steady (WHAT, 'Cycle', PERIOD, ...)              a periodic solution; PERIOD a guess, 0: found on a run
%
% WHAT: a problem, model or equation file, or its text. Options: Guess (a state to begin with), Settle (integrate so long first; negative:
% never), Time; along a parameter also Step and Points; for cycles Forced (true: PERIOD is that of the forcing); and those of
% daedalus_run.
%
% Along a parameter R has the fields value, y (a column per point), leading (the eigenvalue with the largest real part), unstable, kind (a
% cell: 'fold', 'hopf', 'cross', 'end' or ''), frequency. A cycle has y, period, multipliers (of Floquet), unstable.
%
% See also: daedalus_run, daedalus_fit
function r = daedalus_steady (what, varargin)
  if (nargin < 1 || ~ischar (what))
    error ('daedalus:input', 'Invalid call to daedalus_steady.  Correct usage is: R = daedalus_steady (PROBLEM, NAME, VALUE, ...)');
  end
  [parameters, options, o] = daedalus_read ('daedalus_steady', varargin, {'along', 'range', 'cycle', 'guess', 'settle', 'time', ...
                                                                          'step', 'points', 'forced'});
  if (isfield (o, 'along'))
    o.parameter = o.along;
    if (isfield (o, 'range')), o.min = o.range(1); o.max = o.range(2); end
    r = daedalus_mex ('branch', what, parameters, options, o);
    r.parameter = o.along;
  elseif (isfield (o, 'cycle'))
    o.period = o.cycle;
    r = daedalus_mex ('periodic', what, parameters, options, o);
  else
    r = daedalus_mex ('steady', what, parameters, options, o);
  end
end

%!shared b
%! b = sprintf ("model b\nparam A = 1, B = 2.5\nvar x = 1.2, y = 2\nx' = A - (B + 1)*x + x^2*y\ny' = B*x - x^2*y\nsolve t = 0 .. 40\n");
%!test # lambda^2 - (B - 2) lambda + 1 = 0
%! r = daedalus_steady (b);
%! assert (r.y, [1; 2.5], 1e-8);
%! assert (sort (imag (r.eigenvalues)), sqrt (1 - 0.25^2) * [-1 1], 1e-6);
%! assert (r.unstable, 2);
%!test # a Hopf point at B = 1 + A^2
%! r = daedalus_steady (b, 'Along', 'B', 'Range', [1 3]);
%! k = find (strcmp (r.kind, 'hopf'));
%! assert (r.value(k), 2, 1e-5);
%! assert (r.frequency(k), 1, 1e-4);
%!test # van der Pol's cycle
%! v = sprintf ("model v\nvar x = 2, v = 0\nx' = v\nv' = (1 - x^2)*v - x\nsolve t = 0 .. 40\n");
%! r = daedalus_steady (v, 'Cycle', 0);
%! assert (r.period, 6.6632868593, 1e-6);
%!error <nobody> daedalus_steady (b, 'Along', 'nobody')
