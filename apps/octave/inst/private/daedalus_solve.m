% daedalus_solve: what every solver function does. name: the function that was called, for messages; method: of the library;
% form: 'ode' for f(t,y), 'ide' for F(t,y,yp); nout: how many results are wanted; args: what the user wrote.
% Results: a cell of nout of them, or of one where the user wants none but asks for it by `ans`.
function results = daedalus_solve (name, method, form, nout, args)
  [fun, tspan, y0, yp0, opt, extra] = read_arguments (name, form, args);
  if (strcmp (form, 'ide'))
    [fun, y0, yp0] = check_ide (name, fun, tspan, y0, yp0);
  else
    fun = check_ode (name, fun, tspan, y0);
  end
  tspan = double (tspan(:));
  y0 = double (y0(:));
  fun = with_extra (fun, extra);
  opt = lower_names (opt);
  [rtol, atol] = check_tolerances (name, opt, numel (y0));

  spec = struct ('kind', form, 'f', fun, 't0', tspan(1), 't_end', tspan(end), 'y0', y0, 'yp0', double (yp0(:)));
  spec.jacobian = jacobian_of (name, opt, form, numel (y0), extra);
  cplx = ~isreal (y0);
  if (cplx)
    spec = in_real_numbers (name, spec, opt);
    if (numel (rtol) > 1), rtol = [rtol(:); rtol(:)]; end
    if (numel (atol) > 1), atol = [atol(:); atol(:)]; end
  end
  spec = set_mass (name, method, spec, opt, extra, cplx);
  spec = set_pattern (name, spec, opt);
  spec = set_options (name, method, spec, opt, rtol, atol);
  spec = set_nonnegative (name, spec, opt);
  spec = set_events (spec, opt, extra, cplx, form);
  spec.dense = nout == 1;
  if (numel (tspan) > 2 && nout ~= 1), spec.times = tspan; end
  [spec, finish] = set_output (spec, opt, tspan, y0, extra, cplx, nout);

  r = daedalus_mex ('solve', spec);
  report_failure (name, r);
  finish ();
  r = complete (r, cplx, numel (y0));
  if (strcmpi (value (opt, 'stats', 'off'), 'on')), print_stats (r.stats); end
  results = shape (r, nout, isfield (spec, 'events'), args);
end

% ---- What the user wrote ------------------------------------------------------------------------------------

function [fun, tspan, y0, yp0, opt, extra] = read_arguments (name, form, args)
  ide = strcmp (form, 'ide');
  if (numel (args) < 3 + ide)
    arguments = 'FUN, TSPAN, Y0';
    if (ide), arguments = 'FUN, TSPAN, Y0, YP0'; end
    error ('daedalus:input', 'Invalid call to %s.  Correct usage is: [T, Y] = %s (%s, OPTIONS)', name, name, arguments);
  end
  [fun, tspan, y0] = args{1:3};
  yp0 = [];
  rest = args(4:end);
  if (ide)
    yp0 = rest{1};
    rest = rest(2:end);
  end
  opt = struct ();
  if (~isempty (rest) && (isstruct (rest{1}) || isempty (rest{1})))
    if (isstruct (rest{1})), opt = rest{1}; end
    rest = rest(2:end);
  end
  extra = rest;
end

function fun = check_ode (name, fun, tspan, y0)
  if (~isnumeric (tspan) || ~isvector (tspan))
    error ('daedalus:input', '%s: TRANGE must be a numeric vector', name);
  elseif (numel (tspan) < 2)
    error ('daedalus:input', '%s: TRANGE must contain at least 2 elements', name);
  elseif (tspan(1) == tspan(end) || ~(all (diff (tspan) > 0) || all (diff (tspan) < 0)))
    error ('daedalus:input', '%s: invalid time span: its times must go up, or down', name);
  elseif (~isnumeric (y0) || ~isvector (y0))
    error ('daedalus:input', '%s: INIT must be a numeric vector', name);
  end
  fun = by_name (name, 'function', fun);
  if (~isa (fun, 'function_handle'))
    error ('daedalus:input', '%s: FUN must be a valid function handle', name);
  end
