% functions PACKAGE FOLDER: the %! tests of every function, and that each has them and a help text.
args = argv ();
[package, folder] = args{end-1:end};
addpath (package);
files = dir (fullfile (package, '*.m'));
bad = numel (files) < 25;
for i = 1:numel (files)
  [~, name] = fileparts (files(i).name);
  log = fullfile (folder, 'functions.log');
  [passed, all] = test (name, 'quiet', log);
  if (all < 1)
    printf ('%s: no tests\n', name);
    bad = true;
  elseif (passed < all)
    printf ('%s: %d of %d tests pass\n%s', name, passed, all, fileread (log));
    bad = true;
  end
  help_text = get_help_text (name);
  if (numel (help_text) < 80)
    printf ('%s: no help text\n', name);
    bad = true;
  end
end
exit (double (bad));
