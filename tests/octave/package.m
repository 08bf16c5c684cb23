% package PACKAGE ARCHIVE FOLDER: pkg installs the archive below FOLDER, loads it, and it solves.
args = argv ();
[archive, folder] = args{end-1:end};
confirm_recursive_rmdir (false);
if (exist (folder, 'dir') == 7), rmdir (folder, 's'); end
mkdir (folder);
pkg ('prefix', fullfile (folder, 'm'), fullfile (folder, 'arch'));
pkg ('local_list', fullfile (folder, 'list'));
pkg ('global_list', fullfile (folder, 'global_list'));
pkg ('install', '-local', archive);
pkg ('load', 'daedalus');
place = which ('radau5');
printf ('%s\n', place);
[t, y] = radau5 (@(t, y) -y, [0 1], 1, odeset ('RelTol', 1e-8, 'AbsTol', 1e-8));
r = daedalus_run ('hires');
bad = isempty (strfind (place, folder)) || abs (y(end) - exp (-1)) > 1e-6 || r.status != 0;
pkg ('unload', 'daedalus');
pkg ('uninstall', '-local', 'daedalus');
exit (double (bad));
