//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var exampleBlock = regexp.MustCompile("(?ms)^```json (request|answer) (\\S+)\n(.*?)^```$")

// answeredAlike are the examples of docs/protocol.md that the real daemon over the
// worked example answers as the page says, but for what no two runs have in common.
var answeredAlike = []string{"search", "passages", "similar", "explain", "bad-params", "recent", "folders.list"}

// answered are those that are answered with a result that fits the schema.
var answered = []string{"hello", "status", "status-of-a-file", "sync", "subscribe", "schema", "reload", "verify", "reindex"}

func protocolPage(t *testing.T) (text string, examples map[string]map[string]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples = map[string]map[string]string{"request": {}, "answer": {}}
	for _, m := range exampleBlock.FindAllStringSubmatch(string(b), -1) {
		examples[m[1]][m[2]] = m[3]
	}
	return string(b), examples
}

// TestProtocolPage sends the page's requests to the real daemon.
func TestProtocolPage(t *testing.T) {
	t.Parallel()
	_, ex := protocolPage(t)
	s := workedExample(t)
	home := strings.NewReplacer("/home/u", s.home)
	ask := func(request string) map[string]any {
		conn := dial(t, s)
		defer conn.Close()
		send(t, conn, strings.ReplaceAll(home.Replace(request), "\n", " ")+"\n")
		var answer map[string]any
		if err := json.NewDecoder(conn).Decode(&answer); err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		return answer
	}
	described := ask(`{"jsonrpc":"2.0","id":1,"method":"schema"}`)["result"].(map[string]any)["methods"].(map[string]any)
	for _, name := range answeredAlike {
		got := ask(ex["request"][name])
		var want map[string]any
		if err := json.Unmarshal([]byte(home.Replace(ex["answer"][name])), &want); err != nil {
			t.Fatal(err)
		}
		if g, w := common(got), common(want); g != w {
			t.Errorf("%s:\ngot  %s\nwant %s", name, g, w)
		}
	}
	for _, name := range append(answered, answeredAlike...) {
		if name == "bad-params" {
			continue
		}
		got := ask(ex["request"][name])
		method, _, _ := strings.Cut(name, "-")
		schemas, ok := described[method].(map[string]any)
		if !ok || got["result"] == nil {
			t.Errorf("%s: %v, schema %v", name, got, schemas)
			continue
		}
		if err := validate(t, schemas["result"], got["result"]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// common writes what two runs have in common: numbers to six digits, and no times,
// sizes and generations.
func common(v any) string {
	var clean func(any) any
	clean = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for name, member := range v {
				switch name {
				case "generation", "took_us", "modified", "size", "instance":
				default:
					out[name] = clean(member)
				}
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = clean(v[i])
			}
			return out
		case float64:
			return math.Round(v*1e6) / 1e6
		}
		return v
	}
	b, err := json.Marshal(clean(v))
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}

func validate(t *testing.T, schema, v any) error {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(v)
}

// TestProtocolCommands runs the commands of the page: socat, curl and quern rpc.
func TestProtocolCommands(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"curl", "socat", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not there (scripts/install-test-deps.sh installs it)", program)
		}
	}
	text, _ := protocolPage(t)
	commands, problems := readmeCommands(text)
	for _, p := range problems {
		t.Error(p)
	}
	s := workedExample(t)
	programs := map[string]bool{}
	for _, command := range commands {
		said := s.follow(t, command)
		if !json.Valid([]byte(said)) || strings.Contains(said, `"error"`) {
			t.Errorf("%s prints %s", command, said)
		}
		if strings.Contains(command, "billing") && !strings.Contains(said, "refunds.txt") {
			t.Errorf("%s finds %s", command, said)
		}
		for _, program := range []string{"curl", "socat", "quern rpc"} {
			programs[program] = programs[program] || strings.Contains(command, program)
		}
	}
	if len(programs) != 3 || !programs["curl"] || !programs["socat"] || !programs["quern rpc"] {
		t.Errorf("the page has commands of %v only", programs)
	}
}

// TestCurl refuses what browsers send.
func TestCurl(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not there (scripts/install-test-deps.sh installs it)")
	}
	s := workedExample(t)
	curl := func(args ...string) string {
		args = append([]string{"--silent", "--unix-socket", s.socket(), "--write-out", " %{http_code}"}, args...)
		cmd, cancel := s.command(s.home, "curl", args...)
		defer cancel()
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("curl %q: %v", args, err)
		}
		return string(bytes.TrimSpace(out))
	}
	for want, args := range map[string][]string{
		"200": {"http://localhost/v1/search", "--json", `{"query": "billing refunds", "k": 1}`},
		"403": {"http://localhost/v1/status", "--header", "Origin: http://localhost"},
		"405": {"http://localhost/v1/shutdown"},
		"404": {"http://localhost/v1/passages?path=/nowhere"},
		"400": {"http://localhost/v1/search?q=x&limit=3"},
	} {
		if got := curl(args...); !strings.HasSuffix(got, " "+want) {
			t.Errorf("%q: got %s, want %s", args, got, want)
		}
	}
	if got := curl("--header", "Host: rebound.example", "http://localhost/v1/status"); !strings.HasSuffix(got, " 403") {
		t.Errorf("a foreign host: %s", got)
	}
}
