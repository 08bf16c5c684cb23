% leaks PACKAGE: errors in functions, values of a wrong length, NaN, thousands of times: clear errors, no growth of memory.
args = argv ();
addpath (args{end});
function kb = resident ()
  kb = str2double (regexp (fileread ('/proc/self/status'), 'VmRSS:\s+(\d+)', 'tokens', 'once'){1});
end
function out = attempt (f, n)
  try
    s = radau5 (f, [0 1], ones (n, 1));
    out = 'no error';
  catch e
    out = e.message;
  end
end
calls = {@(t, y) error('broken at %g', t), 'broken'; @(t, y) [1; 2; 3; 4], 'expected 60 real numbers'; ...
         @(t, y) {1}, 'cell'; @(t, y) y * 1i, 'complex'; @(t, y) y * NaN, 'not finite'};
bad = false;
for k = 1:size (calls, 1)
  message = attempt (calls{k,1}, 60);
  printf ('%s\n', message);
  if (isempty (strfind (message, calls{k,2})) || strcmp (message, 'no error')), bad = true; end
  for i = 1:50, attempt (calls{k,1}, 60); end
end
before = resident ();
for i = 1:2000
  attempt (calls{1 + mod (i, 5),1}, 60);
end
after = resident ();
printf ('memory: %d kB before, %d kB after\n', before, after);
bad = bad || after - before > 8000; % 2000 runs that each lost their 60 x 60 matrices would be 57 MB
exit (double (bad));
