//go:build unix

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository's, seen from this directory.
const root = "../.."

// testsItself is the README's command that this test is a part of.
const testsItself = "go test ./..."

// TestReadme runs every command of the README in order, as a newcomer would.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands, problems := readmeCommands(string(text))
	for _, p := range problems {
		t.Error(p)
	}
	if len(commands) == 0 {
		t.Fatal("the README has no commands")
	}
	t.Run("newcomer", func(t *testing.T) {
		if testing.Short() {
			t.Skip("builds quern twice")
		}
		t.Parallel()
		s := newcomer(t)
		covered := false
		for _, c := range commands {
			if c == testsItself {
				covered = true
				continue
			}
			s.follow(t, c)
		}
		if !covered {
			t.Errorf("the README does not say %q", testsItself)
		}
	})
}

// TestRankingPage runs the commands of the worked example, which must give the
// scores that the page gives.
func TestRankingPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "ranking.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands, problems := readmeCommands(string(text))
	for _, p := range problems {
		t.Error(p)
	}
	s := newSandbox(t)
	said := ""
	for _, c := range commands {
		said += s.follow(t, c)
	}
	for _, score := range []string{"0.3922", "0.2472", "0.1335", "0.1168"} {
		if !strings.Contains(string(text), score) || !strings.Contains(said, " "+score+"\n") {
			t.Errorf("the score %s is not on the page, or not in the answers:\n%s", score, said)
		}
	}
	if !strings.Contains(said, "score 0.39217897") {
		t.Errorf("no account of the score 0.3922:\n%s", said)
	}
}

// TestQueryPage runs the commands of the page about queries, each search of which
// must find something.
func TestQueryPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "query.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands, problems := readmeCommands(string(text))
	for _, p := range problems {
		t.Error(p)
	}
	s := newSandbox(t)
	said := ""
	for _, c := range commands {
		said += s.follow(t, c)
	}
	for _, words := range []string{"receiv (recieve~, × 0.5)", "+card: met"} {
		if !strings.Contains(said, words) {
			t.Errorf("the answers do not say %q:\n%s", words, said)
		}
	}
}

// A request is a line: the batch, which readers paste, is written as one.
func TestTheBatchOfTheProtocolPageIsOneLine(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```json request batch\n")
	block, _, _ = strings.Cut(block, "```")
	if !ok || strings.Count(block, "\n") != 1 {
		t.Errorf("the batch:\n%s", block)
	}
}

// newcomer is a sandbox with Go and this repository, and an empty home. What Go
// has downloaded and built is shared, so that nothing is downloaded.
func newcomer(t *testing.T) *sandbox {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the README's commands need bash:", err)
	}
	s := newSandbox(t)
	bin := filepath.Join(s.dir, "bin")
	s.env = append(s.places(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOBIN="+bin, "GOFLAGS=-buildvcs=false", "GOPROXY=off", "GOTOOLCHAIN=local")
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE", "GOROOT"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatalf("go env %s: %v", name, err)
		}
		s.env = append(s.env, name+"="+strings.TrimSpace(string(value)))
	}
	// Else go leaves a process behind that writes into the home.
	s.write(".config/go/telemetry/mode", "off")
	return s
}

// follow runs one command of a page and returns what it printed; a search must
// print a hit.
func (s *sandbox) follow(t *testing.T, command string) string {
	t.Helper()
	cmd, cancel := s.command(root, "bash", "-c", command)
	defer cancel()
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	err := cmd.Run()
	t.Logf("$ %s\n%s%s", command, out.String(), msg.String())
	if err != nil {
		t.Errorf("%s: %v: %s", command, err, msg.String())
	}
	if searches.MatchString(command) && strings.TrimSpace(out.String()) == "" {
		t.Errorf("%s: prints no hit", command)
	}
	return out.String()
}

var searches = regexp.MustCompile(`\b(quern|go run \.)( --\S+ \S+)* search\b`)

// aCommand is a line that somebody could take for a command to type.
var aCommand = regexp.MustCompile(`^\s*\$?\s*(quern|go)\s`)

// readmeCommands returns the commands of the ```console blocks: the lines that
// begin with "$ ", with those that a backslash continues. Problems are commands
// that stand where no test would find them.
func readmeCommands(text string) (commands, problems []string) {
	fence, language, open := "", "", false
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		trimmed := strings.TrimSpace(line)
		switch {
		case !open && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
			language, open = strings.TrimSpace(trimmed[len(fence):]), true
		case open && trimmed == fence:
			open = false
		case open && language == "console" && strings.HasPrefix(line, "$ "):
			command := line[len("$ "):]
			for strings.HasSuffix(command, `\`) && i+1 < len(lines) {
				i++
				command += "\n" + lines[i]
			}
			commands = append(commands, command)
		case (open || strings.HasPrefix(line, "    ")) && aCommand.MatchString(line):
			problems = append(problems, trimmed+": this command is not tested: write it as \"$ …\" in a ```console block")
		}
	}
	if open {
		problems = append(problems, "a fenced block does not end")
	}
	return commands, problems
}

func TestReadmeCommands(t *testing.T) {
	const fence = "```"
	text := strings.Join([]string{
		"text: quern search x", fence + "console", "$ quern a", "output", "$ quern b \\", "  --c", "quern untyped", fence,
		fence + "sh", "go run .", "echo", fence, "    quern indented", "~~~~", "$ go x", fence, "~~~~",
	}, "\n")
	commands, problems := readmeCommands(text)
	if got, want := strings.Join(commands, "|"), "quern a|quern b \\\n  --c"; got != want {
		t.Errorf("commands %q, want %q", got, want)
	}
	for i, want := range []string{"quern untyped", "go run .", "quern indented", "$ go x"} {
		if i >= len(problems) || !strings.Contains(problems[i], want) {
			t.Errorf("problems %q, want number %d about %q", problems, i, want)
		}
	}
	if len(problems) != 4 {
		t.Errorf("problems: %q", problems)
	}
}
