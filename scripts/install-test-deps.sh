#!/usr/bin/env bash
# Installs what .ci/run and the tests use beside Go itself. What is there
# already is left alone; what cannot be had is said and does not fail: the
# checks and tests that need it say so in turn.
set -euo pipefail
cd "$(dirname "$0")/.."

STATICCHECK_VERSION=v0.8.2
GOVULNCHECK_VERSION=v1.9.0

bin="$(go env GOBIN)"
export PATH="$PATH:${bin:-$(go env GOPATH)/bin}"

have() { command -v "$1" >/dev/null 2>&1; }
note() { printf 'install-test-deps: %s\n' "$*" >&2; }

# go_tool NAME PACKAGE@VERSION
go_tool() {
  have "$1" && return
  note "installing $1"
  go install "$2" || note "$1 could not be installed: checks that need it are left out"
}

# apt_tools NAME...: commands whose package has the same name.
apt_tools() {
  local missing=()
  for name in "$@"; do have "$name" || missing+=("$name"); done
  ((${#missing[@]})) || return 0
  if ! have apt-get; then
    note "missing, and there is no apt-get to install them: ${missing[*]}"
    return 0
  fi
  local sudo=()
  if [[ "$(id -u)" != 0 ]]; then
    if ! have sudo || ! sudo -n true 2>/dev/null; then
      note "missing, and installing them needs root: ${missing[*]}"
      return 0
    fi
    sudo=(sudo -n)
  fi
  note "installing ${missing[*]}"
  "${sudo[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 ||
    { "${sudo[@]}" apt-get update -q >&2 &&
      "${sudo[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >&2; } ||
    note "could not be installed: ${missing[*]}"
}

go_tool staticcheck "honnef.co/go/tools/cmd/staticcheck@$STATICCHECK_VERSION"
go_tool govulncheck "golang.org/x/vuln/cmd/govulncheck@$GOVULNCHECK_VERSION"
apt_tools git jq socat
if ! command -v pdftotext >/dev/null 2>&1; then note "pdftotext (poppler-utils) is not installed: PDF text is not compared"; fi
