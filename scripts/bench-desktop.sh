#!/usr/bin/env bash
# Quern beside the desktop's own indexers, Recoll and Tracker, one after the other
# on the same folder of text files:
#
#   scripts/bench-desktop.sh FOLDER
#
# Of each: the first index (wall clock, CPU time, peak memory of all its
# processes), the index's size, a query from the command line, and what a kill -9
# half-way costs: the time from the restart until all is searchable.
# Peers give themselves the least priority; that is undone where it may be, or their
# wall clock on a busy machine would be that of their neighbours.
# The table goes to standard output, what happens meanwhile to standard error.
#
#   QUERY     the words to look for (default: memory allocation)
#   ENGINES   which to run (default: quern recoll tracker)
#   REPEAT    how often a query is timed (default: 15)
#   LIMIT     how long to wait for all to be searchable after the kill (default: 5m)
#
# Peers come from Debian's packages recollcmd, tracker-miner-fs and tracker; one
# that is missing is left out with a message. All state is in a new temporary
# directory: neither the caller's home nor a running daemon is touched.
set -euo pipefail
cd "$(dirname "$0")/.."

die() { printf 'bench-desktop: %s\n' "$*" >&2; exit 2; }
note() { printf 'bench-desktop: %s\n' "$*" >&2; }

(($# == 1)) || die 'usage: scripts/bench-desktop.sh FOLDER'
folder="$(realpath -- "$1")"
[[ -d "$folder" ]] || die "$folder is no folder"
[[ "$(uname)" == Linux ]] || die 'memory is read from /proc: Linux only'
query="${QUERY:-memory allocation}"
repeat="${REPEAT:-15}" limit="${LIMIT:-5m}"
files="$(find "$folder" -type f -size +0 | wc -l)"
bytes="$(find "$folder" -type f -printf '%s\n' | awk '{n += $1} END {print n + 0}')"

work="$(mktemp -d "${TMPDIR:-/tmp}/quern-bench.XXXXXX")"
started=() # processes of ours that still run
finish() {
  local code=$?
  if ((code)); then
    note 'it failed; the last words of the engines were:'
    tail -n 5 "$work"/*/log >&2 2>/dev/null || true
  fi
  for pid in ${started[@]+"${started[@]}"}; do "$work/measure" -stop "$pid" || true; done
  case "$work" in
    */quern-bench.??????) rm -r -- "$work" ;;
  esac
}
trap finish EXIT

go build -o "$work/quern" .
(cd scripts/bench && go build -o "$work/measure" ./measure)

# A program sees these places only, and nothing of the caller's environment.
# Tracker leaves out what is below the temporary directory, so that is elsewhere.
# contained DIR PROGRAM [ARG…]
contained() {
  local dir="$1"
  shift
  env -i PATH="$PATH" LANG=C.UTF-8 HOME="$dir/home" TMPDIR="$dir/tmp" XDG_RUNTIME_DIR="$dir/run" \
    XDG_CONFIG_HOME="$dir/config" XDG_CACHE_HOME="$dir/cache" XDG_DATA_HOME="$dir/data" \
    GSETTINGS_BACKEND=keyfile DBUS_SESSION_BUS_ADDRESS="unix:path=$dir/run/bus" "$@"
}

# places DIR makes the directories that contained names.
places() {
  mkdir -p "$1"/{home,tmp,run,config,cache,data}
  chmod 700 "$1/run"
}

value() { sed -n "s/^$2=//p" "$1"; } # value FILE NAME: a figure that measure wrote
size() { du -sb --apparent-size -- "$@" | awk '{n += $1} END {printf "%.1f", n / 1e6}'; }

# --- Each engine has: ENGINE_prepare DIR; ENGINE_index OUT DIR [FLAG…] (measures
# until all is searchable; leaves the daemon running, if there is one);
# ENGINE_query DIR (a command line, one word a line); ENGINE_hits DIR;
# ENGINE_stop DIR; ENGINE_files DIR (what makes the index).

quern_prepare() {
  places "$1"
  printf '[[folder]]\npath = "%s"\n[daemon]\nsocket = "%s"\ndata_dir = "%s"\n' \
    "$folder" "$1/run/quern.sock" "$1/cache/quern" >"$1/config.toml"
}
quern_index() {
  local out="$1" dir="$2"
  shift 2
  contained "$dir" "$work/measure" -level -out "$out" -keep -poll 10ms "$@" \
    -until "$work/quern --config $dir/config.toml status --wait --no-start >/dev/null 2>&1" \
    -- "$work/quern" --config "$dir/config.toml" serve 2>>"$dir/log"
}
quern_query() { printf '%s\n' "$work/quern" --config "$1/config.toml" search -k 10 "$query"; }
quern_hits() {
  contained "$1" "$work/quern" --config "$1/config.toml" search --no-text --collapse none --json -k 1 "$query" |
    grep -oE '"total[a-z_]*": *[0-9]+' | grep -oE '[0-9]+' | head -n 1
}
quern_stop() {
  contained "$1" "$work/quern" --config "$1/config.toml" stop >/dev/null
  while kill -0 "$(<"$1/pid")" 2>/dev/null; do sleep 0.02; done # it answers before it has written all
}
quern_files() { printf '%s\n' "$1/cache/quern"; }

recoll_prepare() {
  places "$1"
  mkdir "$1/recoll"
  # No dictionary for spelling, as the others make none.
  printf 'topdirs = "%s"\nnoaspell = 1\nloglevel = 2\n' "$folder" >"$1/recoll/recoll.conf"
}
recoll_index() {
  local out="$1" dir="$2"
  shift 2
  contained "$dir" "$work/measure" -level -out "$out" "$@" -- recollindex -c "$dir/recoll" 2>>"$dir/log"
}
recoll_query() { printf '%s\n' recollq -c "$1/recoll" -n 10 "$query"; }
recoll_hits() { contained "$1" recollq -c "$1/recoll" -n 1 "$query" | sed -n 's/^\([0-9]*\) results.*/\1/p'; }
recoll_stop() { :; }
recoll_files() { printf '%s\n' "$1/recoll/xapiandb"; }

tracker_prepare() {
  places "$1"
  mkdir -p "$1/config/glib-2.0/settings"
  cat >"$1/config/glib-2.0/settings/keyfile" <<EOF
[org/freedesktop/tracker/miner/files]
index-recursive-directories=['$folder']
index-single-directories=@as []
index-applications=false
initial-sleep=0
EOF
  cat >"$1/serve" <<'EOF'
#!/bin/sh
# A bus of its own, and the miner on it; the bus starts the extractor.
rm -f "$XDG_RUNTIME_DIR/bus"
dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" &
while [ ! -S "$XDG_RUNTIME_DIR/bus" ]; do sleep 0.01; done
/usr/libexec/tracker-miner-fs-3 --initial-sleep=0 &
wait
EOF
  # Ready: the miner is idle, and the extractor has come to the end of what it found.
  cat >"$1/ready" <<EOF
#!/bin/sh
count() { tracker3 sparql --dbus-service org.freedesktop.Tracker3.Miner.Files -q "SELECT COUNT(?f) {?f \$1}" | tr -dc 0-9; }
tracker3 status 2>/dev/null | grep -q 'indexing complete' || exit 1
found=\$(count 'a nfo:PlainTextDocument') || exit 1
text=\$(count 'nie:plainTextContent ?t') || exit 1
[ "\$text" -ge "\$found" ] && [ "\$((text * 100))" -ge "\$(($files * 99))" ]
EOF
  chmod +x "$1/serve" "$1/ready"
}
tracker_index() {
  local out="$1" dir="$2"
  shift 2
  contained "$dir" "$work/measure" -level -out "$out" -keep -poll 250ms "$@" -until "$dir/ready" -- "$dir/serve" >>"$dir/log" 2>&1
}
tracker_query() { printf '%s\n' tracker3 search --limit=10 "$query"; }
tracker_hits() { contained "$1" tracker3 search --limit=1000000 "$query" | grep -c 'file://' || true; }
tracker_stop() { "$work/measure" -stop "$(<"$1/pid")"; }
tracker_files() { printf '%s\n' "$1/cache/tracker3"; }

# --- The run.

available() {
  case "$1" in
    quern) return 0 ;;
    recoll) command -v recollindex recollq >/dev/null ;;
    tracker) [[ -x /usr/libexec/tracker-miner-fs-3 ]] && command -v tracker3 dbus-daemon >/dev/null ;;
    *) die "unknown engine $1" ;;
  esac
}

