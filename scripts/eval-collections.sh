#!/usr/bin/env bash
# Measures ranking on retrieval collections and holds the figures against those
# committed in docs/ranking-figures.tsv.
#
#   scripts/eval-collections.sh DATA_DIR            fails if a figure is lower
#   scripts/eval-collections.sh DATA_DIR --record   writes the file anew
#
# DATA_DIR has a folder in BEIR's layout for each collection; those that are not
# there are left out, and with --record keep their figures. The type of a
# collection's documents is beside its name below. It needs Go and jq.
set -euo pipefail

collections="scifact:txt cosqa:py anthropic-docs:txt codebase-chunks:rs arxiv-ir-1000:txt limit-small:txt"
tolerance=0.0005

[ $# -ge 1 ] || { echo "usage: $0 DATA_DIR [--record]" >&2; exit 2; }
data=$1 mode=${2:-}
root=$(cd "$(dirname "$0")/.." && pwd)
figures=$root/docs/ranking-figures.tsv
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
(cd "$root" && go build -o "$work/quern" .)
touch "$work/config.toml"

measure() { "$work/quern" --config "$work/config.toml" eval "$@" --corpus --json --no-diagnosis; }

# ranking COLLECTION TYPE PROFILE MODELS [SETTING…]
ranking() {
    local name=$1 type=$2 profile=$3 models=$4
    shift 4
    measure "$data/$name" --corpus-type "$type" --model "$models" --sweep 1,10,100 "$@" |
        jq -r --arg c "$name" --arg p "$profile" '.models[] | . as $m |
            ["nDCG@10", .sweep[1].ndcg], ["recall@1", .sweep[0].recall], ["recall@100", .sweep[2].recall] |
            [$c, $p + " " + $m.model, .[0], .[1]] | @tsv'
}

# passages PROFILE SETTING…
passages() {
    local profile=$1
    shift
    measure "$data/chunkeval" --model bm25,best --sweep 5 --words 600 --set rank.k1=1.2 --set rank.b=0.75 "$@" |
        jq -r --arg p "$profile" '.models[] | . as $m |
            ["span recall@5", .sweep[0].recall], ["span recall in 600 words", .recall_within_words], ["tokens@5", .sweep[0].tokens] |
            ["chunkeval", $p + " " + $m.model, .[0], .[1]] | @tsv'
}

window() { echo --set chunk.strategy=window --set chunk.min_words=1 --set "chunk.max_words=$1" --set "chunk.overlap=$2"; }

all() {
    local reference="--set analysis.tokenizer=plain --set analysis.stopwords=english --set analysis.stemmer=english --set rank.k1=1.2 --set rank.b=0.75"
    for c in $collections; do
        [ -d "$data/${c%:*}" ] || continue
        # shellcheck disable=SC2086 # settings are words
        ranking "${c%:*}" txt reference tfidf,bm25 $reference
        ranking "${c%:*}" "${c#*:}" default tfidf,bm25,best,hybrid
    done
    [ -d "$data/chunkeval" ] || return 0
    # shellcheck disable=SC2046
    {
        passages "window 60/20" $(window 60 20)
        passages "window 120/30" $(window 120 30)
        passages "window 120/40" $(window 120 40)
        passages "window 200/50" $(window 200 50)
        passages "paragraph" --set chunk.strategy=paragraph
        passages "auto" --set chunk.strategy=auto
    }
}

all | awk -F'\t' -v OFS='\t' '{ $4 = sprintf($3 == "tokens@5" ? "%.0f" : "%.4f", $4); print }' >"$work/now.tsv"
cat "$work/now.tsv"
[ -s "$work/now.tsv" ] || { echo "$0: no collection in $data" >&2; exit 1; }

if [ "$mode" = --record ]; then
    [ -f "$figures" ] || touch "$figures"
    awk -F'\t' -v OFS='\t' 'FNR == NR { seen[$1 FS $2 FS $3] = 1; print; next } FNR > 1 && !seen[$1 FS $2 FS $3]' \
        "$work/now.tsv" "$figures" | { printf 'collection\tprofile and model\tfigure\tvalue\n'; LC_ALL=C sort; } >"$work/new.tsv"
    cp "$work/new.tsv" "$figures"
    exit
fi

awk -F'\t' -v slack=$tolerance '
    FNR == NR { before[$1 FS $2 FS $3] = $4; next }
    $3 == "tokens@5" { next }
    !($1 FS $2 FS $3 in before) { print "not committed: " $0; bad = 1; next }
    $4 < before[$1 FS $2 FS $3] - slack { print "lower: " $0 ", was " before[$1 FS $2 FS $3]; bad = 1 }
    END { exit bad }' "$figures" "$work/now.tsv" >&2 || {
    echo "$0: a figure is lower, or new: mend it, or say so with --record" >&2
    exit 1
}
