#!/usr/bin/env bash
# What `make install` lays down is enough: a program that finds Capsid through
# pkg-config alone links and runs, shared and static; the command runs too.
# Arguments: the build directory, a Node.js.
set -euo pipefail
build=$1 node=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/root cmake --install "$build" --prefix /opt/capsid >/dev/null
prefix=$work/root/opt/capsid
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
config() { pkg-config --define-prefix "$@" capsid; }

"$node" "$here/../notices/check.mjs" "$build" \
	"$prefix/share/doc/capsid/THIRD-PARTY-NOTICES"
cmp "$here/../../LICENSE" "$prefix/share/doc/capsid/LICENSE"

gcc -std=c99 $(config --cflags) "$here/whole-api.c" $(config --libs) \
	-o "$work/shared"
LD_LIBRARY_PATH=$prefix/lib "$work/shared"

gcc -std=c99 $(config --cflags) "$here/whole-api.c" "$prefix/lib/libcapsid.a" \
	$(config --libs --static | sed 's/-lcapsid//') -o "$work/static"
"$work/static"

[[ $(config --modversion) == "$(sed -n 's/^project(capsid VERSION \([0-9.]*\).*/\1/p' "$here/../../CMakeLists.txt")" ]]
if [[ -x $build/bin/capsid ]]; then
	[[ $(printf 'return 6 * 7' | LD_LIBRARY_PATH=$prefix/lib "$prefix/bin/capsid" run -) == *42* ]]
fi
echo 'installed: headers, libcapsid.so, libcapsid.a, capsid.pc, capsid'
