% daedalus_pairs: a struct or a cell {name, value, ...} as a cell of strings, numbers with all their digits.
function pairs = daedalus_pairs (x)
  if (isstruct (x))
    names = fieldnames (x);
    values = struct2cell (x);
    x = [names, values].';
    x = x(:).';
  end
  pairs = cell (1, numel (x));
  for i = 1:numel (x)
    v = x{i};
    if (islogical (v)), v = double (v); end
    if (isnumeric (v)), v = sprintf ('%.17g', v); end
    pairs{i} = v;
  end
end
