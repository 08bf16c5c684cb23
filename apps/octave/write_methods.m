% write_methods FOLDER PACKAGE: a function for every method of the library, from the templates in FOLDER.
args = argv ();
[folder, package] = args{end-1:end};
addpath (package);
list = daedalus_mex ('methods');
for i = 1:numel (list)
  name = strrep (list(i).name, '-', '_');
  if (strcmp (name, 'dassl')), name = 'daedalus_dassl'; end # the name is taken by Octave's own
  kinds = strsplit (list(i).kinds, ' ');
  form = 'mech';
  if (any (strcmp ('ODE', kinds))), form = 'ode'; end
  if (any (strcmp ('IDE', kinds))), form = 'ide'; end
  body = fileread (fullfile (folder, ['method_' form '.m.in']));
  body = strrep (strrep (body, '@function@', name), '@method@', list(i).name);
  body = strrep (body, '@title@', list(i).title);
  draft = fullfile (package, [name '.m.new']);
  file = fopen (draft, 'w');
  fputs (file, body);
  fclose (file);
  rename (draft, fullfile (package, [name '.m']));
end
