#!/usr/bin/env bash
# Runs every fuzz target of the module, each for the given number of seconds
# (default 5):
#
#   scripts/fuzz.sh [SECONDS]
#
# A failing input is written to the package's testdata/fuzz and fails the run,
# after all targets have had their time. No target at all is no failure.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-5}"
if ! [[ "$seconds" =~ ^[1-9][0-9]*$ ]]; then
  printf 'fuzz: seconds must be a whole number above 0, not %q\n' "$seconds" >&2
  exit 2
fi

# Listing targets means building a test binary: only for the packages whose test
# files have any.
sources="$(go list -f '{{range .TestGoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' ./...)"
dirs="$(while IFS= read -r file; do
  if [[ -n "$file" ]] && grep -q '^func Fuzz' "$file"; then dirname "$file"; fi
done <<<"$sources" | sort -u)"

targets=()
while IFS= read -r dir; do
  [[ -n "$dir" ]] || continue
  listed="$(go test -list '^Fuzz' "$dir")"
  while IFS= read -r target; do
    if [[ "$target" == Fuzz* ]]; then targets+=("./${dir#"$PWD"/} $target"); fi
  done <<<"$listed"
done <<<"$dirs"
printf 'fuzz: %d targets, %s seconds each\n' "${#targets[@]}" "$seconds"

output="$(mktemp)"
trap 'rm -f "$output"' EXIT

# The go command at times reports the end of the time itself as a failure, with no
# failing input: that is none.
fuzz() {
  # Inputs that are merely interesting are not made smaller: that would take the
  # time of finding others.
  go test -run '^$' -fuzz "^$2\$" -fuzztime "${seconds}s" -fuzzminimizetime 10x "$1" | tee "$output" && return 0
  grep -q '^ *context deadline exceeded$' "$output" && ! grep -q 'Failing input written' "$output"
}

failed=()
for entry in ${targets[@]+"${targets[@]}"}; do
  read -r dir target <<<"$entry"
  printf 'fuzz: %s %s\n' "$dir" "$target"
  fuzz "$dir" "$target" || failed+=("$entry")
done

if ((${#failed[@]})); then
  printf 'fuzz: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
