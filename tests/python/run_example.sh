#!/bin/sh
# usage: run_example.sh PYTHON FILE: the script ends well and says something; 77 where numpy is not installed.
"$1" -c 'import numpy' 2> /dev/null || { echo "skipped: needs numpy"; exit 77; }
exec "$1" "$2"
