% ODEXTEND  go on with a solution.
%
%   SOL = odextend (SOL, F, TEND)
%   SOL = odextend (SOL, F, TEND, Y0)            from other values at the end of SOL
%   SOL = odextend (SOL, F, TEND, Y0, OPTIONS)   with other options
%
% F: [] for the function of SOL. The new solution holds both parts: deval works on the whole of it.
%
% See also: daedalus_ode, deval
function out = odextend (sol, f, tend, y0, opt)
  if (nargin < 3), error ('daedalus:input', 'Invalid call to odextend.  Correct usage is: SOL = odextend (SOL, F, TEND)'); end
  args = sol.extdata.arguments;
  if (~isempty (f)), args{1} = f; end
  args{2} = [sol.x(end), tend];
  args{3} = sol.y(:,end);
  if (nargin > 3 && ~isempty (y0)), args{3} = y0; end
  form = 'ode';
  if (numel (args) > 3 && isnumeric (args{4}) && ~isempty (args{4}) && nargin (args{1}) == 3)
    form = 'ide';
    [~, args{4}] = deval (sol, sol.x(end));
  end
  place = 4 + strcmp (form, 'ide');
  if (nargin > 4), args{place} = opt; end
  results = daedalus_solve ('odextend', sol.solver, form, 1, args);
  new = results{1};
  out = sol;
  out.x = [sol.x, new.x(2:end)];
  out.y = [sol.y, new.y(:,2:end)];
  out.idata.pieces = [sol.idata.pieces, new.idata.pieces];
  out.idata.values = [sol.idata.values, new.idata.values];
  out.extdata = new.extdata;
  names = fieldnames (sol.stats);
  for i = 1:6, out.stats.(names{i}) = sol.stats.(names{i}) + new.stats.(names{i}); end
  if (isfield (sol, 'xe') && isfield (new, 'xe'))
    out.xe = [sol.xe, new.xe];
    out.ye = [sol.ye, new.ye];
    out.ie = [sol.ie, new.ie];
  end
end

%!test
%! sol = dop853 (@(t, y) -y, [0 1], 1, odeset ('RelTol', 1e-10, 'AbsTol', 1e-12));
%! sol = odextend (sol, [], 2);
%! assert (sol.x(end), 2);
%! assert (deval (sol, [0.5 1 1.5 2]), exp (-[0.5 1 1.5 2]), 1e-9);
%!test
%! sol = mebdfi (@(t, y, yp) yp + y, [0 1], 1, -1, odeset ('RelTol', 1e-8, 'AbsTol', 1e-10));
%! sol = odextend (sol, [], 2);
%! assert (deval (sol, 2), exp (-2), 1e-6);
