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

# apt_tools COMMAND[=PACKAGE]...: the package has the command's name if none is given.
apt_tools() {
  local missing=()
  for tool in "$@"; do have "${tool%%=*}" || missing+=("${tool##*=}"); done
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
apt_tools git jq socat curl vim rsync unzip pdftotext=poppler-utils nvim=neovim emacs=emacs-nox node=nodejs npm

# The client library of VS Code, for its test; the version is in the lock file.
if have npm && [[ ! -d daemon/e2e/testdata/vscode-jsonrpc/node_modules ]]; then
  note "installing vscode-jsonrpc"
  (cd daemon/e2e/testdata/vscode-jsonrpc && npm ci --ignore-scripts --no-audit --no-fund >&2) ||
    note "vscode-jsonrpc could not be installed: its test is left out"
fi
