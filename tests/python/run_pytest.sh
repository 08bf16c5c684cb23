#!/bin/sh
# usage: run_pytest.sh PYTHON ARGUMENTS...: pytest, or 77 where it, numpy or SciPy is not installed.
python=$1
shift
"$python" -c 'import numpy, scipy, pytest' 2> /dev/null || { echo "skipped: needs numpy, SciPy and pytest"; exit 77; }
exec "$python" -m pytest -q -p no:cacheprovider -W "ignore::pytest.PytestUnknownMarkWarning" "$@"
