% DAEDALUS_GRADIENT  a loss of the solution, and its derivatives by parameters and initial values.
%
%   [VALUE, GRADIENT] = daedalus_gradient (WHAT, LOSS, NAMES, TIMES, NAME, VALUE, ...)
%
% LOSS (Y) gets the solution at TIMES, a column per time, and gives a number and, as a second result, its derivatives by Y, a matrix of
% the same size. NAMES: a cell of parameters ('k1') and initial values ('x(0)'). Options: Mode ('auto', 'forward', 'adjoint': one run
% backwards, whatever the number of names), and those of daedalus_run.
%
% See also: daedalus_run, daedalus_fit, fminunc
function [value, gradient] = daedalus_gradient (what, loss, names, times, varargin)
  if (nargin < 4 || ~ischar (what) || ~isa (loss, 'function_handle'))
    error ('daedalus:input', ...
           'Invalid call to daedalus_gradient.  Correct usage is: [V, G] = daedalus_gradient (PROBLEM, LOSS, NAMES, TIMES, ...)');
  end
  [parameters, options, o] = daedalus_read ('daedalus_gradient', varargin, {'mode'});
  o.names = cellstr (names);
  o.times = double (times(:));
  run = rmfield (o, {'names', 'times'});
  run.at = o.times;
  run.t_end = o.times(end);
  r = daedalus_mex ('run', what, parameters, options, run);
  if (r.status < 0), error (['daedalus:' lower(strrep (r.status_name, 'DAE_ERR_', ''))], 'daedalus_gradient: %s', r.message); end
  [value, w] = loss (r.at_y);
  if (~isequal (size (w), size (r.at_y)))
    error ('daedalus:input', 'daedalus_gradient: the derivatives of the loss must have the size of Y, %d x %d', size (r.at_y));
  end
  o.weights = double (w);
  gradient = daedalus_mex ('gradient', what, parameters, options, o);
end

%!function [v, d] = squares (y)
%!  v = sum (y(:).^2);
%!  d = 2 * y;
%!endfunction
%!test # sum of x(t)^2 with x = a exp (-k t)
%! decay = sprintf ("model decay\nparam k = 2\nvar x = 3\nx' = -k*x\nsolve t = 0 .. 1, rtol = 1e-10, atol = 1e-13\n");
%! t = [0.5 1];
%! for mode = {'forward', 'adjoint'}
%!   [v, g] = daedalus_gradient (decay, @squares, {'k', 'x(0)'}, t, 'Mode', mode{1}, 'Method', 'radau5');
%!   x = 3 * exp (-2 * t);
%!   assert (v, sum (x.^2), 1e-7);
%!   assert (g, [sum(-2 * t .* x.^2), sum(2 * x.^2 / 3)], 1e-6);
%! end
%!error <derivatives of the loss> daedalus_gradient ('hires', @(y) deal (1, 2), {'k1'}, 1)
