package ipc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"

	"quern/ipc"
	"quern/ipc/schema"
	"quern/ipc/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// examples are the marked blocks of docs/protocol.md, by kind and name.
type examples map[string]map[string]string

var marked = regexp.MustCompile("(?ms)^```json (request|answer|part) (\\S+)\n(.*?)^```$")

func readExamples(t *testing.T) (examples, string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("docs/protocol.md is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	found := examples{"request": {}, "answer": {}, "part": {}}
	for _, m := range marked.FindAllStringSubmatch(string(text), -1) {
		if _, ok := found[m[1]][m[2]]; ok {
			t.Errorf("there are two blocks %s %s", m[1], m[2])
		}
		found[m[1]][m[2]] = m[3]
	}
	return found, string(text)
}

// documented makes a server that answers as the page says. The answers pass
// through the Go types on their way, and so must be whole: a member that the
// type lacks, or always has and the page leaves out, shows as a difference.
func documented(t *testing.T, ex examples) *server.Server {
	s := server.New(server.Options{})
	answer[ipc.HelloParams, ipc.HelloResult](t, s, ex, ipc.MethodHello)
	answer[ipc.SearchParams, ipc.SearchResult](t, s, ex, ipc.MethodSearch)
	answer[ipc.PassagesParams, ipc.PassagesResult](t, s, ex, ipc.MethodPassages)
	answer[ipc.ExplainParams, ipc.Explanation](t, s, ex, ipc.MethodExplain)
	answer[ipc.SimilarParams, ipc.SearchResult](t, s, ex, ipc.MethodSimilar)
	answer[ipc.RecentParams, ipc.RecentResult](t, s, ex, ipc.MethodRecent)
	answer[ipc.SubscribeParams, ipc.SubscribeResult](t, s, ex, ipc.MethodSubscribe)
	answer[ipc.UnsubscribeParams, ipc.Empty](t, s, ex, ipc.MethodUnsubscribe)
	answer[ipc.SchemaParams, ipc.SchemaResult](t, s, ex, ipc.MethodSchema)
	answer[ipc.StatusParams, ipc.StatusResult](t, s, ex, ipc.MethodStatus)
	answer[ipc.SyncParams, ipc.SyncResult](t, s, ex, ipc.MethodSync)
	answer[ipc.ReindexParams, ipc.ReindexResult](t, s, ex, ipc.MethodReindex)
	answer[ipc.Empty, ipc.Empty](t, s, ex, ipc.MethodReload)
	answer[ipc.PauseParams, ipc.PauseResult](t, s, ex, ipc.MethodPause)
	answer[ipc.Empty, ipc.PauseResult](t, s, ex, ipc.MethodResume)
	answer[ipc.VerifyParams, ipc.VerifyResult](t, s, ex, ipc.MethodVerify)
	answer[ipc.Empty, ipc.FoldersResult](t, s, ex, ipc.MethodFoldersList)
	answer[ipc.FolderParams, ipc.FoldersResult](t, s, ex, ipc.MethodFoldersAdd)
	answer[ipc.FolderParams, ipc.FoldersResult](t, s, ex, ipc.MethodFoldersRemove)
	answer[ipc.Empty, ipc.Empty](t, s, ex, ipc.MethodShutdown)
	return s
}

func answer[P, R any](t *testing.T, s *server.Server, ex examples, method string) {
	t.Helper()
	if ex["request"][method] == "" || ex["answer"][method] == "" {
		t.Errorf("the page has no example of %s", method)
	}
	var a struct{ Result R }
	if err := json.Unmarshal([]byte(ex["answer"][method]), &a); err != nil {
		t.Errorf("answer %s: %v", method, err)
	}
	fitsSchema(t, method, ex, reflect.TypeFor[P](), reflect.TypeFor[R]())
	server.Handle(s, method, func(context.Context, P) (R, error) { return a.Result, nil })
}

// fitsSchema checks a method's example against its schema.
func fitsSchema(t *testing.T, method string, ex examples, params, result reflect.Type) {
	t.Helper()
	var request struct{ Params json.RawMessage }
	if err := json.Unmarshal([]byte(ex["request"][method]), &request); err != nil {
		t.Fatalf("request %s: %v", method, err)
	}
	if request.Params == nil {
		request.Params = json.RawMessage("{}")
	}
	described, err := schema.Method(params, result)
	if err != nil {
		t.Fatal(err)
	}
	fits(t, method+" params", described.Params, string(request.Params))
	fits(t, method+" result", described.Result, resultOf(t, ex["answer"][method]))
}

func fits(t *testing.T, what string, schema json.RawMessage, text string) {
	t.Helper()
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	c := jsonschema.NewCompiler()
	if err == nil {
		err = c.AddResource("s.json", s)
	}
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = compiled.Validate(v)
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestDocumentedExamples(t *testing.T) {
	ex, text := readExamples(t)
	path := filepath.Join(t.TempDir(), "s")
	if len(path) > 90 {
		t.Skip("the temporary directory's path is too long for a socket")
	}
	s := documented(t, ex)
	l, err := server.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	defer func() { _ = s.Shutdown(context.Background()) }()
	for name, request := range ex["request"] {
		want := ex["answer"][name]
		if name == "batch" {
			want = strings.Replace(want, `{"folders": []}`, resultOf(t, ex["answer"][ipc.MethodFoldersList]), 1)
		}
		got := ask(t, path, request)
		switch {
		case want != "" && !sameJSON(t, got, want):
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		case want == "" && strings.Contains(got, `"error"`):
			t.Errorf("%s: got %s", name, got)
		}
	}
	for name := range ex["answer"] {
		if ex["request"][name] == "" && !slices.Contains([]string{"parse-error", "bad-query"}, name) {
			t.Errorf("answer %s has no request", name)
		}
	}
	if strings.Count(text, "```json ") != len(ex["request"])+len(ex["answer"])+len(ex["part"]) {
		t.Error("some marked block is not recognised")
	}
}

// ask sends one request on a connection of its own and returns the answer,
// "" for none.
func ask(t *testing.T, path, request string) string {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	line := strings.ReplaceAll(request, "\n", " ") + "\n"
	if _, err := c.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	_ = c.(*net.UnixConn).CloseWrite()
	got, _ := bufio.NewReader(c).ReadString('\n')
	return got
}

func resultOf(t *testing.T, answer string) string {
	t.Helper()
	var a struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatal(err)
	}
	return string(a.Result)
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Errorf("%v in\n%s\n%s", err, a, b)
	}
	return reflect.DeepEqual(x, y)
}

