package daemon_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// arrows are the imports between Quern's own packages that are allowed, and why
// the package has no others. A package may import the packages named and those
// below them where a name ends in "/...".
var arrows = []struct {
	pkg, why string
	allowed  []string
}{
	{"quern", "the command is a few lines", []string{"quern/daemon", "quern/daemon/cli"}},
	{"quern/config", "a leaf: it knows only the file and its keys", nil},
	{"quern/watcher", "a leaf: it knows files, not what is made of them", nil},
	{"quern/watcher/ignore", "pure rules; the watcher asks them through its own interface", nil},
	{"quern/ipc", "a leaf: any client can import the wire types", nil},
	{"quern/ipc/server", "it moves messages and knows no method", []string{"quern/ipc", "quern/ipc/internal/..."}},
	{"quern/ipc/client", "importable by others without the daemon", []string{"quern/ipc", "quern/ipc/internal/..."}},
	{"quern/ipc/schema", "it describes the wire types and nothing else", []string{"quern/ipc"}},
	{"quern/ipc/mcp", "it is one more client of the socket", []string{"quern/ipc", "quern/ipc/client"}},
	{"quern/ipc/internal/sock", "what both ends must agree on about a socket's place", nil},
	{"quern/ipc/internal/strict", "strict JSON and nothing else", nil},
	{"quern/index/extract", "bytes to text, nothing else", nil},
	{"quern/index/extract/sandbox", "it runs extract in another process", []string{"quern/index/extract"}},
	{"quern/index/chunk", "text to passages", []string{"quern/index/extract"}},
	{"quern/index/analysis", "text to terms", nil},
	{"quern/index/embed", "it asks a service; the engine knows it by its interface", []string{"quern/index/lsa"}},
	{"quern/index/lsa", "arithmetic on bags of terms: it knows no index", nil},
	{"quern/index/rank", "pure arithmetic", nil},
	{"quern/index/query", "a language; what its clauses mean is the engine's matter", nil},
	{"quern/index/eval", "it measures whatever can search; analysis tells the forms of a word", []string{"quern/index/analysis"}},
	{"quern/index", "the engine is usable as a library of its own", []string{"quern/index/..."}},
	{"quern/index/segment", "the format knows bytes, not ranking", []string{"quern/index/segment/...", "quern/index/rank"}},
	{"quern/index/segment/vfs", "a small file system", nil},
	{"quern/daemon", "the one place where the parts are joined", []string{
		"quern/config", "quern/daemon/access", "quern/watcher/...", "quern/index/...", "quern/ipc", "quern/ipc/schema", "quern/ipc/server"}},
	{"quern/daemon/access", "permissions and nothing else", nil},
	{"quern/daemon/cli", "it talks to the daemon as any client does; config is for finding and editing the file, eval for what quern eval measures", []string{
		"quern/config", "quern/ipc", "quern/ipc/client", "quern/ipc/mcp", "quern/daemon", "quern/index/eval"}},
	{"quern/daemon/e2e", "tests of the real binary", nil},
}

func TestPackagesImportOnlyAlongTheArrows(t *testing.T) {
	imports := listImports(t)
	for pkg, direct := range imports {
		rule, ok := ruleFor(pkg)
		if !ok {
			t.Errorf("package %s has no arrows: add it to the list, with the reason", pkg)
			continue
		}
		for _, imported := range direct {
			if strings.HasPrefix(imported+"/", "quern/") && !permits(rule.allowed, imported) {
				t.Errorf("%s imports %s: %s", pkg, imported, rule.why)
			}
		}
	}
	for _, rule := range arrows {
		if _, ok := imports[rule.pkg]; !ok {
			t.Errorf("the list names %s, which does not exist", rule.pkg)
		}
	}
}

func ruleFor(pkg string) (rule struct {
	pkg, why string
	allowed  []string
}, ok bool) {
	for _, a := range arrows {
		if a.pkg == pkg {
			return a, true
		}
	}
	return rule, false
}

func permits(allowed []string, imported string) bool {
	for _, a := range allowed {
		below, tree := strings.CutSuffix(a, "/...")
		if imported == a || tree && (imported == below || strings.HasPrefix(imported, below+"/")) {
			return true
		}
	}
	return false
}

// listImports returns the direct imports of each package of the module, tests
// left out.
func listImports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "quern/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	imports := map[string][]string{}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		imports[p.ImportPath] = p.Imports
	}
	if len(imports) == 0 {
		t.Fatal("go list found no package")
	}
	return imports
}
