#!/usr/bin/env bash
# Compiles whole-api.c as C99 or C++11, links it with libcapsid and runs it.
# Arguments: the compiler, the language, the standard, the library, and the
# flags of the library's own build (a sanitizer's).
set -euo pipefail
compiler=$1 language=$2 standard=$3 library=$4
shift 4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$compiler" -x "$language" -std="$standard" -pedantic -Wall -Wextra -Werror \
	-I "$here/../../include" "$here/whole-api.c" -x none "$library" \
	-Wl,-rpath,"$(dirname "$library")" "$@" -o "$work/whole-api"
"$work/whole-api"
