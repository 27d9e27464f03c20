#!/usr/bin/env bash
# Holds what is extracted from a folder of files against a manifest of what must be
# found in them: by extraction alone, and by a daemon that watches the folder.
#
#   scripts/check-extraction.sh MANIFEST DIR
#
# The manifest's lines are separated by tabs: path within DIR, expectation (find,
# nice, skip or survive), phrase, text that must be absent. See
# daemon/e2e/manifest_test.go.
set -euo pipefail
if [[ $# -ne 2 ]]; then
  sed -n '2,10p' "$0" >&2
  exit 2
fi
QUERN_MANIFEST="$(realpath "$1")"
QUERN_FILES="$(realpath "$2")"
export QUERN_MANIFEST QUERN_FILES
cd "$(dirname "$0")/.."
go test ./daemon/e2e -count=1 -timeout 30m -run '^TestManifest$' -v |
  awk '/--- FAIL: TestManifest\/.*\// {failed++} /--- PASS: TestManifest\/.*\// {passed++}
       /--- FAIL|manifest_test.go.*(not in its text|is in its text|no reason|status:|nice to have)|^FAIL|^panic/ {print}
       END {printf "%d rows hold, %d do not\n", passed, failed; exit failed > 0}'
