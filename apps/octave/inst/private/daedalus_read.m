% daedalus_read: options of functions that run a problem, from a struct and NAME, VALUE pairs: parameters of the problem, options of the
% run, and a struct with all else that the caller takes.
function [parameters, options, o] = daedalus_read (caller, args, others)
  words = {'method', 'formulation', 'reltol', 'abstol', 'initialstep', 'maxstep', 'maxsteps', 'maxseconds', ...
           'linearalgebra', 'jacobian', 'threads'};
  names = {'method', 'formulation', 'rtol', 'atol', 'h0', 'h_max', 'max_steps', 'max_seconds', 'linear_algebra', ...
           'jacobian', 'threads'};
  opt = struct ();
  if (~isempty (args) && (isstruct (args{1}) || isempty (args{1})))
    if (isstruct (args{1}))
      given = fieldnames (args{1});
      for i = 1:numel (given), opt.(lower (given{i})) = args{1}.(given{i}); end
    end
    args = args(2:end);
  end
  if (mod (numel (args), 2)), error ('daedalus:input', '%s: options come as NAME, VALUE', caller); end
  for i = 1:2:numel (args), opt.(lower (args{i})) = args{i+1}; end
  parameters = {};
  options = {};
  o = struct ();
  given = fieldnames (opt);
  for i = 1:numel (given)
    x = opt.(given{i});
    k = find (strcmp (given{i}, words));
    if (isempty (x)), continue, end
    if (~isempty (k))
      options = [options, daedalus_pairs({names{k}, x})];
    elseif (strcmp (given{i}, 'parameters'))
      parameters = daedalus_pairs (x);
    elseif (strcmp (given{i}, 'settings'))
      o.settings = daedalus_pairs (x);
    elseif (strcmp (given{i}, 'tend'))
      o.t_end = double (x);
    elseif (any (strcmp (given{i}, others)))
      if (ischar (x) || iscell (x)), o.(given{i}) = x; else, o.(given{i}) = double (x); end
    else
      error ('daedalus:input', '%s: there is no option %s; help %s lists them', caller, given{i}, caller);
    end
  end
  o.keep_ratio = isfield (opt, 'reltol') && ~isempty (opt.reltol) && ~(isfield (opt, 'abstol') && ~isempty (opt.abstol));
end
