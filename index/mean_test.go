package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quern/index/analysis"
	"quern/index/chunk"
	lang "quern/index/query"
)

// handbook is an index with the default analyzer: stemmed, and with a list of stop
// words.
func handbook(t testing.TB, texts map[string]string) *Snapshot {
	o := plainOptions()
	o.Analysis = analysis.Default()
	o.Analysis.Stopwords = analysis.English
	o.Chunk.Strategy = chunk.Whole
	e := openEngine(t, o)
	for path, text := range texts {
		apply(t, e, putText("/"+path, text))
	}
	return e.Snapshot()
}

var names = map[string]string{
	"versions": "The release v1.2.3-rc1 fixes the crash of v1.2.2.",
	"rc":       "The first rc1 build was not version 1.2.3 of the release; rc1 fixes crashes.",
	"library":  "The loader cannot open /usr/lib/libfoo.so.1: no such file.",
	"usr":      "A library in lib or in usr is loaded; libfoo so far has 1 user.",
	"mail":     "Write to jane.doe@example.com if the build fails.",
	"jane":     "Jane and the doe wrote an example to the com port; example, jane, doe, com.",
	"hyphen":   "The state-of-the-art model beats the others.",
	"state":    "The art of the state is a different matter; art, state, art.",
	"key":      "Set max_connections=200 in the config.",
	"max":      "The max number of connections in the config is below 200; connections 200 max 200 is the max.",
	"panic":    "panic: runtime error: index out of range [5] with length 3 in main.go",
	"range":    "The index has a range of errors, with runtime and length.",
	"url":      "The page https://docs.example.com/guide/install?lang=en tells how.",
	"guide":    "An example guide to docs: install https en lang com.",
	"ticket":   "Closed ABC-1234 after the fix.",
	"abc":      "The ABC has 1234 readers; 1234 again, abc abc and 1234 1234.",
}

// TestNamesFindWhatAPersonMeans: a name of several words finds first where it
// stands as it is, though other passages have its words more often.
func TestNamesFindWhatAPersonMeans(t *testing.T) {
	s := handbook(t, names)
	for query, want := range map[string]string{
		"v1.2.3-rc1": "/versions", "/usr/lib/libfoo.so.1": "/library", "jane.doe@example.com": "/mail",
		"state-of-the-art": "/hyphen", "max_connections=200": "/key", "ABC-1234": "/ticket", "abc-1234": "/ticket",
		"https://docs.example.com/guide/install?lang=en": "/url", "max_connections": "/key",
		"runtime error: index out of range [5] with length 3": "/panic",
		"+ABC-1234 closed": "/ticket", `"state of the art"`: "/hyphen", `"the crash of"`: "/versions",
		"example.com -jane": "/url", "crash* v1.2.2": "/versions", "libfo~": "/library",
	} {
		for _, o := range []SearchOptions{cosine, bm25} {
			r, err := s.Find(t.Context(), mustParse(t, query), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Hits) == 0 || r.Hits[0].Document.Path != want {
				t.Errorf("%s, %s: %s, want %s", query, o.Model, round(r.Hits), want)
			}
		}
	}
}