func TestDocumentedParts(t *testing.T) {
	ex, _ := readExamples(t)
	d := json.NewDecoder(bytes.NewReader([]byte(ex["part"]["status-of-a-file"])))
	d.DisallowUnknownFields()
	var r ipc.StatusResult
	if err := d.Decode(&r); err != nil || r.File == nil {
		t.Errorf("%+v, %v", r.File, err)
	}
	described, err := schema.Notifications()
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{ipc.MethodChanged, ipc.MethodProgress} {
		var n struct {
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal([]byte(ex["part"][method]), &n); err != nil || n.Method != method {
			t.Errorf("%s: %+v, %v", method, n, err)
		}
		fits(t, method, described[method], string(n.Params))
	}
}

// TestDocumentedCodesAndLimits keeps the page's tables and the code together.
func TestDocumentedCodesAndLimits(t *testing.T) {
	_, text := readExamples(t)
	for _, want := range []string{
		"| `-32700` |", "| `-32600` |", "| `-32601` |", "| `-32602` |", "| `-32603` |", "| `-32000` |", "| `-32001` |",
		"| `-32002` |", "| `-32003` |", "| `-32004` |", "| `-32005` |", "| `-32800` |",
		"protocol version " + ipc.ProtocolVersion, "1,048,576 bytes", "| 64 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if ipc.MaxRequestBytes != 1048576 || ipc.MaxInFlight != 64 {
		t.Error("the limits have changed: change docs/protocol.md, and this test")
	}
}
