#!/usr/bin/env bash
# Queries a second and the times of answers over the socket, from 1, 64 and 1,000
# connections, while files are written: Quern over JSON-RPC lines and over HTTP,
# Quern while 200 other clients read nothing, and a small bleve HTTP server where it builds.
#
#   scripts/bench-socket.sh [PASSAGES] [SECONDS]
#
# PASSAGES (default 100000) of 80 words are written into a temporary folder; every
# figure takes SECONDS (default 5). The load comes from the same machine: figures of
# two machines, or of two days, do not compare. It prints a table in Markdown.
set -euo pipefail
cd "$(dirname "$0")/.."

passages="${1:-100000}" seconds="${2:-5}"
note() { printf 'bench-socket: %s: %s\n' "$(date +%T)" "$*" >&2; }
[[ "$(uname)" == Linux ]] || { note 'memory is read from /proc: Linux only'; exit 2; }

work="$(mktemp -d "${TMPDIR:-/tmp}/quern-socket.XXXXXX")"
servers=()
finish() {
  for pid in ${servers[@]+"${servers[@]}"}; do kill "$pid" 2>/dev/null || true; done
  wait
  case "$work" in
    */quern-socket.??????) rm -r -- "$work" ;;
  esac
}
trap finish EXIT

go build -o "$work/quern" .
(cd scripts/bench && go build -o "$work/load" ./socketload)
note "writing $passages passages"
"$work/load" gen "$work/corpus" "$passages"

mkdir -m 700 "$work/run"
printf '[[folder]]\npath = "%s"\n[analysis]\nstemmer = "none"\n[rank]\nmodel = "tfidf"\n' "$work/corpus" >"$work/config.toml"
# The client verbs start no daemon: the one measured is a child of this script.
places=(env QUERN_CONFIG="$work/config.toml" QUERN_DATA="$work/data" QUERN_SOCKET="$work/run/s")
quern() { "${places[@]}" "$work/quern" --no-start "$@"; }
"${places[@]}" "$work/quern" serve 2>"$work/quern.log" &
servers+=("$!")
until [[ -S "$work/run/s" ]]; do sleep 0.1; done
note "quern indexes"
quern status --wait >/dev/null
pid="${servers[0]}"
load() { "$work/load" run -pid "$pid" -seconds "$seconds" -edit "$work/corpus" -passages "$passages" "$@"; }

printf '| server | connections | queries/s | p50 ms | p99 ms | errors | MiB after |\n|---|---|---|---|---|---|---|\n'
load -name 'quern, lines' "$work/run/s"
load -name 'quern, HTTP' -proto http "$work/run/s"
load -name 'quern, lines, 200 clients that read nothing' -stalled 200 "$work/run/s"
kill "${servers[0]}"
wait "${servers[0]}" || true
servers=()

if ! (cd scripts/bench/bleve && go build -o "$work/bleve" .); then
  note 'bleve does not build here: left out'
  exit 0
fi
note "bleve indexes"
"$work/bleve" "$work/corpus" "$work/bleve.index" "$work/run/b" >"$work/bleve.log" 2>&1 &
servers+=("$!")
until grep -q ready "$work/bleve.log"; do
  kill -0 "${servers[0]}" 2>/dev/null || { note "bleve ended: $(tail -n 1 "$work/bleve.log")"; exit 1; }
  sleep 0.2
done
pid="${servers[0]}"
"$work/load" run -pid "$pid" -seconds "$seconds" -name 'bleve, HTTP' -proto http "$work/run/b"
