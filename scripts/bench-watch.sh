#!/usr/bin/env bash
# How well changes are followed: Quern beside Recoll's and Tracker's monitors, and
# Quern alone on a large tree.
#
#   scripts/bench-watch.sh [peers|latency|large …]   (default: all three)
#
# peers: a daemon on an empty folder. A file is saved and asked for until it is
# found (the median of ROUNDS; 5); the daemon is stopped (SIGSTOP), FILES (20,000)
# files are written, and it goes on: how many of them it ends with, and after how
# long it stood still; a folder of 300 files is renamed: CPU time until all is found
# under the new name. (What a kill -9 half-way costs: scripts/bench-desktop.sh.)
# latency: Quern; save to searchable, asked over the socket without sync, idle
# and while 10,000 files are being indexed.
# large: Quern; DIRS (100,000) directories and LARGE (300,000) files: the first start,
# restarts with cold (where the caches may be dropped) and warm caches and nothing
# changed, memory, and CPU time of an idle minute.
#
# Tables go to standard output, what happens meanwhile to standard error. Peers come
# from Debian's packages recollcmd, tracker-miner-fs and tracker; one that is missing is
# left out with a message. All state is in a new directory below WORK (/var/tmp):
# Tracker passes over what is below the temporary directory.
set -euo pipefail
cd "$(dirname "$0")/.."

die() { printf 'bench-watch: %s\n' "$*" >&2; exit 2; }
note() { printf 'bench-watch: %s\n' "$*" >&2; }
[[ "$(uname)" == Linux ]] || die 'processes are read from /proc: Linux only'

files="${FILES:-20000}" rounds="${ROUNDS:-5}" dirs="${DIRS:-100000}" large="${LARGE:-300000}"
work="$(mktemp -d "${WORK:-/var/tmp}/quern-bench.XXXXXX")"
started=() # process groups of ours that still run
finish() {
  for pid in ${started[@]+"${started[@]}"}; do kill -CONT -- "-$pid" 2>/dev/null && kill -KILL -- "-$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  case "$work" in
    */quern-bench.??????) rm -r -- "$work" ;;
  esac
}
trap finish EXIT

go build -o "$work/quern" .
(cd scripts/bench && go build -o "$work/watch" ./watch)

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN {printf "%.2f", b - a}'; }
value() { sed -n "s/^$2=//p" <<<"$1"; }

# contained DIR PROGRAM [ARG…] runs with the places of DIR only.
contained() {
  local dir="$1"
  shift
  env -i PATH="$PATH" LANG=C.UTF-8 HOME="$dir/home" TMPDIR="$dir/tmp" XDG_RUNTIME_DIR="$dir/run" \
    XDG_CONFIG_HOME="$dir/config" XDG_CACHE_HOME="$dir/cache" XDG_DATA_HOME="$dir/data" \
    GSETTINGS_BACKEND=keyfile DBUS_SESSION_BUS_ADDRESS="unix:path=$dir/run/bus" "$@"
}

places() {
  mkdir -p "$1"/{home,tmp,run,config,cache,data,folder}
  chmod 700 "$1/run"
}

# launch DIR PROGRAM [ARG…] starts a process group and sets $group.
launch() {
  set -m
  contained "$@" >>"$1/log" 2>&1 &
  group=$!
  set +m
  started+=("$group")
}

# halt ends the group, kindly at first.
halt() {
  kill -TERM -- "-$1" 2>/dev/null || true
  for _ in $(seq 100); do kill -0 -- "-$1" 2>/dev/null || break; sleep 0.1; done
  kill -KILL -- "-$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

# cpu GROUP is the CPU time of the group so far, its ended children included, in s.
cpu() {
  cat /proc/[0-9]*/stat 2>/dev/null | sed 's/^\([0-9]*\) (.*) /\1 x /' |
    awk -v g="$1" -v hz="$(getconf CLK_TCK)" '$5 == g {n += $14 + $15 + $16 + $17} END {printf "%.2f", n / hz}'
}

# until SECONDS COMMAND… polls.
until_() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.02
  done
}

# --- Each engine has ENGINE_start DIR (sets $group; returns when idle), ENGINE_count
# DIR WORD (how many files are found) and ENGINE_found DIR WORD PATH (this one is).

