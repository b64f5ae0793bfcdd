#!/bin/sh
# The runner's own test: every case of selftest.jsonl is wrong, and must be
# reported by name; the same requests with right expectations must all pass,
# so that the failures above are no accident. Argument: the runner.
set -u
runner=$1
here=$(dirname "$0")
bad=0

complain() {
	echo "selftest: $*" >&2
	bad=1
}

out=$("$runner" "$here/selftest.jsonl")
status=$?
lines=$(wc -l <"$here/selftest.jsonl")
[ "$status" -eq 1 ] || complain "exit status $status for failing cases"
last=$(printf '%s\n' "$out" | tail -n 1)
[ "$last" = "0 passed, $lines failed" ] || complain "last line: $last"
names=$(sed -n 's/^{"name":"\([^"]*\)".*/\1/p' "$here/selftest.jsonl")
for name in $names 'this line is not JSON'; do
	count=$(printf '%s\n' "$out" | grep -c "^FAIL $name: ")
	[ "$count" -eq 1 ] || complain "$name is reported $count times"
done

out=$("$runner" "$here/selftest-right.jsonl")
status=$?
lines=$(wc -l <"$here/selftest-right.jsonl")
[ "$status" -eq 0 ] || complain "exit status $status for right cases: $out"
[ "$out" = "$lines passed, 0 failed" ] || complain "output: $out"

"$runner" "$here/no-such-file.jsonl" 2>/dev/null
[ $? -eq 2 ] || complain 'a missing file is not refused'
"$runner" 2>/dev/null
[ $? -eq 2 ] || complain 'no file is not refused'
exit $bad
