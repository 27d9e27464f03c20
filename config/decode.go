package config

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// decoder fills a Config from the values of a file and gathers what is wrong.
type decoder struct {
	file string
	errs Errors
	// known lists the keys of every table, when the decoder collects them.
	known map[string][]string
}

var (
	schemaOnce sync.Once
	schemaKeys map[string][]string
)

// schema returns the keys of every table: "" for the top level. It asks the
// decoder itself, so that a key is written down in one place.
func schema() map[string][]string {
	schemaOnce.Do(func() {
		d := decoder{known: make(map[string][]string)}
		d.config(map[string]any{"folder": []any{map[string]any{}}, "extractor": []any{map[string]any{}}}, nil)
		schemaKeys = d.known
	})
	return schemaKeys
}

func (d *decoder) config(values map[string]any, root *node) Config {
	c := Default()
	top := &table{decoder: d, values: values, node: root, line: 1}
	d.folders(top, &c)
	d.extractors(top, &c)
	top.table("chunk", func(t *table) { t.chunk(&c.Chunk) })
	top.table("analysis", func(t *table) { t.analysis(&c.Analysis) })
	if c.Analysis.Tokenizer == "plain" {
		c.Rank.Model = "tfidf" // the two are the profile of the reference
	}
	top.table("rank", func(t *table) { t.rank(&c.Rank) })
	top.table("embedding", func(t *table) { t.embedding(&c.Embedding) })
	top.table("daemon", func(t *table) { t.daemon(&c.Daemon) })
	top.finish()
	return c
}

// folders decodes [[folder]] and refuses folders named twice.
func (d *decoder) folders(top *table, c *Config) {
	v, ok := top.take("folder")
	if !ok {
		return
	}
	tables, ok := tableList(v)
	if !ok {
		top.fail("folder", "must be written [[folder]], once for each folder (got %s)", describe(v))
		return
	}
	var seen []placed
	for i, values := range tables {
		n := top.node.get("folder").at(i)
		t := &table{decoder: d, name: "folder", values: values, node: n, line: n.lineOr(top.lineOf("folder"))}
		f, ok := t.folder()
		t.finish()
		if ok && t.unique(f, seen) {
			seen = append(seen, placed{f, t.line})
		}
		c.Folders = append(c.Folders, f)
	}
}

// placed is a folder and the line of its table.
type placed struct {
	Folder
	line int
}

// tableList takes an array of tables in either of its spellings.
func tableList(v any) ([]map[string]any, bool) {
	switch v := v.(type) {
	case []map[string]any:
		return v, true
	case []any:
		tables := make([]map[string]any, len(v))
		for i, e := range v {
			var ok bool
			if tables[i], ok = e.(map[string]any); !ok {
				return nil, false
			}
		}
		return tables, true
	}
	return nil, false
}

// folder decodes one [[folder]]; ok reports whether path and name are good.
func (t *table) folder() (f Folder, ok bool) {
	var path string
	ok = t.path("path", &path)
	if ok && path == "" {
		ok = false
		if _, given := t.values["path"]; given {
			t.fail("path", "must not be empty")
		} else {
			t.fail("path", "is missing: every [[folder]] needs one")
		}
	}
	f = DefaultFolder(path)
	ok = t.folderName(&f.Name) && ok
	t.globs("include", &f.Include)
	if len(f.Include) == 0 {
		t.fail("include", `must name something: the folder would be empty (default: ["**"])`)
	}
	t.globs("exclude", &f.Exclude)
	t.boolean("gitignore", &f.Gitignore)
	t.boolean("hidden", &f.Hidden)
	t.boolean("follow_symlinks", &f.FollowSymlinks)
	t.size("max_file_size", &f.MaxFileSize)
	t.poll("poll", &f.Poll)
	t.enum("when_absent", &f.WhenAbsent, AbsentKeep, AbsentHide, AbsentDrop)
	t.names("users", &f.Users)
	t.names("groups", &f.Groups)
	return f, ok
}

func (t *table) folderName(name *string) bool {
	given := *name
	if !t.str("name", &given) {
		return false
	}
	if given == *name {
		return true
	}
	bad := strings.IndexFunc(given, func(r rune) bool { return !nameRune(r) }) >= 0
	if given == "" || bad || strings.TrimSpace(given) != given {
		return t.fail("name", "must be a plain name: no slashes, no control characters, no space around it (got %q)", given)
	}
	*name = given
	return true
}

// unique reports a folder whose path or name an earlier one has.
func (t *table) unique(f Folder, seen []placed) bool {
	for _, o := range seen {
		if samePath(o.Path, f.Path) {
			return t.fail("path", "%s is named twice: first in the folder on line %d", f.Path, o.line)
		}
		if o.Name == f.Name {
			return t.fail("name", "%q is also the name of the folder on line %d (%s): give one of them another name", f.Name, o.line, o.Path)
		}
	}
	return true
}