func mustParse(t testing.TB, text string) *lang.Query {
	t.Helper()
	q, err := lang.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func pathsFound(t testing.TB, s *Snapshot, query string, o SearchOptions) string {
	t.Helper()
	r, err := s.Find(context.Background(), mustParse(t, query), o)
	if err != nil {
		t.Fatal(err)
	}
	paths := each(r.Hits, func(h Hit) string { return h.Document.Path[1:] })
	slices.Sort(paths)
	return strings.Join(paths, " ")
}

// TestANameThatIsNowhereIsItsWords: the preference never hides an answer.
func TestANameThatIsNowhereIsItsWords(t *testing.T) {
	s := handbook(t, names)
	if got := pathsFound(t, s, "1234-ABC", cosine); got != "abc ticket" {
		t.Errorf("found %s", got)
	}
	if got := pathsFound(t, s, "+1234-ABC", cosine); got != "" {
		t.Errorf("with +: %s", got)
	}
	if got := pathsFound(t, s, "-ABC-1234 ABC", cosine); got != "abc" {
		t.Errorf("with -: %s", got)
	}
	r := search(t, s, "ABC-1234", cosine) // literally
	if len(r.Hits) != 2 {
		t.Errorf("literally: %s", round(r.Hits))
	}
}

func TestClausesChoose(t *testing.T) {
	s := handbook(t, map[string]string{
		"a": "Billing plans renew each year.", "b": "The plan of the billing department.", "c": "Refunds are not bills.",
		"d": "Ein Maß für Größe und Straße.", "e": "universities and billing",
	})
	for query, want := range map[string]string{
		`"billing plans"`: "a", `"billing plan"`: "a", `"the billing department"`: "b", `"of the billing"`: "b", `"of billing"`: "",
		"billing -plan": "c e", "+plan billing": "a b", "bill*": "a b c e", "billin*": "a b c e", "bil* -plan": "c e",
		"universit*": "e", "univers*": "e", "biling~": "a b c e", "gro*": "d", "strase~": "d", "+the plan": "a b", `plan -"the plan"`: "a",
		"-plan": "c d e", "-billing": "d", `-"billing plans"`: "b c d e", "the": "", "the*": "", `"the"`: "", "!!!": "", "": "",
	} {
		if got := pathsFound(t, s, query, cosine); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestExpansionsAreBounded: a prefix ranks by its most frequent words, and filters
// by all.
func TestExpansionsAreBounded(t *testing.T) {
	o := plainOptions()
	o.Chunk.Strategy = chunk.Whole
	e := openEngine(t, o)
	var text strings.Builder
	for i := range maxPrefixed {
		fmt.Fprintf(&text, "x%03d ", i)
	}
	apply(t, e, putText("/a", text.String()), putText("/b", text.String()), putText("/c", "x999 y"), putText("/d", "y"))
	s := e.Snapshot()
	for query, want := range map[string]string{"x*": "a b", "+x* y": "a b c", "+y x*": "c d", "y -x*": "d"} {
		if got := pathsFound(t, s, query, cosine); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	x, err := s.ExplainQuery(mustParse(t, "x*"), cosine, "/a", 0)
	if err != nil || len(x.Terms) != maxPrefixed {
		t.Errorf("%d terms, %v", len(x.Terms), err)
	}
}

func TestFuzzyWordsCountLess(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, putText("/a", "ox"), putText("/b", "oxx"), putText("/c", "xo"), putText("/d", "oxyx"))
	r, err := e.Snapshot().Find(t.Context(), mustParse(t, "ox~2"), bm25)
	if err != nil || len(r.Hits) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	best := r.Hits[0].Score
	for i, want := range []string{"/a 1", "/b 0.5", "/c 0.5", "/d 0.25"} {
		h := r.Hits[i]
		if got := fmt.Sprint(h.Document.Path, " ", h.Score/best); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestPhrasesInHeadings(t *testing.T) {
	for _, terms := range []bool{true, false} {
		o := plainOptions()
		o.HeadingTerms = terms
		e := openEngine(t, o)
		apply(t, e, put("/a", structured("Annual report", []section{{[]string{"Money matters", "Annual plan"}, "It is billed once.\n"}})))
		s := e.Snapshot()
		for query, want := range map[string]bool{
			`"annual plan" billed`: terms, `"matters annual" billed`: false, "heading:plan billed": true, `heading:"annual money"`: true,
			"heading:report": false, "-heading:plan billed": false, "-heading:report billed": true, "title:report": true, "-title:annual": false,
		} {
			if got := pathsFound(t, s, query, cosine) != ""; got != want {
				t.Errorf("heading terms %v, %s: %v", terms, query, got)
			}
		}
	}
}

func TestAuthors(t *testing.T) {
	e := openEngine(t, plainOptions())
	d := structured("", []section{{nil, "text\n"}})
	d.Author = "Ada Lovelace"
	apply(t, e, put("/a", d), putText("/b", "text"))
	s := e.Snapshot()
	for query, want := range map[string]string{"author:ada": "a", "text -author:lovelace": "b", `author:"lovelace ada" text`: "a", "author:the": ""} {
		if got := pathsFound(t, s, query, cosine); got != want {
			t.Errorf("%s: %q", query, got)
		}
	}
}

func TestHighlightsAndSnippets(t *testing.T) {
	filler := strings.Repeat("Nothing of interest stands here. ", 20)
	text := "A plan. " + filler + "The annual plan is billed: planning, bills and billing. " + filler + "plan plan plan plan"
	s := handbook(t, map[string]string{"a": text})
	for query, want := range map[string]string{
		`"the annual plan"`: "A [plan]. … {[The annual plan] is billed: [planning]}, bills and billing. … [plan] [plan] [plan] [plan]",
		"bill* annul~":      "A plan. … The {[annual] plan is [billed]: planning, [bills] and [billing]}. … plan plan plan plan",
		"interest -annual":  "",
	} {
		o := cosine
		o.Text = true
		r, err := s.Find(t.Context(), mustParse(t, query), o)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(r.Hits) > 0 {
			got = strings.ReplaceAll(marked(&r.Hits[0]), strings.TrimSuffix(filler, " "), "…")
		}
		if got != want {
			t.Errorf("%s:\n%s\n%s", query, got, want)
		}
	}
}

// marked writes a hit's text with its highlights in brackets and its snippet in
// braces.
func marked(h *Hit) string {
	insert := map[int]string{}
	for _, m := range h.Highlights {
		insert[m[0]] += "["
		insert[m[1]] += "]"
	}
	insert[h.Snippet[0]] = "{" + insert[h.Snippet[0]]
	insert[h.Snippet[1]] += "}"
	var b strings.Builder
	for i := range len(h.Text) + 1 {
		b.WriteString(insert[i])
		if i < len(h.Text) {
			b.WriteByte(h.Text[i])
		}
	}
	return b.String()
}

func TestDuplicatesAreFolded(t *testing.T) {
	long := strings.Repeat("gnu elk ox bee cat dog emu fox hen ant ", 3) + "yak eel"
	words := strings.Fields(long)
	words[5] = "owl"
	nearly := strings.Join(words, " ")
	e := openEngine(t, plainOptions())
	for i := range 8 {
		apply(t, e, putText(fmt.Sprintf("/copy%d", i), long))
	}
	apply(t, e, putText("/nearly", nearly), putText("/other", "gnu and others"), putText("/another", "the last gnu"))
	s := e.Snapshot()
	o := cosine
	o.K, o.FoldDuplicates = 2, true
	r, err := s.Find(t.Context(), mustParse(t, "gnu"), o)
	if err != nil || len(r.Hits) != 2 || r.Total != 11 {
		t.Fatalf("%+v, %v", r, err)
	}
	o.K = 10
	all, err := s.Find(t.Context(), mustParse(t, "gnu"), o)
	if err != nil || len(all.Hits) != 3 {
		t.Fatalf("%s, %v", round(all.Hits), err)
	}
	var copies []string
	for _, h := range all.Hits {
		if h.Text != "" || h.Highlights != nil {
			t.Errorf("text that was not asked for: %+v", h)
		}
		if len(h.Duplicates) > 0 {
			copies = append(copies, h.Document.Path)
			copies = append(copies, each(h.Duplicates, func(d Duplicate) string { return d.Document.Path })...)
		}
	}
	slices.Sort(copies)
	if got := strings.Join(copies, " "); got != "/copy0 /copy1 /copy2 /copy3 /copy4 /copy5 /copy6 /copy7 /nearly" {
		t.Errorf("folded: %s", got)
	}
	o.Offset = 1
	rest, err := s.Find(t.Context(), mustParse(t, "gnu"), o)
	if err != nil || len(rest.Hits) != 2 || rest.Hits[0].Document.Path != all.Hits[1].Document.Path {
		t.Errorf("after the first: %s, %v", round(rest.Hits), err)
	}
}

func TestSuggestions(t *testing.T) {
	s := handbook(t, map[string]string{
		"a": "Customers receive refunds from billing.", "b": "Receiving a refund takes days; receive it, receive it.",
		"c": "The database is a data base of notes.", "d": "secret sesame",
	})
	for query, want := range map[string]string{
		"refnd": "refund", "recieve": "receive", "databse": "database", "customerrefunds": "customer refunds",
		"billingdays": "billing days", "dat abase": "database", `"receive refunds from days"`: "receive refunds from days",
		"+refnd +billing": "+refund +billing", "xyzzy": "", "-billing billng": "", "+zzz refund": "zzz refund", "sesam": "", "secet": "",
		`"refunds from biling"`: `"refunds from billing"`, "refund": "",
	} {
		o := cosine
		o.Keep = func(i *DocumentInfo) bool { return i.Path != "/d" }
		q := mustParse(t, query)
		if r, err := s.Find(t.Context(), q, o); err != nil || r.Total > 0 {
			if query != "refund" {
				t.Errorf("%s finds %s, %v", query, round(r.Hits), err)
			}
			continue
		}
		got, err := s.Suggest(t.Context(), q, o)
		if err != nil {
			t.Fatal(err)
		}
		first := ""
		if len(got) > 0 {
			first = got[0]
		}
		if first != want {
			t.Errorf("%s: %q, want %s", query, got, want)
		}
		for _, text := range got {
			if pathsFound(t, s, text, o) == "" {
				t.Errorf("%s: %s is suggested and finds nothing", query, text)
			}
		}
	}
}

func TestFindEndsWithItsContext(t *testing.T) {
	s := handbook(t, names)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	for _, query := range []string{"example", `"state of the art"`, "ex* -fo~"} {
		if _, err := s.Find(ctx, mustParse(t, query), cosine); !errors.Is(err, cause) {
			t.Errorf("%s: %v", query, err)
		}
	}
}
