% octave_suite PACKAGE FOLDER: Octave's own tests of its solvers with ours in their place. The %! lines are copied from the
% installed files with the name replaced. At least 95 % of all must pass, and per file no more may fail than docs/octave.md
% explains.
args = argv ();
[package, folder] = args{end-1:end};
addpath (package);
pairs = {'ode45', 'dop853', 1; 'ode23', 'dop853', 1; 'ode23s', 'radau5', 1; 'ode15s', 'pside', 1; 'ode15i', 'mebdfi', 3};
if (exist (folder, 'dir') ~= 7), mkdir (folder); end
bad = false;
sum = [0 0];
for i = 1:size (pairs, 1)
  [theirs, ours, allowed] = pairs{i,:};
  lines = regexp (fileread (which (theirs)), '^%!.*$', 'match', 'lineanchors', 'dotexceptnewline');
  text = regexprep ([strjoin(lines, "\n") "\n"], ['\<' theirs '\>'], ours);
  file = fullfile (folder, ['suite_' theirs '.m']);
  id = fopen (file, 'w');
  fputs (id, text);
  fclose (id);
  log = fullfile (folder, [theirs '.log']);
  [passed, all] = test (file, 'quiet', log);
  printf ('%-7s by %-9s %3d of %3d tests pass (%.1f %%)\n', theirs, ours, passed, all, 100 * passed / all);
  if (passed < all), disp (fileread (log)); end
  if (all - passed > allowed || all < 30), bad = true; end
  sum = sum + [passed, all];
end
printf ('%d of %d tests pass (%.1f %%)\n', sum, 100 * sum(1) / sum(2));
bad = bad || sum(1) < 0.95 * sum(2);
exit (double (bad));
