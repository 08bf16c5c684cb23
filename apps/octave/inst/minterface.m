% MINTERFACE  a problem with the calls of the test set for IVP solvers (its report, IV.2.6 and IV.3).
%
%   MPROB = minterface (PROBLEM)
%
% PROBLEM: a problem of the test set by name, an equation file (its path or text), or a user's own problem: the name or handle of
% a function that answers the calls itself. MPROB is a handle for
%
%   PROB = MPROB ('Prob')           a struct: FULLNM, PROBLM, TYPE, NEQN, NDISC, T, NUMJAC, MLJAC, MUJAC, NUMMAS, MLMAS, MUMAS, IND
%   [Y0, YP0, CONSIST] = MPROB ('Init', NEQ, T0)
%   [ATOL, RTOL] = MPROB ('Tolerances', NEQN, ATOL, RTOL)
%   [SOLREF, PRINTSOLOUT, NINDSOL, INDSOL] = MPROB ('Output', NEQN)
%   [F, IERR, RPAR, IPAR] = MPROB ('Feval', NEQ, T, Y, YP, RPAR, IPAR)
%   [J, IERR, RPAR, IPAR] = MPROB ('Jeval', LDIM, NEQ, T, Y, YP, RPAR, IPAR)
%   [M, IERR, RPAR, IPAR] = MPROB ('Meval', LDIM, NEQ, T, Y, YP, RPAR, IPAR)
%   Y = MPROB ('Solut', NEQ, TFINAL)
%   [MESCD, SCD] = MPROB ('Report', NEQ, YREF, Y, PROBNM, TOLVEC, ATOL, RTOL)
%
% J and M are full where MLJAC (MLMAS) is NEQN; else rows of diagonals, the uppermost first. IERR is -1 where the functions
% cannot be evaluated. 'Report' without results prints the digits.
%
% See also: odetest, idetest, daedalus_run
function mprob = minterface (problem)
  if (nargin ~= 1)
    error ('daedalus:input', 'Invalid call to minterface.  Correct usage is: MPROB = minterface (PROBLEM)');
  end
  if (isa (problem, 'function_handle'))
    mprob = problem;
    return
  end
  if (~ischar (problem)), error ('daedalus:input', 'minterface: PROBLEM must be a name or a function handle'); end
  try
    info = daedalus_mex ('problem', problem);
  catch e
    if (exist (problem) ~= 2 || ~isempty (strfind (problem, '.'))), rethrow (e); end
    mprob = str2func (problem);
    return
  end
  if (strcmp (info.kind, 'mechanical'))
    error ('daedalus:unsupported', ['minterface: %s is a mechanical system in descriptor form, which the interface has no words ' ...
           'for; daedalus_run takes it'], info.name);
  end
  mprob = @(varargin) answer (problem, varargin{:});
end

function varargout = answer (problem, what, varargin)
  switch (lower (what))
    case 'prob'
      varargout = {prob(daedalus_mex ('problem', problem))};
    case 'init'
      [varargout{1:3}] = init (problem, varargin{:});
    case 'tolerances'
      info = daedalus_mex ('problem', problem);
      [atol, rtol] = varargin{2:3};
      if (~isempty (info.atol_factor)), atol = atol(1) * info.atol_factor; end
      if (~isempty (info.rtol_factor)), rtol = rtol(1) * info.rtol_factor; end
      varargout = {atol, rtol};
    case 'output'
      info = daedalus_mex ('problem', problem);
      varargout = {~isempty(info.reference), false, numel(info.plot), info.plot + 1};
    case 'feval'
      [n, t, y, yp, rpar, ipar] = filled (6, varargin);
      [f, ierr] = daedalus_mex ('feval', problem, {}, t, y, yp);
      varargout = {f, -(ierr ~= 0), rpar, ipar};
    case {'jeval', 'meval'}
      [ldim, n, t, y, yp, rpar, ipar] = filled (7, varargin);
      [a, ierr] = daedalus_mex (lower (what), problem, {}, t, y, yp);
      if (~isempty (ldim) && ldim > size (a, 1)), a(ldim,end) = 0; end
      varargout = {a, -(ierr ~= 0), rpar, ipar};
    case 'solut'
      info = daedalus_mex ('problem', problem);
      if (isempty (info.reference)), error ('daedalus:input', 'minterface: there is no reference solution of %s', info.name); end
      if (nargin > 3 && varargin{2} ~= info.t_end)
        error ('daedalus:input', 'minterface: the reference solution of %s is that at %.10g', info.name, info.t_end);
      end
      varargout = {info.reference};
    case 'report'
      [n, yref, y, name, tolvec, atol, rtol] = filled (7, varargin);
      [mescd, scd] = daedalus_mex ('score', problem, {}, y, yref, atol, rtol);
      if (nargout == 0), fprintf ('%s: mescd %.2f, scd %.2f\n', name, mescd, scd); end
      varargout = {mescd, scd};
    otherwise
      error ('daedalus:input', 'minterface: there is no call %s; help minterface lists them', what);
  end
