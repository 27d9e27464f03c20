package config

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var fuzzSeeds = []string{
	"", contractExample, commented, templateText, byteOrderMark + "[a]",
	"a.b.c = 1\n[a.b]\nd = 2\n", "x = [[1, [2]], {a.b = [{c = 1}, {c = 2}]}]\n[[y.z]]\n[y.z.w]\n[[y.z]]\nq = 1",
	"s = \"\"\"\"a\"\"\"\"\"\nt = ''''a'''''\nu = \"\\\"]#\"\n", "d = 1979-05-27 07:32:00Z # x\ne = [07:32:00, 1.5]",
	"\"a\\tb\".'c\"' . d = { \"#\" = '#' }\r\n", "folder = [{path = '/a'}, # x\n {path = '/b', include = ['x']}]",
	"[folder]\n[[folder]]", "[[folder]]\npath = '/a'\n[folder.x]\n", "[rank]\nk1 = nan\nb = -inf", "[chunk]\r\noverlap = 9\r\n\r\n",
	"[[folder]]\npath=\"/a\"\n[[folder]]\npath='/b'",
}

// sameShape compares the values of a text with what the scanner found.
func sameShape(v any, n *node) error {
	if n == nil {
		return errors.New("no node")
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) != len(n.keys) {
			return fmt.Errorf("%d keys, scanned %d", len(v), len(n.keys))
		}
		for k, e := range v {
			if err := sameShape(e, n.keys[k]); err != nil {
				return fmt.Errorf("%q: %w", k, err)
			}
		}
	case []any, []map[string]any:
		all, _ := v.([]any)
		if tables, ok := v.([]map[string]any); ok {
			for _, t := range tables {
				all = append(all, t)
			}
		}
		if len(all) != len(n.elems) {
			return fmt.Errorf("%d elements, scanned %d", len(all), len(n.elems))
		}
		for i, e := range all {
			if err := sameShape(e, n.elems[i]); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
	default:
		if n.keys != nil || n.elems != nil {
			return fmt.Errorf("%v is no table or array", v)
		}
	}
	return nil
}

func FuzzScan(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := parseTOML("f", []byte(text))
		if err != nil {
			if len(text) <= maxSize && tooDeep([]byte(text)) < 0 {
				scan(text) // ends, whatever it is given
			}
			return
		}
		if err := checkScan(text, values); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("the.toml", []byte(text))
		if err != nil {
			var errs Errors
			if !errors.As(err, &errs) || len(errs) == 0 {
				t.Fatalf("%q: %v", text, err)
			}
			for i, e := range errs {
				if e.File != "the.toml" || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") || e.Message == "" {
					t.Fatalf("%q: error without a place: %+v", text, e)
				}
				if i > 0 && e.Line < errs[i-1].Line {
					t.Fatalf("%q: errors out of order: %v", text, errs)
				}
			}
			return
		}
		if err := validate(c); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// validate checks again, from outside, what Parse promises.
func validate(c Config) error {
	k, a, r, d := c.Chunk, c.Analysis, c.Rank, c.Daemon
	for what, ok := range map[string]bool{
		"chunk":    k.Overlap >= 0 && k.Overlap < k.MaxWords && k.MinWords >= 0,
		"strategy": slices.Contains([]string{"paragraph", "window", "document", "auto"}, k.Strategy),
		"analysis": a.MinLength >= 0 && slices.Contains(stemmers, a.Stemmer),
		"rank":     r.K1 >= 0 && !math.IsInf(r.K1, 0) && r.B >= 0 && r.B <= 1 && slices.Contains([]string{"best", "tfidf", "bm25"}, r.Model),
		"daemon":   d.Settle >= 0 && d.PurgeAfter >= 0 && d.Threads >= 0 && d.MemoryBudget > 0,
		"socket":   d.Socket == "" || filepath.IsAbs(d.Socket),
	} {
		if !ok {
			return fmt.Errorf("%s is not valid: %+v", what, c)
		}
	}
	seen := make(map[string]bool)
	for _, f := range c.Folders {
		if !filepath.IsAbs(f.Path) || filepath.Clean(f.Path) != f.Path || f.Name == "" || len(f.Include) == 0 || f.MaxFileSize < 1 {
			return fmt.Errorf("folder is not valid: %+v", f)
		}
		if seen["path "+f.Path] || seen["name "+f.Name] {
			return fmt.Errorf("folder is named twice: %+v", f)
		}
		seen["path "+f.Path], seen["name "+f.Name] = true, true
	}
	return nil
}

func FuzzEdit(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s, "/new/x", "name")
	}
	f.Add("a", "/é/$HOME/~/\"\\", "'")
	f.Fuzz(func(t *testing.T, text, path, name string) {
		c, doc, err := parse("f", []byte(text))
		if err != nil {
			return
		}
		add := Folder{Path: path, Name: name}
		added, err := changed("f", []byte(text), addTo(add))
		if err == nil {
			back, err := changed("f", added, removeFrom(completed(add).Path))
			if err != nil || string(back) != text {
				t.Fatalf("%q\nwith %+v is %q\nand without %q, %v", text, add, added, back, err)
			}
		}
		for _, f := range c.Folders {
			if _, err := changed("f", []byte(text), removeFrom(f.Name)); err != nil && doc.inlineFolders() == 0 {
				t.Fatalf("%q without %s: %v", text, f.Name, err)
			}
		}
	})
}