quern_start() {
  printf '[[folder]]\npath = "%s"\n[daemon]\nsocket = "%s"\ndata_dir = "%s"\n' \
    "$1/folder" "$1/run/q.sock" "$1/cache/quern" >"$1/config.toml"
  launch "$1" "$work/quern" --config "$1/config.toml" serve
  until_ 60 test -S "$1/run/q.sock"
  contained "$1" "$work/quern" --config "$1/config.toml" status --wait --no-start >/dev/null
}
quern_search() {
  contained "$1" "$work/quern" --config "$1/config.toml" search --no-start --sync=false --no-text --collapse none --json -k 1 "$2" 2>/dev/null
}
quern_count() { quern_search "$1" "$2" | grep -oE '"total(_at_least)?": *[0-9]+' | grep -oE '[0-9]+' || echo 0; }
quern_found() { quern_search "$1" "$2" | grep -qF "$3"; }

recoll_start() {
  mkdir -p "$1/recoll"
  printf 'topdirs = %s\nnoaspell = 1\nloglevel = 2\n' "$1/folder" >"$1/recoll/recoll.conf"
  launch "$1" recollindex -c "$1/recoll" -m -D -x -w 0
  until_ 60 test -d "$1/recoll/xapiandb"
  sleep 10 # it does not say when it is ready
}
recoll_count() { contained "$1" recollq -c "$1/recoll" -n 1 "$2" 2>/dev/null | sed -n 's/^\([0-9]*\) results.*/\1/p' | grep . || echo 0; }
recoll_found() { contained "$1" recollq -c "$1/recoll" -n 5 "$2" 2>/dev/null | grep -qF "$3"; }

tracker_start() {
  mkdir -p "$1/config/glib-2.0/settings"
  cat >"$1/config/glib-2.0/settings/keyfile" <<END
[org/freedesktop/tracker/miner/files]
index-recursive-directories=['$1/folder']
index-single-directories=@as []
index-applications=false
initial-sleep=0
END
  launch "$1" sh -c 'dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" &
    while [ ! -S "$XDG_RUNTIME_DIR/bus" ]; do sleep 0.05; done
    /usr/libexec/tracker-miner-fs-3 --initial-sleep=0 & wait'
  until_ 60 tracker_idle "$1"
}
tracker_idle() { contained "$1" tracker3 status 2>/dev/null | grep -q 'indexing complete'; }
tracker_sparql() { contained "$1" tracker3 sparql --dbus-service org.freedesktop.Tracker3.Miner.Files -q "$2" 2>/dev/null; }
tracker_count() {
  tracker_sparql "$1" "SELECT COUNT(?f) {?f fts:match '$2'}" | tr -dc 0-9 | grep . || echo 0
}
tracker_found() { tracker_sparql "$1" "SELECT ?u {?f fts:match '$2'; nie:isStoredAs ?o . ?o nie:url ?u}" | grep -qF "$3"; }

available() {
  case "$1" in
    quern) return 0 ;;
    recoll) command -v recollindex recollq >/dev/null ;;
    tracker) [[ -x /usr/libexec/tracker-miner-fs-3 ]] && command -v tracker3 dbus-daemon >/dev/null ;;
    *) die "unknown engine $1" ;;
  esac
}

# saved ENGINE DIR is the median time from save to found, in s.
saved() {
  local i start
  for i in $(seq "$rounds"); do
    start="$(now)"
    printf 'saved%s word\n' "$i" >"$2/folder/saved$i.txt"
    until_ 120 "$1_found" "$2" "saved$i" "saved$i.txt" || { echo 999; continue; }
    since "$start"
    echo
  done | sort -n | sed -n "$(((rounds + 1) / 2))p"
}

# stopped ENGINE DIR GROUP prints how many files were found in the end, and when the
# count stood still.
stopped() {
  local start count base last=-1 still=0 at=0
  "$work/watch" -make "$2/folder/while" -dirs 100 -files 0
  sleep 10
  base="$("$1_count" "$2" refunds)"
  kill -STOP -- "-$3"
  "$work/watch" -make "$2/folder/while" -dirs 100 -files "$files"
  start="$(now)"
  kill -CONT -- "-$3"
  while ((still < 40)) && ! [[ "$last" == "$files" ]]; do
    sleep 1
    count=$(("$("$1_count" "$2" refunds)" - base))
    if [[ "$count" == "$last" ]]; then still=$((still + 1)); else last="$count" still=0 at="$(since "$start")"; fi
  done
  printf '%s of %s | %s' "$last" "$files" "$at"
}

