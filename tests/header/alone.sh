#!/usr/bin/env bash
# Each public header compiles alone, twice in one file, and warns of nothing.
# Arguments: the compiler, the language as -x has it, the standard.
set -euo pipefail
compiler=$1 language=$2 standard=$3
include=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../include" && pwd)
count=0
for header in "$include"/capsid/*.h; do
	name=capsid/${header##*/}
	printf '#include <%s>\n#include <%s>\nextern int alone;\nint alone;\n' \
		"$name" "$name" |
		"$compiler" -x "$language" -std="$standard" -pedantic -Wall -Wextra \
			-Werror -fsyntax-only -I "$include" -
	count=$((count + 1))
done
echo "$count headers"
((count > 0))
