#!/bin/sh
# The macro-benchmark: this engine and its peers on the same passages, one after
# the other on the same machine.
#
#   macro.sh CORPUS QUERIES PASSAGES [PEER …]
#
# CORPUS has a passage a line, QUERIES a query a line. Each PEER is a command
# that takes the corpus as its first argument and the queries as its second,
# and reports its own figures; its CPU time and peak memory are added here.
set -eu
cd "$(dirname "$0")"
corpus=$1 queries=$2 passages=$3
shift 3
go test -run '^TestMacro$' -timeout 2h -v -macro "$corpus" -queries "$queries" -passages "$passages" .
part=$(mktemp)
trap 'rm -f "$part"' EXIT
head -n "$passages" "$corpus" >"$part"
for peer in "$@"; do
  echo "== $peer"
  /usr/bin/time -f 'user %U s, system %S s, wall %e s, peak %M KiB' sh -c "$peer \"\$1\" \"\$2\"" peer "$part" "$queries"
done
