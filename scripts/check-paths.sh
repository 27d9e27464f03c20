#!/usr/bin/env bash
# Fails when a tracked file names a place that exists on one machine only: a
# person's home directory, the directory of this checkout. Examples use ~ or /home/u.
set -euo pipefail
cd "$(dirname "$0")/.."

guard='(^|[^[:alnum:]_.~/-])' # before a path that begins there
pattern="$guard(/home/[a-z][a-z0-9_-]*/|/Users/[A-Za-z][A-Za-z0-9_-]*/|/root/|[A-Z]:[\\\\/]+Users[\\\\/]+[A-Za-z]+)"
example='[/\\](u|user|you|me|alice|bob)/?$' # the names that examples use

found="$(git grep -nIoE "$pattern" -- . ':!scripts/check-paths.sh' | grep -vE "$example" || true)"
found+="$(git grep -nIF "$PWD/" -- . || true)"
if [[ -n "$found" ]]; then
  printf 'check-paths: these lines name paths of one machine (write ~ or /home/u):\n%s\n' "$found" >&2
  exit 1
fi
