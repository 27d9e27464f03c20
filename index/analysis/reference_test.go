package analysis

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"unicode"
)

// referencePath returns the reference program that the environment variable
// QUERN_REFERENCE names, and skips the test if there is none.
func referencePath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("QUERN_REFERENCE")
	if path == "" {
		t.Skip("QUERN_REFERENCE does not name the reference program")
	}
	return path
}

// python runs a script, which is given the reference program and a JSON file of
// input, and decodes the JSON it prints.
func python(t *testing.T, script string, input, output any) {
	t.Helper()
	reference := referencePath(t)
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("python3", "-c", script, reference, path).Output()
	if err != nil {
		t.Fatalf("running the reference: %v", err)
	}
	if err := json.Unmarshal(out, output); err != nil {
		t.Fatal(err)
	}
}

const loadReference = `
import importlib.util, json, sys, unicodedata
spec = importlib.util.spec_from_file_location("reference", sys.argv[1])
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)
cases = json.load(open(sys.argv[2]))
`

// TestPlainIsTheReference compares the terms of generated texts.
func TestPlainIsTheReference(t *testing.T) {
	referencePath(t)
	type plainCase struct {
		Text      []int
		MinLength int
	}
	r := rand.New(rand.NewPCG(5, 6))
	var cases []plainCase
	var got [][]string
	var analyzers []*Analyzer
	for n := range 4 {
		analyzers = append(analyzers, newAnalyzer(t, Options{Tokenizer: Plain, Stopwords: Short, Stemmer: None, MinLength: n}))
	}
	for i := range 1500 {
		text := randomText(r, 0x3000) // nothing there has become a letter of late
		c := plainCase{[]int{}, i % 4}
		for _, b := range []byte(text) {
			c.Text = append(c.Text, int(b))
		}
		cases = append(cases, c)
		got = append(got, append([]string{}, analyzers[i%4].Terms(text)...))
	}
	var want [][]string
	python(t, loadReference+`
json.dump([reference.terms(bytes(c["Text"]).decode("utf-8", "surrogateescape"), reference.SHORT, c["MinLength"])
           for c in cases], sys.stdout)`, cases, &want)
	for i := range cases {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%v: got %q, want %q", cases[i], got[i], want[i])
		}
	}
}

// TestPlainCharactersAreTheReference compares every character that both
// Unicode versions know: Go's tables and Python's may be of different ages.
func TestPlainCharactersAreTheReference(t *testing.T) {
	var want struct {
		Version  string
		Lower    map[rune]rune // of letters and numbers
		Assigned []bool
	}
	python(t, loadReference+`
low, assigned = {}, []
for i in range(0x110000):
    c = chr(i)
    k = unicodedata.category(c)
    assigned.append(k != "Cn")
    if k[0] in "LN":
        low[i] = ord(reference.lower(c))
json.dump({"Version": unicodedata.unidata_version, "Lower": low, "Assigned": assigned}, sys.stdout)`, 0, &want)
	newer := 0
	for r := range rune(unicode.MaxRune + 1) {
		got, ok := rune(0), unicode.IsLetter(r) || unicode.IsNumber(r)
		if ok {
			got = []rune(lower(string(r)))[0]
		}
		lowered, word := want.Lower[r]
		switch {
		case ok == word && got == lowered:
		case !want.Assigned[r] || !want.Assigned[got]:
			newer++
		default:
			t.Errorf("%U: letter or number %v, lower %U; the reference has %v, %U", r, ok, got, word, lowered)
		}
	}
	t.Logf("Unicode %s here, %s in Python: %d characters are known only here", unicode.Version, want.Version, newer)
}
