#!/usr/bin/env bash
# Quern's engine beside other engines, one after the other on the same passages,
# and one table of what each costs:
#
#   scripts/bench-engine.sh CORPUS QUERIES [N…]
#
# CORPUS has a passage a line, QUERIES a query a line. Each N is a number of
# passages to take (default: 10000 100000 1000000), in runs of 20 that lie evenly
# over CORPUS: a smaller part has the mixture of the whole.
#
#   PEERS     a folder that holds built peers, see below; without it, Quern alone
#   ENGINES   which to run (default: quern naive lucene bleve xapian fts5)
#   OUT       a folder that keeps every engine's own words (default: a temporary one)
#
# A peer is a program that reads corpus.txt and queries.txt in its working directory
# and keeps its index below ix/ there:
#   naive/naive                          builds in memory, answers the queries
#   lucene/LB.class build|query|update   Lucene 8.7 (its jars in /usr/share/java)
#   bleve/blevebench, xapian/xb          build|query|update
#   fts5/build.sh full; fts5/q.py full query|update
#
# CPU time and peak memory are measured from outside, alike for all. Figures of two
# runs do not compare on a machine that others use: take the ratios.
set -euo pipefail
cd "$(dirname "$0")/.."

die() { printf 'bench-engine: %s\n' "$*" >&2; exit 2; }
note() { printf 'bench-engine: %s: %s\n' "$(date +%T)" "$*" >&2; }