// samePath compares clean paths as the platform does.
func samePath(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

func (t *table) chunk(c *Chunk) {
	ok := t.enum("strategy", &c.Strategy, "paragraph", "window", "document", "auto")
	if c.Strategy == "auto" {
		c.Overlap = 40 // what it was measured to be best with
	}
	ok = t.integer("min_words", &c.MinWords, 0) && ok
	ok = t.integer("max_words", &c.MaxWords, 1) && ok
	ok = t.integer("overlap", &c.Overlap, 0) && ok
	t.boolean("heading_terms", &c.HeadingTerms)
	if !ok {
		return
	}
	if c.Overlap >= c.MaxWords {
		t.fail(t.given("overlap", "max_words"), "overlap must be less than max_words (got overlap = %d, max_words = %d)", c.Overlap, c.MaxWords)
	}
	// Only these strategies read min_words: a window of 20 words is fine
	// although the default of min_words is 25.
	if (c.Strategy == "paragraph" || c.Strategy == "auto") && c.MinWords > c.MaxWords {
		t.fail(t.given("min_words", "max_words"), "min_words must be at most max_words (got min_words = %d, max_words = %d)", c.MinWords, c.MaxWords)
	}
}

// stemmers are the languages of the Snowball stemmers.
var stemmers = []string{
	"none", "auto", "arabic", "danish", "dutch", "english", "finnish", "french",
	"german", "hungarian", "irish", "italian", "norwegian", "porter",
	"portuguese", "romanian", "russian", "spanish", "swedish", "tamil",
	"turkish",
}

func (t *table) analysis(a *Analysis) {
	t.enum("tokenizer", &a.Tokenizer, "unicode", "plain")
	t.stopwords("stopwords", &a.Stopwords)
	t.enum("stemmer", &a.Stemmer, stemmers...)
	t.integer("min_length", &a.MinLength, 0)
	t.boolean("fold_diacritics", &a.FoldDiacritics)
}

// stopwords takes the name of a built-in list or the path of a file. A bare
// word is a name, so that a misspelt name is not taken for a missing file.
func (t *table) stopwords(key string, dst *string) bool {
	s, ok := t.values[key].(string)
	if ok && s != "" && (strings.ContainsAny(s[:1], "~$") || filepath.IsAbs(s)) {
		return t.path(key, dst)
	}
	got := *dst
	if !t.str(key, &got) {
		return false
	}
	switch got {
	case "none", "short", "english":
		*dst = got
		return true
	}
	return t.fail(key, `must be "none", "short", "english" or the absolute path of a list (got %q)`, got)
}

func (t *table) rank(r *Rank) {
	t.enum("model", &r.Model, "tfidf", "bm25", "best", "hybrid")
	t.enum("tf", &r.TF, "log", "raw")
	t.float("k1", &r.K1, 0, math.MaxFloat64)
	t.float("b", &r.B, 0, 1)
	t.enum("lexical", &r.Lexical, "tfidf", "bm25", "best")
	t.float("weight", &r.Weight, 0, 100)
}

func (t *table) daemon(d *Daemon) {
	t.path("socket", &d.Socket)
	t.path("data_dir", &d.DataDir)
	t.duration("settle", &d.Settle, 0)
	t.integer("threads", &d.Threads, 0)
	t.size("memory_budget", &d.MemoryBudget)
	t.duration("purge_after", &d.PurgeAfter, 0)
	t.enum("on_battery", &d.OnBattery, BatterySlow, BatteryPause, BatteryFull)
	t.enum("users", &d.Users, UsersOwner, UsersAll)
}

// minPoll keeps a misspelt interval from polling without pause.
const minPoll = 10 * time.Millisecond

func (t *table) poll(key string, dst *Poll) bool {
	var s string
	if !t.str(key, &s) {
		return false
	}
	switch s {
	case "":
		if _, given := t.values[key]; !given {
			return true
		}
	case PollAuto, PollNever:
		*dst = Poll{Mode: s}
		return true
	}
	every, err := time.ParseDuration(s)
	if err != nil || every < minPoll {
		return t.fail(key, `must be "auto", "never" or an interval of at least %v such as "30s" (got %q)`, minPoll, s)
	}
	*dst = Poll{Mode: PollInterval, Interval: every}
	return true
}

// badGlob says what is wrong with a glob, "" for nothing. Globs match paths
// relative to the folder: one that could never match is a mistake.
func badGlob(glob string) string {
	switch {
	case glob == "":
		return "must not be empty"
	case !doublestar.ValidatePattern(glob):
		return fmt.Sprintf("is not a glob (got %q): [ and { must be closed, a \\ must escape something", glob)
	case strings.HasPrefix(glob, "/"):
		return fmt.Sprintf("must be relative to the folder: drop the leading slash (got %q)", glob)
	case strings.HasPrefix(glob, "!"):
		return fmt.Sprintf("cannot be negated with !: use include and exclude (got %q)", glob)
	}
	for _, part := range strings.Split(glob, "/") {
		if part == "." || part == ".." {
			return fmt.Sprintf("must be relative to the folder and without . and .. (got %q)", glob)
		}
	}
	return ""
}
