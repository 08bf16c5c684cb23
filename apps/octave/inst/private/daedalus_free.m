% daedalus_free: what may vary, {'k1', [min max], 'k2', start, 'k3', [start min max], 'k4', []} or names alone, as names and a matrix with
% start, min and max in a row for each; NaN: the value of the problem.
function [names, free] = daedalus_free (given)
  if (ischar (given)), given = {given}; end
  if (~iscell (given) || isempty (given))
    error ('daedalus:input', 'daedalus: what may vary is a cell of names, or {name, bounds, ...}');
  end
  if (all (cellfun (@ischar, given)))
    given = [given(:).'; cell(1, numel (given))];
    given = given(:).';
  end
  names = given(1:2:end);
  free = repmat ([NaN, -Inf, Inf], numel (names), 1);
  for i = 1:numel (names)
    x = given{2*i};
    if (numel (x) == 1), free(i,1) = x;
    elseif (numel (x) == 2), free(i,2:3) = x;
    elseif (numel (x) == 3), free(i,:) = x;
    elseif (~isempty (x)), error ('daedalus:input', 'daedalus: %s: expected a start, [min max] or [start min max]', names{i});
    end
  end
end
