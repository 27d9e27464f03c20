package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// mustParse parses a text that is right.
func mustParse(t testing.TB, text string) Config {
	t.Helper()
	c, err := Parse("config.toml", []byte(text))
	if err != nil {
		t.Fatalf("Parse:\n%s\n%v", text, err)
	}
	return c
}

// parseErrors parses a text that is wrong.
func parseErrors(t testing.TB, text string) Errors {
	t.Helper()
	_, err := Parse("config.toml", []byte(text))
	var errs Errors
	if !errors.As(err, &errs) {
		t.Fatalf("Parse:\n%s\ngot error %v, want Errors", text, err)
	}
	return errs
}

func TestEmptyFileIsDefault(t *testing.T) {
	want := Default()
	want.Path = "config.toml"
	for _, text := range []string{"", "\n", "# nothing\n", "[chunk]\n[rank]\n", byteOrderMark, "folder = []"} {
		if got := mustParse(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q) = %+v, want the default", text, got)
		}
	}
}

// The example of the contract, whose values are the defaults.
const contractExample = `
[[folder]]
path    = "~/notes"            # ~ and $VAR are expanded
name    = "notes"              # default: the last path element
include = ["**"]               # doublestar globs relative to the folder
exclude = ["drafts/**"]        # added to the built-in list
gitignore = true
hidden    = false
follow_symlinks = false
max_file_size   = "64MiB"
poll = "auto"
when_absent = "keep"

[chunk]
strategy  = "paragraph"
min_words = 25
max_words = 120
overlap   = 30
heading_terms = true

[analysis]
tokenizer  = "unicode"
stopwords  = "none"
stemmer    = "english"
min_length = 1
fold_diacritics = true

[rank]
model = "tfidf"
tf    = "log"
k1 = 0.9
b  = 0.4

[daemon]
socket   = ""
data_dir = ""
settle   = "50ms"
threads  = 0
memory_budget = "64MiB"
purge_after = "1h"
on_battery = "slow"
`

