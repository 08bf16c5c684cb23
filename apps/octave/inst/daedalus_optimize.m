% DAEDALUS_OPTIMIZE  the parameters for which something of a run is least.
%
%   R = daedalus_optimize (WHAT, MINIMIZE, FREE, NAME, VALUE, ...)
%
% WHAT: a problem, model or equation file, or its text. MINIMIZE: an expression of final, integral, mean, rms, maximum, minimum of
% components, sensors, t and parameters, as 'rms(body_acceleration)'. FREE: {'k', [min max], ...}, see daedalus_fit.
%
% Options: Subject, a cell of conditions ('maximum(travel) <= 0.1'); Global (true: a search all over the bounds first), Seed, Points,
% Evaluations, Tolerance, and those of daedalus_run.
%
% R has the fields names, value, start, objective, objective_start, violation, gradient, evaluations, status, message.
%
% See also: daedalus_run, daedalus_fit
function r = daedalus_optimize (what, minimize, free, varargin)
  if (nargin < 3 || ~ischar (what) || ~ischar (minimize))
    error ('daedalus:input', ...
           'Invalid call to daedalus_optimize.  Correct usage is: R = daedalus_optimize (PROBLEM, MINIMIZE, FREE, ...)');
  end
  [parameters, options, o] = daedalus_read ('daedalus_optimize', varargin, {'subject', 'global', 'seed', 'points', 'evaluations', ...
                                                                            'tolerance'});
  [o.names, o.free] = daedalus_free (free);
  if (isfield (o, 'subject')), o.subject = cellstr (o.subject); end
  o.minimize = minimize;
  r = daedalus_mex ('optimize', what, parameters, options, o);
  r.names = o.names;
end

%!shared decay
%! decay = sprintf ("model decay\nparam k = 1\nvar x = 1\nx' = -k*x\nsolve t = 0 .. 1, rtol = 1e-9\n");
%!test
%! r = daedalus_optimize (decay, '(final(x) - 0.5)^2', {'k', [0.1 3]});
%! assert (r.value, log (2), 1e-4);
%!test
%! r = daedalus_optimize (decay, 'final(x)', {'k', [0.1 3]}, 'Subject', {'k <= 1.5'});
%! assert (r.value, 1.5, 1e-4);
%! assert (r.violation < 1e-6);
%!error <nobody> daedalus_optimize (decay, 'final(nobody)', {'k', [0.1 3]})