end

function [fun, y0, yp0] = check_ide (name, fun, tspan, y0, yp0)
  validateattributes (fun, {'function_handle', 'char'}, {}, name, 'fun');
  fun = by_name (name, 'function', fun);
  if (~isnumeric (tspan) || ~isvector (tspan) || numel (tspan) < 2 || ...
      ~(all (diff (tspan) > 0) || all (diff (tspan) < 0)))
    error ('daedalus:input', '%s: invalid value assigned to field ''trange''', name);
  elseif (~isnumeric (y0) || ~isvector (y0))
    error ('daedalus:input', '%s: Y0 must be a numeric vector', name);
  elseif (~isnumeric (yp0) || ~isvector (yp0))
    error ('daedalus:input', '%s: YP0 must be a numeric vector', name);
  end
  n = numel (fun (tspan(1), y0(:), yp0(:)));
  validateattributes (yp0, {'float'}, {'numel', n}, name, 'yp0');
  validateattributes (y0, {'float'}, {'numel', n}, name, 'y0');
end

function fun = by_name (name, what, fun)
  if (~ischar (fun)), return, end
  if (~any (exist (fun) == [2 3 5 103])), error ('daedalus:input', '%s: %s "%s" not found', name, what, fun); end
  fun = str2func (fun);
end

function [rtol, atol] = check_tolerances (name, opt, n)
  rtol = value (opt, 'reltol', 1e-3);
  atol = value (opt, 'abstol', 1e-6);
  validateattributes (rtol, {'float'}, {'scalar', 'positive'}, name, 'RelTol');
  validateattributes (atol, {'float'}, {'vector', 'positive'}, name, 'AbsTol');
  if (~any (numel (atol) == [1 n]))
    error ('daedalus:input', '%s: invalid value assigned to field "AbsTol": expected 1 or %d numbers', name, n);
  end
end

% Options without regard to case.
function low = lower_names (opt)
  low = struct ();
  names = fieldnames (opt);
  for i = 1:numel (names)
    low.(lower (names{i})) = opt.(names{i});
  end
end

function x = value (opt, name, default)
  x = default;
  if (isfield (opt, name) && ~isempty (opt.(name))), x = opt.(name); end
end

function f = with_extra (f, extra)
  if (ischar (f)), f = str2func (f); end
  if (~isempty (extra))
    g = f;
    f = @(varargin) g (varargin{:}, extra{:});
  end
end

% ---- Jacobian, mass matrix ------------------------------------------------------------------------------------

function jac = jacobian_of (name, opt, form, n, extra)
  jac = [];
  J = value (opt, 'jacobian', []);
  if (isempty (J)), return, end
  J = by_name (name, '"Jacobian" function', J);
  ide = strcmp (form, 'ide');
  if (isa (J, 'function_handle'))
    if (isempty (extra) || nargin (J) >= 0), jac = J; else, jac = with_extra (J, extra); end
    if (ide), jac = @(t, y, yp) checked_pair (name, jac, n, t, y, yp); end
  elseif (ide)
    if (~iscell (J))
      error ('daedalus:input', ['%s: "Jacobian" field must be a function handle or 2-element cell array of ' ...
                                'square matrices'], name);
    elseif (numel (J) ~= 2)
      error ('daedalus:input', '%s: invalid value assigned to field "Jacobian"', name);
    elseif (~square (J{1}, n) || ~square (J{2}, n))
      error ('daedalus:input', '%s: "Jacobian" matrices must be real square matrices', name);
    end
    jac = @(t, y, yp) J{:};
  else
    if (~square (J, n))
      error ('daedalus:input', '%s: "Jacobian" must be a function or a real square matrix of size %d', name, n);
    end
    jac = @(t, y) J;
  end
end

function yes = square (J, n)
  yes = isnumeric (J) && isreal (J) && isequal (size (J), [n n]);
end

function [A, B] = checked_pair (name, J, n, t, y, yp)
  [A, B] = J (t, y, yp);
  if (~square (A, n) || ~square (B, n))
    error ('daedalus:input', '%s: "Jacobian" function must evaluate to a real square matrix', name);
  end
