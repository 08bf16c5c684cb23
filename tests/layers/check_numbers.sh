#!/bin/sh
# usage: check_numbers.sh SOURCE_DIR
# Numbers with a fraction are read and written by src/core/number.c alone, which does it in the C locale.
cd "$1" || exit 2
found=$(grep -nE '(^|[^a-z_])(strtod|strtof|strtold|atof|sscanf|vsnprintf|vsprintf|sprintf)\(' -r src --include='*.c' --include='*.h' |
    grep -v '^src/core/number\.[ch]:' | grep -vE ':[[:space:]]*(/\*|\* )')
# snprintf with %g, %f, %e, also where the format stands on the next line
printed=$(awk 'FNR == 1 { held = "" }
    { line = held $0; held = "" }
    /(^|[^a-z_])snprintf\(/ && !/;[[:space:]]*$/ { held = $0; from = FNR; next }
    line ~ /(^|[^a-z_])snprintf\(/ && line ~ /%[-+ 0-9.*#]*l?[eEfFgG]/ { print FILENAME ":" FNR ": " $0 }' $(find src -name '*.c' ! -path src/core/number.c))
[ -z "$found$printed" ] && exit 0
echo "use dae_strtod, dae_snprintf or dae_vsnprintf of core/number.h here:"
[ -z "$found" ] || echo "$found"
[ -z "$printed" ] || echo "$printed"
exit 1