end

function varargout = filled (n, args)
  args(end+1:n) = {[]};
  varargout = args(1:n);
end

function p = prob (info)
  p = struct ('FULLNM', info.title, 'PROBLM', info.name, 'TYPE', info.kind, 'NEQN', info.n, ...
              'NDISC', numel (info.discontinuity), 'T', [info.t0; info.discontinuity(:); info.t_end], ...
              'NUMJAC', info.numjac, 'MLJAC', info.mljac, 'MUJAC', info.mujac, 'NUMMAS', info.nummas, ...
              'MLMAS', info.mlmas, 'MUMAS', info.mumas, 'IND', info.index);
  if (isempty (p.IND)), p.IND = ones (info.n, 1) * ~strcmp (info.kind, 'ODE'); end
end

function [y0, yp0, consistent] = init (problem, n, t0)
  info = daedalus_mex ('problem', problem);
  y0 = info.y0;
  yp0 = info.yp0;
  consistent = true;
  if (isempty (yp0) && strcmp (info.kind, 'ODE'))
    yp0 = daedalus_mex ('feval', problem, {}, info.t0, y0);
  elseif (isempty (yp0))
    yp0 = zeros (info.n, 1);
    consistent = false;
  end
end

%!test # the pages of the report, on HIRES
%! m = minterface ('hires');
%! p = m ('Prob');
%! assert (p.NEQN, 8);
%! assert (p.TYPE, 'ODE');
%! assert (p.T, [0; 321.8122]);
%! [y0, yp0, consistent] = m ('Init', 8, 0);
%! assert (y0, [1 0 0 0 0 0 0 0.0057]');
%! [f, ierr, rpar, ipar] = m ('Feval', 8, 0, y0, yp0, [], []);
%! assert (f, yp0);
%! assert (f(1), -1.71 + 0.0007, 1e-15); # y1' = -1.71 y1 + 0.43 y2 + 8.32 y3 + 0.0007
%! assert (ierr, 0);
%! J = m ('Jeval', 8, 8, 0, y0, yp0, [], []);
%! assert (J(1,1:3), [-1.71 0.43 8.32]);
%! y = m ('Solut', 8, 321.8122);
%! [mescd, scd] = m ('Report', 8, y, y + 1e-6 * y, 'hires', false, 1e-4, 1e-4);
%! assert (scd, 6, 1e-6);
%!test # a band, a mass matrix and an index
%! m = minterface ('medakzo');
%! p = m ('Prob');
%! [y0, yp0] = m ('Init', p.NEQN, 0);
%! J = m ('Jeval', p.NEQN, p.NEQN, 0, y0, yp0, [], []);
%! if (p.MLJAC < p.NEQN), J = m ('Jeval', [], p.NEQN, 0, y0, yp0, [], []); assert (rows (J), p.MLJAC + p.MUJAC + 1); end
%! c = minterface ('chemakzo');
%! q = c ('Prob');
%! assert (q.TYPE, 'DAE');
%! assert (c ('Meval', [], 6, 0, zeros (6, 1), [], [], [])(1,:), [1 1 1 1 1 0]);
%! assert (all (q.IND(:) == 1));
%!test # an implicit system
%! m = minterface ('nand');
%! p = m ('Prob');
%! assert (p.TYPE, 'IDE');
%! [y0, yp0] = m ('Init', p.NEQN, 0);
%! assert (norm (m ('Feval', p.NEQN, 0, y0, yp0, [], [])) < 1e-6);
%!test # an own problem
%! own = @(what, varargin) what;
%! m = minterface (own);
%! assert (m ("Prob"), "Prob");
%!error <descriptor form> minterface ('seven-body')
%!error minterface ('no-such-problem')