end

% A constant mass matrix goes to the library. One that is a function: y' = M \ f where it is regular at the start; else
% F = M(t,y) y' - f(t,y), for methods that take it.
function spec = set_mass (name, method, spec, opt, extra, cplx)
  M = value (opt, 'mass', []);
  if (isempty (M)), return, end
  if (strcmp (spec.kind, 'ide'))
    error ('daedalus:input', '%s: Mass and F(t,y,yp) exclude each other', name);
  end
  n = numel (spec.y0);
  m = n / (1 + cplx);
  if (isnumeric (M))
    if (~square (M, m))
      error ('daedalus:input', '%s: Mass must be a real matrix of size %d', name, m);
    end
    if (cplx), M = blkdiag (M, M); end
    info = method_info (method);
    if (any (strcmp ('DAE', info.kinds)))
      spec.kind = 'dae';
      spec.mass = M;
      return
    end
    M = @(t, y) M;
    constant = true;
  else
    if (ischar (M)), M = str2func (M); end
    one = nargin (M) == 1;
    g = with_extra (M, extra(1:end * (nargin (M) < 0)));
    if (one), M = @(t, y) g (t); else, M = g; end
    if (cplx), h = M; M = @(t, z) blkdiag (h (t, z(1:m) + 1i * z(m+1:end)), h (t, z(1:m) + 1i * z(m+1:end))); end
    constant = one || strcmpi (value (opt, 'mstatedependence', 'weak'), 'none');
  end
  f = spec.f;
  J = spec.jacobian;
  if (rcond (full (M (spec.t0, spec.y0))) > 1e-14)
    spec.f = @(t, y) M (t, y) \ f (t, y);
    if (~isempty (J) && constant), spec.jacobian = @(t, y) M (t, y) \ J (t, y); else, spec.jacobian = []; end
    return
  end
  info = method_info (method);
  if (~any (strcmp ('IDE', info.kinds)))
    error ('daedalus:unsupported', ['%s: the mass matrix is singular and no constant matrix; the methods for implicit ' ...
           'systems take it: mebdfi, dassl, pside, ida'], name);
  end
  spec.kind = 'ide';
  spec.f = @(t, y, yp) M (t, y) * yp - f (t, y);
  if (~isempty (J) && constant), spec.jacobian = @(t, y, yp) deal (-J (t, y), M (t, y)); else, spec.jacobian = []; end
end

function info = method_info (method)
  persistent all
  if (isempty (all))
    all = daedalus_mex ('methods');
    for i = 1:numel (all), all(i).kinds = strsplit (all(i).kinds, ' '); end
  end
  k = find (strcmp (method, {all.name}));
  if (isempty (k)) % auto
    info = struct ('name', method, 'kinds', {{'ODE', 'DAE', 'IDE', 'mechanical'}}, 'projects', false, ...
                   'no_velocities', false);
  else
    info = all(k);
  end
end

% JPattern; without it a large sparse Jacobian is looked at around the start. Small ones are taken as full.
function spec = set_pattern (name, spec, opt)
  S = value (opt, 'jpattern', []);
  n = numel (spec.y0);
  if (isempty (S) || (isfield (spec, 'mass') && n < 30))
    S = [];
  elseif (iscell (S))
    S = (S{1} ~= 0) | (S{2} ~= 0);
  end
  if (isempty (S) && n >= 30 && ~isempty (spec.jacobian) && strcmp (spec.kind, 'ode'))
    J = spec.jacobian (spec.t0, spec.y0);
    if (issparse (J) && nnz (J) < n * n / 4)
      S = J ~= 0;
      for k = 1:5
        S = S | (spec.jacobian (spec.t0, spec.y0 + 1e-3 * randn (n, 1) .* (abs (spec.y0) + 1)) ~= 0);
      end
    end
  end
  if (isempty (S)), return, end
  if (~isequal (size (S), [n n]))
    error ('daedalus:input', '%s: JPattern must be a matrix of size %d', name, n);
  end
  spec.pattern = double (sparse (S ~= 0) | speye (n));
end