(($# >= 2)) || die 'usage: scripts/bench-engine.sh CORPUS QUERIES [N…]'
[[ "$(uname)" == Linux ]] || die 'memory is read from /proc: Linux only'
corpus="$(realpath -- "$1")" queries="$(realpath -- "$2")"
shift 2
(($#)) || set -- 10000 100000 1000000
total="$(wc -l <"$corpus")"
peers="${PEERS:+$(realpath -- "$PEERS")}"

work="$(mktemp -d "${TMPDIR:-/tmp}/quern-bench.XXXXXX")"
finish() {
  case "$work" in
    */quern-bench.??????) rm -r -- "$work" ;;
  esac
}
trap finish EXIT
out="${OUT:-$work/out}"
mkdir -p "$out"
out="$(realpath -- "$out")"

(cd scripts/bench && go build -o "$work/measure" ./measure)
java=(java -Xmx1g -cp "/usr/share/java/lucene-core-8.7.0.jar:/usr/share/java/lucene-analyzers-common-8.7.0.jar:$peers/lucene" LB)

# step NAME PROGRAM [ARG…] runs one step; its words go to $log.NAME, what it costs
# to $log.NAME.cost. The working directory is $at, that of the passages.
step() {
  local name="$1"
  shift
  note "$engine, $n passages: $name"
  (cd "$at" && "$work/measure" -limit 3h -out "$log.$name.cost" -- "$@") >"$log.$name" 2>&1
}

# group N FILE PATTERN prints the first text that the extended regular expression
# catches as its group N; number FILE PATTERN that of its first group.
group() { sed -nE "s#.*$3.*#\\$1#p" "$2" 2>/dev/null | head -n 1; }
number() { group 1 "$@"; }
cost() { sed -n "s/^$2=//p" "$log.$1.cost"; } # cost STEP NAME
disk() { du -sb --apparent-size -- "$@" | awk '{n += $1} END {printf "%.1f", n / 1e6}'; }
rate() { awk -v n="$n" -v s="$1" 'BEGIN {printf "%.0f", n / s}'; }
micro() { [[ -n "$1" ]] && awk -v us="$1" 'BEGIN {printf "%.3g", us / 1000}'; } # µs → ms

# fact NAME VALUE notes a figure of the engine for the table.
fact() { printf '%s\t%s\t%s\n' "$engine" "$1" "${2:--}" >>"$facts"; }

# percentiles STEP PREFIX: the p50 and p99 of all runs, as the peers write them,
# and the p99 of each query's best, which other programs disturb less.
percentiles() {
  local l="$log.$1" all='all( runs)? p50 ([0-9.]+)( p99 ([0-9.]+))?'
  fact "$2 p50 ms" "$(micro "$(group 2 "$l" "$all")")"
  fact "$2 p99 ms" "$(micro "$(group 4 "$l" "$all")")"
  local best='best-of-[0-9](: | us )p50 ([0-9.]+).* p99 ([0-9.]+)(us)? .*all'
  fact "$2, best of 5, p50 ms" "$(micro "$(group 2 "$l" "$best")")"
  fact "$2, best of 5, p99 ms" "$(micro "$(group 3 "$l" "$best")")"
}

run_quern() {
  go test -c -o "$work/quern.test" ./index
  step run "$work/quern.test" -test.run '^TestMacro$' -test.timeout 3h -test.v \
    -macro "$at/corpus.txt" -queries "$queries" -passages "$n"
  local l="$log.run" ms='ms p50 ([0-9.]+) p99' ms99='ms p50 [0-9.]+ p99 ([0-9.]+)'
  local used more
  used="$(number "$l" 'wall [0-9.]+ s, cpu ([0-9.]+) s: ')"
  more="$(number "$l" 'merging and refining [0-9.]+ s, cpu ([0-9.]+)')"
  fact 'build, passages a CPU s' "$(rate "$(awk -v a="$used" -v b="$more" 'BEGIN {print a + b}')")"
  fact 'build peak anonymous MiB' "$(number "$l" 'peak anonymous memory ([0-9]+) MB' | awk '{printf "%.0f", $1 / 1.024 / 1.024}')"
  fact 'peak RSS MiB' "$(cost run rss)"
  fact 'idle anonymous MiB, the whole process' "$(number "$l" 'without an index \(([0-9.]+) in all' | awk '{printf "%.1f", $1 / 1.024 / 1.024}')"
  fact 'disk MB' "$(number "$l" 'on disk ([0-9.]+) MB')"
  fact 'disk, of the text' "$(number "$l" 'MB, ([0-9.]+) of the text')"
  fact 'update of 20 passages, searchable, p50 ms' "$(number "$l" "replace a file.*$ms")"
  fact 'update of 20 passages, searchable, p99 ms' "$(number "$l" "replace a file.*$ms99")"
  fact 'edit of one passage, searchable, p50 ms' "$(number "$l" "edit one.*$ms")"
  fact 'edit of one passage, searchable, p99 ms' "$(number "$l" "edit one.*$ms99")"
  fact 'CPU of one such change ms' "$(number "$l" 'replaced and edited: cpu ([0-9.]+)')"
  fact 'commit of 400 changes ms' "$(number "$l" "commit of all.*$ms")"
  local model figures
  for model in tf-idf bm25; do
    figures="after building: $model µs p10 [0-9]+ p50 ([0-9]+) p90 [0-9]+ p99 ([0-9]+); best of [0-9]+ p50 ([0-9]+) p99 ([0-9]+)"
    fact "query $model p50 ms" "$(micro "$(group 1 "$l" "$figures")")"
    fact "query $model p99 ms" "$(micro "$(group 2 "$l" "$figures")")"
    fact "query $model, best of 5, p50 ms" "$(micro "$(group 3 "$l" "$figures")")"
    fact "query $model, best of 5, p99 ms" "$(micro "$(group 4 "$l" "$figures")")"
    figures="${figures/building/opening}"
    fact "query $model by all cores, best of 5, p50 ms" "$(micro "$(group 3 "$l" "$figures")")"
    fact "query $model by all cores, best of 5, p99 ms" "$(micro "$(group 4 "$l" "$figures")")"
  done
  fact 'open ms' "$(grep -oE ' open [0-9.]+ ms' "$l" | awk '{print $2}' | sort -g | sed -n 2p)"
}

run_naive() {
  step run "$peers/naive/naive" -in corpus.txt -q queries.txt
  fact 'build, passages a CPU s' "$(number "$log.run" ' ([0-9]+) docs/s')"
  fact 'peak RSS MiB' "$(cost run rss)"
  fact 'build peak anonymous MiB' "$(cost run anon)"
  percentiles run 'query tf-idf'
}

# durable NAME: the three steps that the peers with an index on disk have.
durable() {
  local program=("${@:2}")
  mkdir -p "$at/ix"
  step build "${program[@]}" build
  fact 'build, passages a CPU s' "$(rate "$(cost build cpu)")"
  fact 'peak RSS MiB' "$(cost build rss)"
  fact 'build peak anonymous MiB' "$(cost build anon)"
  fact 'disk MB' "$(disk "$at/ix/$1")"
  fact 'disk, of the text' "$(awk -v a="$(disk "$at/ix/$1")" -v b="$(disk "$at/corpus.txt")" 'BEGIN {printf "%.3f", a / b}')"
  step query "${program[@]}" query
  percentiles query 'query bm25'
  fact 'open ms' "$(number "$log.query" 'open ms ([0-9.]+)' | awk '{printf "%.3g", $1}')"
  step update "${program[@]}" update
}

run_lucene() {
  durable lucene "${java[@]}"
  fact 'update of a passage, searchable, p50 ms' "$(micro "$(number "$log.update" 'visible us p50 ([0-9]+)')")"
  fact 'update of a passage, searchable, p99 ms' "$(micro "$(number "$log.update" 'visible us p50 [0-9]+ p99 ([0-9]+)')")"
  fact 'update of a passage, durable, p50 ms' "$(micro "$(number "$log.update" 'commit us p50 ([0-9]+)')")"
  fact 'update of a passage, durable, p99 ms' "$(micro "$(number "$log.update" 'commit us p50 [0-9]+ p99 ([0-9]+)')")"
  step classic env SCORING=tfidf "${java[@]}" query
  percentiles classic 'query tf-idf'
}

# updates NAME: the updates of those that make no difference between searchable
# and durable.
updates() {
  for kind in searchable durable; do
    fact "update of a passage, $kind, p50 ms" "$(micro "$(number "$log.update" 'us p50 ([0-9]+)')")"
    fact "update of a passage, $kind, p99 ms" "$(micro "$(number "$log.update" 'us p50 .*p99 ([0-9]+)')")"
  done
}

run_bleve() { durable bleve "$peers/bleve/blevebench" && updates; }
run_xapian() { durable xapian "$peers/xapian/xb" && updates; }

run_fts5() {
  printf '#!/bin/sh\n[ "$1" = build ] && exec bash "%s/build.sh" full\nexec python3 "%s/q.py" full "$1"\n' \
    "$peers/fts5" "$peers/fts5" >"$work/fts5"
  chmod +x "$work/fts5"
  durable fts5-full.db "$work/fts5"
  updates
}

present() {
  case "$1" in
    quern) return 0 ;;
    naive) [[ -x "$peers/naive/naive" ]] ;;
    lucene) [[ -f "$peers/lucene/LB.class" ]] && command -v java >/dev/null ;;
    bleve) [[ -x "$peers/bleve/blevebench" ]] ;;
    xapian) [[ -x "$peers/xapian/xb" ]] ;;
    fts5) [[ -f "$peers/fts5/q.py" ]] && command -v sqlite3 >/dev/null ;;
    *) die "unknown engine $1" ;;
  esac
}