func TestContractExample(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	f := DefaultFolder(filepath.Join(home, "notes"))
	f.Exclude = []string{"drafts/**"}
	want := Default()
	want.Path, want.Folders = "config.toml", []Folder{f}
	want.Analysis.Stemmer, want.Rank.Model = "english", "tfidf" // what the contract's page writes down
	if got := mustParse(t, contractExample); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	t.Setenv("QUERN_TEST_DIR", "/data")
	got := mustParse(t, `
folder = [
  { path = "/a//b/../c/" },
  { path = "$QUERN_TEST_DIR/$$x", name = "x", include = ["*.md", '*.txt'], exclude = ["a\u0062"], gitignore = false,
    hidden = true, follow_symlinks = true, max_file_size = 1_000, poll = "1m30s", when_absent = "drop", users = ["alice", "1001"], groups = ["staff"] },
]
chunk.strategy = "window"
chunk.min_words = 1
"chunk".'max_words' = 0x10
chunk.overlap = 0
chunk.heading_terms = false
analysis = { tokenizer = "plain", stopwords = "${QUERN_TEST_DIR}/stop", stemmer = "none", min_length = 2, fold_diacritics = false }
[rank]
model = "bm25"
tf = """raw"""
k1 = 2
b = 1e-1
lexical = "tfidf"
weight = 1
[embedding]
kind = "http"
url = "https://host:1/v1/embeddings"
model = "m"
key_file = "/k"
query_prefix = "query: "
passage_prefix = "passage: "
batch = 8
timeout = "5s"
[daemon]
socket = "/s"
data_dir = "/d"
settle = "0s"
threads = 3
memory_budget = "1GB"
purge_after = "90m"
on_battery = "pause"
users = "all"
`)
	c := DefaultFolder("/a/c")
	x := Folder{Path: "/data/$x", Name: "x", Include: []string{"*.md", "*.txt"}, Exclude: []string{"ab"},
		Hidden: true, FollowSymlinks: true, MaxFileSize: 1000, Poll: Poll{Mode: PollInterval, Interval: 90 * time.Second}, WhenAbsent: AbsentDrop,
		Users: []string{"alice", "1001"}, Groups: []string{"staff"}}
	want := Config{
		Path:     "config.toml",
		Folders:  []Folder{c, x},
		Chunk:    Chunk{Strategy: "window", MinWords: 1, MaxWords: 16},
		Analysis: Analysis{Tokenizer: "plain", Stopwords: "/data/stop", Stemmer: "none", MinLength: 2},
		Rank:     Rank{Model: "bm25", TF: "raw", K1: 2, B: 0.1, Lexical: "tfidf", Weight: 1},
		Embedding: Embedding{Kind: "http", URL: "https://host:1/v1/embeddings", Model: "m", KeyFile: "/k",
			QueryPrefix: "query: ", PassagePrefix: "passage: ", Batch: 8, Timeout: 5 * time.Second},
		Daemon: Daemon{Socket: "/s", DataDir: "/d", Threads: 3, MemoryBudget: 1e9,
			PurgeAfter: 90 * time.Minute, OnBattery: "pause", Users: "all"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestWrongValues(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	for _, c := range []struct{ text, want string }{
		{"[chunk]\nmin_words = -1", "2: chunk.min_words: must be at least 0 (got -1)"},
		{"[chunk]\nmax_words = 0", "2: chunk.max_words: must be at least 1 (got 0)"},
		{"[chunk]\nmax_words = 9999999999", "2: chunk.max_words: must be at most 2147483647"},
		{"[chunk]\nmin_words = \"25\"", `2: chunk.min_words: must be a whole number (got the string "25")`},
		{"[chunk]\nmin_words = 2.5", "2: chunk.min_words: must be a whole number (got the number 2.5)"},
		{"[chunk]\nmax_words = 60\noverlap = 60", "3: chunk.overlap: overlap must be less than max_words"},
		{"[chunk]\nmax_words = 30", "2: chunk.max_words: overlap must be less than max_words (got overlap = 30, max_words = 30)"},
		{"[chunk]\noverlap = 5\nmax_words = 20", "3: chunk.max_words: min_words must be at most max_words (got min_words = 25"},
		{"[chunk]\nmin_words = 121", "2: chunk.min_words: min_words must be at most max_words"},
		{"[chunk]\nstrategy = \"paragraphs\"", `2: chunk.strategy: must be one of paragraph, window, document, auto (got "paragraphs"); did you mean "paragraph"?`},
		{"[chunk]\nstrategy = 3", "2: chunk.strategy: must be a string"},
		{"[chunk]\nheading_terms = 1", "2: chunk.heading_terms: must be true or false (got the integer 1)"},
		{"[chunk]\n\nmin_word = 25", "3: chunk.min_word: unknown key: did you mean min_words?"},
		{"[chunk]\nMinWords = 25", "2: chunk.MinWords: unknown key: did you mean min_words?"},
		{"[chunk]\n\"a b\" = 25", `2: chunk."a b": unknown key: the keys here are heading_terms, max_words`},
		{"\n\n[chnk]", "3: chnk: unknown key: did you mean chunk?"},
		{"[[folders]]", "1: folders: unknown key: did you mean folder?"},
		{"min_words = 3", "1: min_words: unknown key here: min_words belongs in [chunk]"},
		{"[rank]\npoll = 'auto'", "2: rank.poll: unknown key here: poll belongs in [[folder]]"},
		{"[rank]\n[rank.chunk]", "2: rank.chunk: unknown key here: [chunk] stands by itself"},
		{"chunk = 3", "1: chunk: must be a table: write [chunk] once (got the integer 3)"},
		{"\n[[chunk]]", "2: chunk: must be a table: write [chunk] once (got an array of tables)"},
		{"folder = 'x'", "1: folder: must be written [[folder]]"},
		{"[folder]\npath = '/x'", "1: folder: must be written [[folder]], once for each folder (got a table)"},
		{"folder = [1]", "1: folder: must be written [[folder]]"},
		{"[analysis]\ntokenizer = 'ascii'", "2: analysis.tokenizer: must be one of unicode, plain"},
		{"[analysis]\nstemmer = 'klingon'", `2: analysis.stemmer: must be one of none, auto, arabic, `},
		{"[analysis]\nstemmer = 'English'", `did you mean "english"?`},
		{"[analysis]\nstopwords = 'german'", `2: analysis.stopwords: must be "none", "short", "english" or the absolute path`},
		{"[analysis]\nstopwords = ''", `2: analysis.stopwords: must be "none"`},
		{"[analysis]\nstopwords = 7", "2: analysis.stopwords: must be a string"},
		{"[analysis]\nstopwords = '$QUERN_UNSET/x'", "2: analysis.stopwords: the environment variable QUERN_UNSET is not set"},
		{"[analysis]\nmin_length = -2", "2: analysis.min_length: must be at least 0"},
		{"[rank]\nlexical = 'hybrid'", "2: rank.lexical: must be one of tfidf, bm25, best"},
		{"[rank]\nweight = -1", "2: rank.weight: must be at least 0"},
		{"[embedding]\nkind = 'https'", `2: embedding.kind: must be one of lsa, http (got "https"); did you mean "http"?`},
		{"[embedding]\nkind = 'http'", "embedding.url: must be given"},
		{"[embedding]\nkind = 'http'\nurl = 'localhost:1'\nmodel = 'm'", "3: embedding.url: must be an http or https address"},
		{"[embedding]\nkind = 'http'\nurl = 'http://h'", "embedding.model: must be given"},
		{"[embedding]\nmodel = 'm'", `2: embedding.model: is of use with kind = "http" only`},
		{"[embedding]\nkey_file = 'k'", "2: embedding.key_file: must be an absolute path"},
		{"[embedding]\nbatch = 0", "2: embedding.batch: must be at least 1"},
		{"[embedding]\ntimeout = '0s'", "2: embedding.timeout: must be at least 1ms"},
		{"[rank]\nmodel = 'bm52'", "2: rank.model: must be one of tfidf, bm25, best"},
		{"[rank]\nk1 = nan", "2: rank.k1: must be a finite number (got NaN)"},
		{"[rank]\nk1 = inf", "2: rank.k1: must be a finite number (got +Inf)"},
		{"[rank]\nk1 = -0.1", "2: rank.k1: must be at least 0 (got -0.1)"},
		{"[rank]\nb = 1.01", "2: rank.b: must be at most 1 (got 1.01)"},
		{"[rank]\nb = '0.4'", "2: rank.b: must be a number"},
		{"[rank]\nb = 1979-05-27", "2: rank.b: must be a number (got a date or time)"},
		{"[daemon]\nsettle = 50", `2: daemon.settle: must be a duration in quotes such as "50ms" (got the integer 50)`},
		{"[daemon]\nsettle = '50'", "2: daemon.settle: must be a duration such as"},
		{"[daemon]\nsettle = '-1s'", "2: daemon.settle: must be at least 0s (got -1s)"},
		{"[daemon]\nmemory_budget = '64MX'", `2: daemon.memory_budget: must be a size such as "64MiB"`},
		{"[daemon]\nmemory_budget = 0", "2: daemon.memory_budget: must be at least 1 byte"},
		{"[daemon]\nmemory_budget = '-1MiB'", "2: daemon.memory_budget: must be a size"},
		{"[daemon]\nmemory_budget = true", "2: daemon.memory_budget: must be a size"},
		{"[daemon]\nmemory_budget = '9999999TiB'", "2: daemon.memory_budget: is too large a size"},
		{"[daemon]\non_battery = 'fast'", "2: daemon.on_battery: must be one of slow, pause, full"},
		{"[daemon]\nsocket = 'quern.sock'", "2: daemon.socket: must be an absolute path or begin with ~/"},
		{"[daemon]\ndata_dir = '~/x'", "2: daemon.data_dir: there is no home directory for ~"},
		{"\n[[folder]]\nname = 'x'", "2: folder.path: is missing"},
		{"[[folder]]\npath = ''", "2: folder.path: must not be empty"},
		{"[[folder]]\npath = 'notes'", `2: folder.path: must be an absolute path or begin with ~/ (got "notes")`},
		{"[[folder]]\npath = './notes'", "2: folder.path: must be an absolute path"},
		{"[[folder]]\npath = '~bob/x'", "2: folder.path: the home of another user is not looked up"},
		{"[[folder]]\npath = '/x/${A'", "2: folder.path: a ${ is not closed"},
		{"[[folder]]\npath = '/x/${}'", "2: folder.path: ${} does not name a variable"},
		{"[[folder]]\npath = \"/x\\u0000\"", "2: folder.path: must not hold a NUL byte"},
		{"[[folder]]\npath = ['/x']", "2: folder.path: must be a string in quotes (got an array)"},
		{"[[folder]]\npath = '/x'\nname = 'a/b'", "3: folder.name: must be a plain name"},
		{"[[folder]]\npath = '/x'\nname = ''", "3: folder.name: must be a plain name"},
		{"[[folder]]\npath = '/x'\nname = ' x'", "3: folder.name: must be a plain name"},
		{"[[folder]]\npath = '/x'\ninclude = []", "3: folder.include: must name something"},
		{"[[folder]]\npath = '/x'\ninclude = '**'", "3: folder.include: must be an array of globs"},
		{"[[folder]]\npath = '/x'\nexclude = [\n'a',\n'[b']", "5: folder.exclude: is not a glob (got \"[b\")"},
		{"[[folder]]\npath = '/x'\nexclude = [\n'a',\n3]", "5: folder.exclude: must be an array of globs in quotes (got the integer 3 in it)"},
		{"[[folder]]\npath = '/x'\nexclude = ['']", "3: folder.exclude: must not be empty"},
		{"[[folder]]\npath = '/x'\nexclude = ['/a']", "3: folder.exclude: must be relative to the folder: drop the leading slash"},
		{"[[folder]]\npath = '/x'\nexclude = ['!a']", "3: folder.exclude: cannot be negated"},
		{"[[folder]]\npath = '/x'\nexclude = ['a/../b']", "3: folder.exclude: must be relative to the folder and without . and .."},
		{"[[folder]]\npath = '/x'\npoll = 'always'", `3: folder.poll: must be "auto", "never" or an interval`},
		{"[[folder]]\npath = '/x'\npoll = ''", "3: folder.poll: must be"},
		{"[[folder]]\npath = '/x'\nwhen_absent = 'hides'", `3: folder.when_absent: must be one of keep, hide, drop (got "hides"); did you mean "hide"?`},
		{"[[folder]]\npath = '/x'\npoll = '1us'", "3: folder.poll: must be"},
		{"[[folder]]\npath = '/x'\nmax_file_size = 'big'", "3: folder.max_file_size: must be a size"},
		{"a = 1\n[chunk\n", "2: "},
		{byteOrderMark + "a = 1\r\n[chunk\r\n", "2: "},
		{"chunk = [1]\nchunk.min_words = 3", "2: key chunk.min_words has already been defined"},
		{"chunk = {overlap = 3}\n\nchunk.overlap = 4", "3: "},
		{"folder = [\n{path.x = 1,\npath = '/x'}]", "3: key path has already been defined"},
		{"[chunk]\n'' = 1", "2: a key is empty"},
		{"[chunk]\n[chunk]", "2: Key 'chunk' has already been defined"},
		{"[chunk]\nx = \"\xff\"", "2: not valid UTF-8 (byte 0xff)"},
		{"x = \"\n\"", "1: "},
		{"x = " + strings.Repeat("[", 5000), "1: brackets are nested more than 200 deep"},
		{strings.Repeat("#", maxSize+1), "1: the file is larger than 1MiB"},
		{"\x00", "1: "},
	} {
		errs := parseErrors(t, c.text)
		if got := errs.Error(); len(errs) != 1 || !strings.Contains(got, c.want) || !strings.HasPrefix(got, "config.toml:") {
			t.Errorf("%.80q:\ngot  %s\nwant config.toml:%s", c.text, got, c.want)
		}
	}
}

func TestFolderNamedTwice(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[[folder]]\npath = '/a/b'\n[[folder]]\nname = 'x'\npath = '/a/./b/'",
			"5: folder.path: /a/b is named twice: first in the folder on line 1"},
		{"[[folder]]\npath = '/a/notes'\n[[folder]]\npath = '/b/notes'",
			`3: folder.name: "notes" is also the name of the folder on line 1 (/a/notes)`},
		{"[[folder]]\npath = '/a/x'\n[[folder]]\npath = '/b/y'\nname = 'x'",
			`5: folder.name: "x" is also the name of the folder on line 1 (/a/x)`},
	} {
		if errs := parseErrors(t, c.text); len(errs) != 1 || !strings.Contains(errs.Error(), c.want) {
			t.Errorf("got %v, want %s", errs, c.want)
		}
	}
	mustParse(t, "[[folder]]\npath = '/a'\n[[folder]]\npath = '/a/b'") // one inside the other
}

func TestMinWordsMattersOnlyToParagraphs(t *testing.T) {
	c := mustParse(t, "[chunk]\nstrategy = 'window'\nmax_words = 20\noverlap = 5")
	if c.Chunk.MaxWords != 20 {
		t.Errorf("max_words = %d", c.Chunk.MaxWords)
	}
}

// Every wrong line is reported, in order, through all that TOML allows.
func TestAllErrorsWithTheirLines(t *testing.T) {
	text := `# comment with [[folder]] and "quotes
chunk.overlap = -1 # bad
"rank".k1 = """
  # not a comment
[[folder]] \"""
""" # bad on line 3
'analysis' . "min\u005flength" = -5

[[folder]]
path = 'relative' # bad
exclude = [ # [
  "ok", ''' # ]
x]''',
  "[bad",
  """[also
bad""", # it
]

  [[ "folder" ]] # the second
  path = "/x"
  exclude = [ { a = 1, b = [ "]" ] },
    "" ]
hidden = "yes"
[folder.sub] # unknown
a.b.c = 1

[daemon]
settle = """50
seconds"""
threads = -1
nested = { a = [ {b = 1}, # comment }
  2 ],
  c = 3 }
`
	want := []string{
		"2: chunk.overlap:", "3: rank.k1:", "7: analysis.min_length:", "10: folder.path:", "14: folder.exclude:",
		"15: folder.exclude:", "21: folder.exclude:", "22: folder.exclude:", "23: folder.hidden:", "24: folder.sub:",
		"28: daemon.settle:", "30: daemon.threads:", "31: daemon.nested:",
	}
	for name, text := range map[string]string{
		"LF": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "BOM": byteOrderMark + text,
	} {
		errs := parseErrors(t, text)
		for i, w := range want {
			if i >= len(errs) || !strings.HasPrefix(errs[i].Error(), "config.toml:"+w) {
				t.Fatalf("%s: error %d should be at %s; got\n%v", name, i, w, errs)
			}
		}
		if len(errs) != len(want) {
			t.Errorf("%s: %d errors, want %d:\n%v", name, len(errs), len(want), errs)
		}
	}
}

func TestErrorsCanBeInspected(t *testing.T) {
	_, err := Parse("/etc/c.toml", []byte("[chunk]\nmin_words = -1\noverlap = 'x'"))
	var one *Error
	if !errors.As(err, &one) || one.File != "/etc/c.toml" || one.Line != 2 || one.Key != "chunk.min_words" {
		t.Errorf("first error: %+v", one)
	}
	if got := strings.Count(err.Error(), "\n"); got != 1 {
		t.Errorf("want two lines, got:\n%v", err)
	}
	_, err = Parse("", []byte("x"))
	if !strings.HasPrefix(fmt.Sprint(err), "config:1: ") {
		t.Errorf("nameless: %v", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.toml")
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Load(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory: %v", err)
	}
	if err := os.WriteFile(path, []byte("[rank]\nk1 = 1.5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); err != nil || c.Rank.K1 != 1.5 || c.Path != path {
		t.Errorf("Load = %+v, %v", c, err)
	}
}

func TestSameIndex(t *testing.T) {
	a := Default()
	b := Default()
	b.Path, b.Folders, b.Rank.K1, b.Daemon.Threads = "x", []Folder{DefaultFolder("/x")}, 2, 4
	if !a.SameIndex(b) {
		t.Error("folders, rank and daemon do not change the index of a passage")
	}
	for name, change := range map[string]func(*Config){
		"max_words":     func(c *Config) { c.Chunk.MaxWords++ },
		"heading_terms": func(c *Config) { c.Chunk.HeadingTerms = false },
		"stemmer":       func(c *Config) { c.Analysis.Stemmer = "none" },
	} {
		c := Default()
		change(&c)
		if a.SameIndex(c) {
			t.Errorf("%s changes the index", name)
		}
	}
}

func TestFolderNames(t *testing.T) {
	for path, want := range map[string]string{
		"/": "root", "/a/b/": "b", "/a/b c": "b c", "/a/b\nc": "b_c", "/a/ ": "folder", `/a/x\y`: `x_y`,
	} {
		if filepath.Separator != '/' {
			break
		}
		f := DefaultFolder(path)
		if f.Name != want {
			t.Errorf("the name of %q is %q, want %q", path, f.Name, want)
		}
		c := mustParse(t, folderTable(f))
		if !reflect.DeepEqual(c.Folders, []Folder{f}) {
			t.Errorf("%q reads back as %+v", path, c.Folders)
		}
	}
}

func TestSizes(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "4096": 4096, "64MiB": 64 << 20, "64 MiB": 64 << 20, "64M": 64 << 20, "1GB": 1e9, "1kb": 1000, "2K": 2048,
		"1.5GiB": 3 << 29, "7B": 7, "8388607TiB": 8388607 << 40, "0.5": 1,
	} {
		if got, err := ParseSize(s); got != want || err != nil {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "MiB", "1 2", "1e3", "-1", "+1", "1,5K", "8388608TiB", "99999999999999999999", "1 MiB ", "1ZB", ".5K", "8388607.9999999999999999TiB"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", s, got)
		}
	}
	for _, n := range []int64{0, 1, 1023, 1024, 64 << 20, 3 << 29, 1e9, 1 << 40, math.MaxInt64} {
		if got, err := ParseSize(FormatSize(n)); got != n || err != nil {
			t.Errorf("%d is written %s and read %d, %v", n, FormatSize(n), got, err)
		}
	}
}

func TestSuggest(t *testing.T) {
	keys := []string{"min_words", "max_words", "b", "k1", "heading_terms", "tf"}
	for word, want := range map[string]string{
		"minwords": "min_words", "min-words": "min_words", "max_wrods": "max_words", "headingterms": "heading_terms",
		"heading_term": "heading_terms", "x": "", "colour": "", "B": "b", strings.Repeat("b", 1000): "",
	} {
		if got := Suggest(word, keys); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", word, got, want)
		}
	}
}

// The tokenizer of the reference comes with its model, unless another is named.
func TestPlainTokenizerRanksByTFIDF(t *testing.T) {
	for text, model := range map[string]string{
		"":                                  "best",
		"[analysis]\ntokenizer = 'unicode'": "best",
		"[analysis]\ntokenizer = 'plain'":   "tfidf",
		"[analysis]\ntokenizer = 'plain'\n[rank]\nmodel = 'bm25'": "bm25",
		"[rank]\nmodel = 'best'\n[analysis]\ntokenizer = 'plain'": "best",
	} {
		if got := mustParse(t, text).Rank.Model; got != model {
			t.Errorf("%q: model %s, want %s", text, got, model)
		}
	}
}
