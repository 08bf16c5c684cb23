% DAEDALUS_METHODS  the methods of the library: name, title, kinds of systems, highest order and index.
%
%   daedalus_methods          prints a table
%   M = daedalus_methods ()   an array of structs with the fields name, title, kinds, order, index, implicit, projects
%
% See also: daedalus_ode, daedalus_run
function m = daedalus_methods ()
  list = daedalus_mex ('methods');
  if (nargout > 0)
    m = list;
    return
  end
  for i = 1:numel (list)
    fprintf ('%-12s %-12s %s\n', list(i).name, list(i).kinds, list(i).title);
  end
end

%!test
%! m = daedalus_methods ();
%! names = {m.name};
%! assert (all (ismember ({'radau5', 'dop853', 'mebdfi', 'phem56'}, names)));
%! assert (m(strcmp (names, 'radau5')).order, 5);
%! assert (evalc ('daedalus_methods ()')(1:6), 'radau5');
%!test # every method has a function of its name
%! m = daedalus_methods ();
%! for i = 1:numel (m)
%!   name = strrep (m(i).name, '-', '_');
%!   if (strcmp (name, 'dassl')), name = 'daedalus_dassl'; end # dassl is Octave's own
%!   assert (exist (name), 2);
%! end
