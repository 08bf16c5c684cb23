#!/bin/sh
# usage: check_layers.sh SOURCE_DIR
# Checks every #include line of the library and its programs:
#   src/<layer>/    "layer/..." of the same layer or one below it, or a file beside the including one; public headers
#   include/        <daedalus/...> and <stddef.h>
#   apps/           <...>, and files of the same program
#   HDF5 only in src/table/hdf5.c, MPI only in apps
#   LAPACK, BLAS, KLU only in src/linalg; SUNDIALS only in src/method/sundials; jansson only in src/multibody, src/equations,
#   src/table, src/fit, src/experiment, src/study and apps
cd "$1" || exit 2
files=$(find include src apps -name '*.[ch]' -o -name '*.h.in' | sort)
[ -n "$files" ] || { echo "no source below $1"; exit 2; }

# One line per include: file, line number, and the name with its quotes or brackets.
# shellcheck disable=SC2086
awk '/^[ \t]*#[ \t]*include/ {
    name = $0; sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
    if (match(name, /^("[^"]*"|<[^>]*>)/)) print FILENAME, FNR, substr(name, 1, RLENGTH)
}' $files | awk '
function fault(text) { print $1 ":" $2 ": includes " $3 ": " text; bad = 1 }
function exists(path,   line, r) { r = (getline line < path); close(path); return r >= 0 }
BEGIN {
    n = split("core table linalg mechanics method formulation problem simulation language sensitivity steady multibody equations testset catalog fit experiment study", order, " ")
    for (i = 1; i <= n; i++) rank[order[i]] = i
}
{
    file = $1; quoted = substr($3, 1, 1) == "\""; name = substr($3, 2, length($3) - 2)
    split(file, part, "/"); layer = part[2]
    folder = file; sub(/\/[^\/]*$/, "", folder)
    count++
    if (name ~ /^(lapack|lapacke|cblas|f77blas|openblas_config|klu|amd|btf|colamd|cholmod|umfpack|SuiteSparse_config)\.h$/ ||
        name ~ /^(suitesparse|openblas)\//) {
        if (file !~ /^src\/linalg\//) fault("only src/linalg calls LAPACK and KLU")
    } else if (name ~ /^(sundials|nvector|sunmatrix|sunlinsol|sunnonlinsol|cvodes?|idas?|arkode|kinsol)\//) {
        if (file !~ /^src\/method\/sundials\//) fault("only src/method/sundials calls SUNDIALS")
    } else if (name == "hdf5.h") {
        if (file != "src/table/hdf5.c") fault("only src/table/hdf5.c uses HDF5")
    } else if (name == "nlopt.h") {
        if (file != "src/fit/optimize.c") fault("only src/fit/optimize.c uses NLopt")
    } else if (name == "mpi.h") {
        if (file !~ /^apps\//) fault("only programs use MPI")
    } else if (name == "jansson.h") {
        if (file !~ /^(src\/(table|multibody|equations|fit|experiment|study)|apps)\//) fault("only table, multibody, equations, fit, experiment, study and apps use the JSON library")
    } else if (part[1] == "include") {
        if (quoted || (name !~ /^daedalus\// && name != "stddef.h")) fault("public headers include each other and <stddef.h> only")
    } else if (part[1] == "src") {
        if (!(layer in rank)) fault("src/" layer " is not a layer")
        else if (quoted) {
            split(name, to, "/")
            if (to[1] in rank && name ~ /\//) {
                if (rank[to[1]] > rank[layer]) fault("layer " layer " is below " to[1])
            } else if (!exists(folder "/" name)) fault("not a layer, and not a file beside this one")
        }
    } else if (part[1] == "apps" && quoted && !exists(folder "/" name) && !exists("apps/" layer "/" name))
        fault("programs use the installed headers and their own files only")
}
END { if (!bad) print count " includes point the right way"; exit bad }'
