//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEditorsOwnCode asks the real daemon with the JSON-RPC code of the editors
// that people use: a search, a wrong request, and a subscription.
func TestEditorsOwnCode(t *testing.T) {
	module := filepath.Join("testdata", "vscode-jsonrpc")
	for _, c := range []struct {
		name    string
		needs   string // a path, or a program
		command func(socket, file string) []string
	}{
		{"neovim", "nvim", func(string, string) []string {
			return []string{"nvim", "--headless", "--clean", "-c", "luafile " + absolute(t, "testdata/neovim.lua"), "-c", "cquit"}
		}},
		{"emacs", "emacs", func(string, string) []string {
			return []string{"emacs", "--batch", "-Q", "-l", absolute(t, "testdata/emacs.el")}
		}},
		{"vscode-jsonrpc", filepath.Join(module, "node_modules", "vscode-jsonrpc"), func(socket, file string) []string {
			return []string{"node", absolute(t, filepath.Join(module, "client.js")), socket, file}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.needs); err != nil {
				if _, err := os.Stat(c.needs); err != nil {
					t.Skipf("%s is not there (scripts/install-test-deps.sh installs it)", c.needs)
				}
			}
			s := workedExample(t)
			file := filepath.Join(s.home, "help", "new.txt")
			s.env = append(s.env, "SOCKET="+s.socket(), "NEW="+file)
			command := c.command(s.socket(), file)
			cmd, cancel := s.command(s.home, command[0], command[1:]...)
			defer cancel()
			var out, msg bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &msg
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v: %s%s", err, out.String(), msg.String())
			}
			var got struct {
				Total, Code int
				Cancelled   any
				Added       []string
			}
			text := out.String()
			if err := json.Unmarshal([]byte(text[max(0, strings.IndexByte(text, '{')):]), &got); err != nil {
				t.Fatalf("%v in %q; it says %s", err, text, msg.String())
			}
			if got.Total != 4 || got.Code != -32602 || len(got.Added) != 1 || got.Added[0] != file {
				t.Errorf("got %s", text)
			}
			// The change may be searchable before the cancellation comes.
			if c.name == "vscode-jsonrpc" && got.Cancelled != -32800.0 && got.Cancelled != "answered" {
				t.Errorf("cancelled: %v", got.Cancelled)
			}
		})
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// exampleTime is when the files of the worked example were changed: lately, and all
// at once.
var exampleTime = time.Now().Add(-time.Hour)

// workedExample is a sandbox with a running daemon over the four files of
// docs/ranking.md, as docs/protocol.md has them.
func workedExample(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t)
	for name, text := range map[string]string{
		"refunds.txt":  "Refunds go back to the original card after billing approves them.",
		"team.txt":     "For billing, ask billing support or the billing team.",
		"invoices.txt": "Billing sends invoices monthly.",
		"plans.txt":    "Billing plans renew each year.",
	} {
		path := s.write("help/"+name, text)
		if err := os.Chtimes(path, time.Time{}, exampleTime); err != nil {
			t.Fatal(err)
		}
	}
	s.write(".config/quern/config.toml", `[[folder]]
path = "~/help"
[analysis]
tokenizer = "plain"
stemmer = "none"
stopwords = "short"
`)
	if _, err := s.serve(s.home, s.env); err != nil {
		t.Fatal(err)
	}
	if _, msg, code := s.quern("status", "--wait"); code != 0 {
		t.Fatalf("quern status --wait: %d %s", code, msg)
	}
	return s
}