% Complex y: real and imaginary parts, one after the other.
function spec = in_real_numbers (name, spec, opt)
  if (strcmp (spec.kind, 'ide'))
    error ('daedalus:unsupported', '%s: F(t,y,yp) = 0 in complex numbers: write real and imaginary parts', name);
  elseif (~isempty (value (opt, 'jpattern', [])))
    error ('daedalus:unsupported', '%s: JPattern in complex numbers: write real and imaginary parts', name);
  end
  f = spec.f;
  m = numel (spec.y0);
  spec.f = @(t, z) split (f (t, z(1:m) + 1i * z(m+1:end)), m);
  spec.y0 = split (spec.y0, m);
  spec.jacobian = [];
end

function z = split (y, m)
  y = y(:);
  if (numel (y) ~= m), z = y; return, end % the wrong length is told where it is compared
  z = [real(y); imag(y)];
end

% ---- Options, events, output -------------------------------------------------------------------------------------

function spec = set_options (name, method, spec, opt, rtol, atol)
  o = {'method', method, 'rtol', number(rtol), 'atol', number(atol(1))};
  table = {'initialstep', 'h0'; 'maxstep', 'h_max'; 'minstep', 'h_min'; 'maxsteps', 'max_steps'; ...
           'maxseconds', 'max_seconds'; 'linearalgebra', 'linear_algebra'; 'formulation', 'formulation'; ...
           'threads', 'threads'};
  for i = 1:size (table, 1)
    x = value (opt, table{i,1}, []);
    if (~isempty (x)), o = [o, table(i,2), {number(x)}]; end
  end
  spec.options = o;
  info = method_info (method);
  spec.no_velocities = double (info.no_velocities); % methods for q'' = f(t,q): y is [q; q'] then
  if (spec.no_velocities && mod (numel (spec.y0), 2))
    error ('daedalus:input', '%s: y must be [q; dq/dt] of a second-order system, of even length', name);
  end
  if (numel (atol) > 1), spec.atol_vec = double (atol(:)); end
  spec.settings = daedalus_pairs (value (opt, 'settings', {}));
  spec.refine = max (1, floor (value (opt, 'refine', 1)));
  spec.index = double (value (opt, 'index', []));
  spec.discontinuity = double (value (opt, 'discontinuity', []));
  if (isempty (spec.yp0)), spec.yp0 = double (value (opt, 'initialslope', [])); spec.yp0 = spec.yp0(:); end
  if (~any (numel (spec.yp0) == [0, numel(spec.y0)])), spec.yp0 = []; end
  ignored = {'maxorder', 'bdf'};
  for i = 1:2
    x = value (opt, ignored{i}, []);
    if (~isempty (x) && ~strcmpi (x, 'off'))
      warning ('daedalus:ignored_option', '%s: the option %s is not used: choose a method and its Settings', name, ...
               ignored{i});
    end
  end
end

function s = number (x)
  if (ischar (x)), s = x; else, s = sprintf ('%.17g', double (x)); end
end

% NonNegative: components that the library keeps from becoming negative, for every method.
function spec = set_nonnegative (name, spec, opt)
  k = value (opt, 'nonnegative', []);
  if (isempty (k)), return, end
  if (~strcmp (spec.kind, 'ode'))
    error ('daedalus:unsupported', '%s: NonNegative needs y'' = f(t,y)', name);
  end
  if (any (k(:) < 1 | k(:) > numel (spec.y0) | k(:) ~= fix (k(:))))
    error ('daedalus:input', '%s: NonNegative must be numbers of components', name);
  end
  spec.nonnegative = double (k(:));
end

function spec = set_events (spec, opt, extra, cplx, form)
  ev = value (opt, 'events', []);
  if (isempty (ev)), return, end
  ev = with_extra (ev, extra);
  m = numel (spec.y0) / 2;
  if (cplx), g = ev; ev = @(t, z) g (t, z(1:m) + 1i * z(m+1:end)); end
  if (strcmp (form, 'ide'))
    yp = spec.yp0;
    [v, terminal, direction] = ev (spec.t0, spec.y0, yp);
  else
    [v, terminal, direction] = ev (spec.t0, spec.y0);
    if (strcmp (spec.kind, 'ide')), g2 = ev; ev = @(t, y, yp) g2 (t, y); end
  end
  spec.events = ev;
  spec.terminal = double (terminal(:)) + zeros (numel (v), 1);
  spec.direction = zeros (numel (v), 1);
  if (~isempty (direction)), spec.direction = spec.direction + double (direction(:)); end
end

function [spec, finish] = set_output (spec, opt, tspan, y0, extra, cplx, nout)
  finish = @() [];
  out = value (opt, 'outputfcn', []);
  if (isempty (out) && nout == 0), out = @odeplot; end
  if (isempty (out)), return, end
  if (ischar (out)), out = str2func (out); end
  sel = value (opt, 'outputsel', 1:numel (y0));
  m = numel (y0);
  t0 = tspan(1);
  out (tspan([1 end]), y0(sel), 'init', extra{:});
  finish = @() finish_output (out, extra);
  spec.output = @(varargin) each_point (out, t0, sel, cplx, m, extra, varargin{1:2});
end

function finish_output (out, extra)
  out ([], [], 'done', extra{:});
end

function stop = each_point (out, t0, sel, cplx, m, extra, t, y)
  stop = false;
  if (t == t0), return, end
  if (cplx), y = y(1:m) + 1i * y(m+1:end); end
  if (nargout (out) == 0)
    out (t, y(sel), [], extra{:});
  else
    stop = out (t, y(sel), [], extra{:});
  end
end

% ---- What comes out ---------------------------------------------------------------------------------------------------

function report_failure (name, r)
  if (isfield (r, 'failure'))
    [results{1:r.failure_count}] = r.failure{1} (r.failure{2:end}); % raises the error, with its place
    error ('daedalus:callback', '%s: a function failed at t = %.10g, and not when called again', name, r.failure{2});
  elseif (r.wrong)
    error ('daedalus:function_value', '%s: %s', name, r.message);
  elseif (r.status >= 0 || r.stopped)
    return
  end
  id = ['daedalus:' lower(strrep (r.status_name, 'DAE_ERR_', ''))];
  fatal = {'DAE_ERR_INPUT', 'DAE_ERR_UNSUPPORTED', 'DAE_ERR_MEMORY', 'DAE_ERR_INTERNAL'};
  if (any (strcmp (r.status_name, fatal)) || isempty (r.t))
    error (id, '%s: %s', name, r.message);
  end
  warning (id, '%s: the run ended at t = %.10g: %s', name, r.t_last, r.message);
end

% The point of a terminal event is the last one; complex numbers are put together.
function r = complete (r, cplx, n)
  if (r.status == 1 && (isempty (r.t) || r.t(end) ~= r.t_last))
    r.t = [r.t, r.t_last];
    r.y = [r.y, r.y_last];
  end
  if (cplx)
    names = {'y', 'ye', 'values'};
    for i = 1:3
      x = r.(names{i});
      if (~isempty (x)), r.(names{i}) = complex (x(1:n,:), x(n+1:end,:)); end
    end
  end
end

function print_stats (s)
  fprintf ('Number of successful steps: %d\n', s.nsteps);
  fprintf ('Number of unsuccessful steps: %d\n', s.nfailed);
  fprintf ('Number of function calls: %d\n', s.nfevals);
  fprintf ('Number of partial derivatives: %d\n', s.npds);
  fprintf ('Number of LU decompositions: %d\n', s.ndecomps);
  fprintf ('Number of solutions of linear systems: %d\n', s.nsolves);
end

function results = shape (r, nout, events, args)
  if (nout == 1)
    sol = struct ('solver', r.solver, 'x', r.t, 'y', r.y);
    if (events), sol.xe = r.te; sol.ye = r.ye; sol.ie = r.ie; end
    sol.stats = r.stats;
    sol.extdata = struct ('odefun', {args{1}}, 'arguments', {args});
    sol.idata = struct ('pieces', r.pieces, 'values', r.values);
    results = {sol};
  else
    results = {r.t.', r.y.', r.te.', r.ye.', r.ie.'};
    results = results(1:nout);
  end
end