# renamed ENGINE DIR GROUP prints the CPU and wall time of a rename of 300 files.
renamed() {
  local before start
  "$work/watch" -make "$2/folder/old" -dirs 1 -files 300
  printf 'zebra\n' >"$2/folder/old/last.txt"
  until_ 120 "$1_found" "$2" zebra old/last.txt || { printf 'not found | -'; return; }
  sleep 15
  before="$(cpu "$3")" start="$(now)"
  mv "$2/folder/old" "$2/folder/new"
  if until_ 120 "$1_found" "$2" zebra new/last.txt; then
    local wall
    wall="$(since "$start")"
    sleep 5
    awk -v a="$before" -v b="$(cpu "$3")" -v w="$wall" 'BEGIN {printf "%.2f | %.2f", b - a, w}'
  else
    printf 'not found within 120 s | -'
  fi
}

peers() {
  printf '| engine | save to found s | found of those written while stopped | after s | rename: CPU s | wall s |\n|---|---|---|---|---|---|\n'
  for engine in ${ENGINES:-quern recoll tracker}; do
    available "$engine" || { note "$engine is not installed: left out"; continue; }
    note "$engine"
    local dir="$work/of-$engine"
    places "$dir"
    "${engine}_start" "$dir" || { note "$engine does not start: left out"; continue; }
    local save move lost
    save="$(saved "$engine" "$dir")"
    move="$(renamed "$engine" "$dir" "$group")"
    lost="$(stopped "$engine" "$dir" "$group")"
    printf '| %s | %s | %s | %s |\n' "$engine" "$save" "$lost" "$move"
    halt "$group"
  done
  printf '\n'
}

latency() {
  local dir="$work/latency" out
  places "$dir"
  quern_start "$dir"
  printf '| save to searchable, ms | saves | p50 | p99 | longest |\n|---|---|---|---|---|\n'
  note 'latency, idle'
  out="$("$work/watch" -latency "$dir/run/q.sock" -in "$dir/folder" -n 300)"
  printf '| idle | %s | %s | %s | %s |\n' "$(value "$out" n)" "$(value "$out" p50)" "$(value "$out" p99)" "$(value "$out" max)"
  note 'latency, busy'
  "$work/watch" -make "$dir/staged" -dirs 100 -files 10000
  mv "$dir/staged" "$dir/folder/many"
  out="$("$work/watch" -latency "$dir/run/q.sock" -in "$dir/folder" -n 10000 -busy)"
  printf '| while 10,000 files are indexed | %s | %s | %s | %s |\n\n' "$(value "$out" n)" "$(value "$out" p50)" "$(value "$out" p99)" "$(value "$out" max)"
  halt "$group"
}

resident() { awk '/^VmRSS|^RssAnon/ {printf "%s %.0f MiB ", tolower($1), $2 / 1024}' "/proc/$(pgrep -n -g "$1" -x quern)/status"; }

# ready DIR prints the time until the daemon has looked at everything.
ready() {
  local start
  start="$(now)"
  quern_start "$1" >/dev/null
  since "$start" >"$1/took"
}

large() {
  local dir="$work/large" before
  places "$dir"
  note "large: making $dirs directories and $large files"
  "$work/watch" -make "$dir/folder" -dirs "$dirs" -files "$large"
  printf '| %s directories, %s files | s | memory |\n|---|---|---|\n' "$dirs" "$large"
  note 'large: the first index'
  ready "$dir"
  printf '| first index | %s | %s |\n' "$(<"$dir/took")" "$(resident "$group")"
  sleep 60
  halt "$group"
  if { sync && echo 3 >/proc/sys/vm/drop_caches; } 2>/dev/null; then
    ready "$dir"
    printf '| restart, cold | %s | %s |\n' "$(<"$dir/took")" "$(resident "$group")"
    halt "$group"
  fi
  ready "$dir"
  printf '| restart, warm | %s | %s |\n' "$(<"$dir/took")" "$(resident "$group")"
  sleep 30
  before="$(cpu "$group")"
  sleep 60
  awk -v a="$before" -v b="$(cpu "$group")" -v m="$(resident "$group")" 'BEGIN {printf "| CPU time of an idle minute | %.2f | %s |\n", b - a, m}'
  halt "$group"
}

(($#)) || set -- peers latency large
printf 'load average %s\n\n' "$(cut -d' ' -f1 /proc/loadavg)"
for part; do
  case "$part" in
    peers | latency | large) "$part" ;;
    *) die "unknown part $part" ;;
  esac
done