# table writes the facts: a line a figure, a column an engine, and after each of
# the others' figures how many times Quern's it is.
table() {
  awk -F'\t' '
    !($1 in engine) { engine[$1]; order[++engines] = $1 }
    !($2 in name) { name[$2]; names[++lines] = $2 }
    { value[$1, $2] = $3 }
    END {
      head = "| |"; rule = "|---|"
      for (i = 1; i <= engines; i++) { head = head " " order[i] " |"; rule = rule "---|" }
      print head; print rule
      for (j = 1; j <= lines; j++) {
        row = "| " names[j] " |"; mine = value["quern", names[j]]
        for (i = 1; i <= engines; i++) {
          v = value[order[i], names[j]]
          if (v == "") v = "-"
          else if (order[i] != "quern" && mine + 0 > 0 && v + 0 > 0) { r = v / mine; v = sprintf(r < 10 ? "%s (×%.2g)" : "%s (×%.0f)", v, r) }
          row = row " " v " |"
        }
        print row
      }
    }' "$facts"
}

# growth FILE… writes Quern's figures at each number of passages side by side.
growth() {
  awk -F'\t' '
    FNR == 1 { n = FILENAME; sub(/.*\//, "", n); sub(/[.]facts$/, "", n); sizes[++columns] = n }
    $1 == "quern" { if (!($2 in name)) { name[$2]; names[++lines] = $2 } value[n, $2] = $3 }
    END {
      head = "| quern, passages |"; rule = "|---|"
      for (i = 1; i <= columns; i++) { head = head " " sizes[i] " |"; rule = rule "---|" }
      print head; print rule
      for (j = 1; j <= lines; j++) {
        row = "| " names[j] " |"
        for (i = 1; i <= columns; i++) row = row " " value[sizes[i], names[j]] " |"
        print row
      }
    }' "$@"
}

sizes=()
for n in "$@"; do
  at="$work/$n"
  mkdir "$at"
  awk -v n="$n" -v total="$total" -v run=20 '
    BEGIN { step = total > n ? total / n : 1 }
    { block = int((NR - 1) / run) }
    (block == 0 || int(block / step) > int((block - 1) / step)) && taken < n { print; taken++ }
  ' "$corpus" >"$at/corpus.txt"
  cp "$queries" "$at/queries.txt"
  facts="$out/$n.facts"
  sizes+=("$facts")
  : >"$facts"
  lines="$(wc -l <"$at/corpus.txt")"
  ((lines == n)) || note "the corpus has only $lines of $n passages"
  n="$lines"
  printf '\n%s passages, %s MB of text; load average %s\n\n' "$n" "$(disk "$at/corpus.txt")" "$(cut -d' ' -f1 /proc/loadavg)"
  for engine in ${ENGINES:-quern naive lucene bleve xapian fts5}; do
    log="$out/$n.$engine"
    if [[ "$engine" != quern && -z "$peers" ]] || ! present "$engine"; then
      [[ -z "$peers" ]] || note "$engine is not there: left out"
      continue
    fi
    set +e
    (set -e; "run_$engine")
    code=$?
    set -e
    ((code == 0)) || { note "$engine failed; its last words:"; tail -n 5 "$log".* >&2; }
  done
  table
  find "$at" -mindepth 1 -delete
done
if ((${#sizes[@]} > 1)); then
  printf '\nGrowth\n\n'
  growth "${sizes[@]}"
fi
