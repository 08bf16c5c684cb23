% DEVAL  the solution of a run at any time: the dense output of the method.
%
%   Y = deval (SOL, T)             a column per time
%   [Y, YP] = deval (SOL, T)       and its derivative
%   ... = deval (SOL, T, K)        of the components K only
%
% SOL: what daedalus_ode, daedalus_ide or a function of a method returned as its only result.
%
% See also: daedalus_ode, odextend
function [y, yp] = deval (sol, t, k)
  if (nargin < 2), error ('daedalus:input', 'Invalid call to deval.  Correct usage is: Y = deval (SOL, T, K)'); end
  if (isstruct (t)), [sol, t] = deal (t, sol); end
  if (~isfield (sol, 'idata') || ~isfield (sol.idata, 'pieces'))
    error ('daedalus:input', 'deval: SOL must be a solution of a solver of daedalus');
  end
  if (nargin < 3), k = 1:size (sol.y, 1); end
  p = sol.idata.pieces;
  s = sign (sol.x(end) - sol.x(1));
  first = cumsum ([1, p(3,:) + 1]);
  y = zeros (numel (k), numel (t));
  yp = y;
  for i = 1:numel (t)
    if (s * t(i) < s * p(1,1) || s * t(i) > s * p(2,end))
      error ('daedalus:input', 'deval: t = %g is not in the interval [%g, %g]', t(i), p(1,1), p(2,end));
    end
    j = min ([find(s * p(2,:) >= s * t(i), 1), size(p, 2)]);
    d = p(3,j);
    v = sol.idata.values(k, first(j):first(j) + d);
    x = 2 * (t(i) - p(1,j)) / (p(2,j) - p(1,j)) - 1;
    [y(:,i), slope] = polynomial (v, d, x, nargout > 1);
    yp(:,i) = 2 * slope / (p(2,j) - p(1,j));
  end
end

% The polynomial through v at the points -cos (j pi/d), at x in [-1, 1]: barycentric formula; its derivative from that of the
% values at the points.
function [y, slope] = polynomial (v, d, x, derivative)
  slope = zeros (size (v, 1), 1);
  if (d == 0), y = v; return, end
  node = -cos ((0:d) * pi / d);
  w = (-1) .^ (0:d);
  w([1 end]) = w([1 end]) / 2;
  y = barycentric (v, node, w, x);
  if (~derivative), return, end
  D = zeros (d + 1);
  for i = 1:d + 1
    for j = [1:i-1, i+1:d+1], D(i,j) = w(j) / w(i) / (node(i) - node(j)); end
    D(i,i) = -sum (D(i,:));
  end
  slope = barycentric (v * D.', node, w, x);
end

function y = barycentric (v, node, w, x)
  at = find (node == x, 1);
  if (~isempty (at)), y = v(:,at); return, end
  q = w ./ (x - node);
  y = (v * q.') / sum (q);
end

%!test
%! sol = dop853 (@(t, y) [y(2); -y(1)], [0 6], [0 1], odeset ('RelTol', 1e-10, 'AbsTol', 1e-10));
%! t = linspace (0, 6, 101);
%! [y, yp] = deval (sol, t);
%! assert (y, [sin(t); cos(t)], 1e-7);
%! assert (yp, [cos(t); -sin(t)], 1e-5);
%! assert (deval (sol, t, 2), y(2,:), 4 * eps);
%! assert (deval (sol, sol.x), sol.y, 1e-14);
%!test # backwards
%! sol = radau5 (@(t, y) y, [1 -1], 1, odeset ('RelTol', 1e-9, 'AbsTol', 1e-9));
%! assert (deval (sol, [0.5 -0.5]), exp ([0.5 -0.5] - 1), 1e-7);
%!error <not in the interval> deval (dopri5 (@(t, y) y, [0 1], 1), 2)