# index ENGINE OUT DIR [FLAG…] measures; a daemon that is left running is noted.
index() {
  local engine="$1" out="$2" dir="$3"
  shift 3
  "${engine}_index" "$out" "$dir" "$@" || return 1
  value "$out" pid >"$dir/pid"
  [[ "$(value "$out" status)" == ready ]] || return 0
  started+=("$(value "$out" pid)")
}

# row ENGINE writes the engine's line of the table.
row() {
  local engine="$1" dir="$work/$1.first" again="$work/$1.killed" command half
  "${engine}_prepare" "$dir"
  index "$engine" "$dir/first" "$dir"
  mapfile -t command < <("${engine}_query" "$dir")
  contained "$dir" "$work/measure" -repeat "$repeat" -out "$dir/query" -- "${command[@]}" >/dev/null 2>>"$dir/log"
  local hits
  hits="$("${engine}_hits" "$dir")"
  "${engine}_stop" "$dir"
  mapfile -t made < <("${engine}_files" "$dir")
  local disk
  disk="$(size "${made[@]}")"

  "${engine}_prepare" "$again"
  half="$(awk -v w="$(value "$dir/first" wall)" 'BEGIN {printf "%.2f", w / 2}')"
  index "$engine" "$again/killed" "$again" -kill "${half}s"
  local after restart=- cpu=-
  if index "$engine" "$again/restart" "$again" -limit "$limit"; then
    restart="$(value "$again/restart" wall)" cpu="$(value "$again/restart" cpu)"
    after="$("${engine}_hits" "$again")"
    "${engine}_stop" "$again"
    [[ "$after" == "$hits" ]] || after="$after (!)"
  else
    after="not all within $limit (!)"
  fi
  started=()
  printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s / %s |\n' "$engine" \
    "$(value "$dir/first" wall)" "$(value "$dir/first" cpu)" "$(value "$dir/first" rss)" "$(value "$dir/first" anon)" \
    "$disk" "$(value "$dir/query" median)" "$half" \
    "$restart" "$cpu" "$hits" "$after"
}

printf '%s files, %s MB; query: %s; load average %s\n\n' "$files" \
  "$(awk -v n="$bytes" 'BEGIN {printf "%.1f", n / 1e6}')" "$query" "$(cut -d' ' -f1 /proc/loadavg)"
printf '| engine | first index s | CPU s | peak RSS MiB | of it anonymous | index MB | query ms | killed after s | restart s | CPU s | hits before / after |\n'
printf '|---|---|---|---|---|---|---|---|---|---|---|\n'
for engine in ${ENGINES:-quern recoll tracker}; do
  if ! available "$engine"; then
    note "$engine is not installed: left out"
    continue
  fi
  note "$engine"
  row "$engine"
done
