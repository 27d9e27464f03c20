package daemon_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"quern/ipc"
)

const billing = `
[analysis]
tokenizer = "plain"
stopwords = "short"
stemmer = "none"
`

func TestBillingExample(t *testing.T) {
	h := start(t, billing)
	h.write("refunds.txt", "Refunds go back to the original card after billing approves them.")
	h.write("team.txt", "For billing, ask billing support or the billing team.")
	h.write("invoices.txt", "Billing sends invoices monthly.")
	h.write("plans.txt", "Billing plans renew each year.")
	r := h.search("billing refunds")
	var got []string
	for _, hit := range r.Hits {
		got = append(got, fmt.Sprintf("%s %.4f", hit.Rel, hit.Score))
	}
	want := "refunds.txt 0.3922, team.txt 0.2472, invoices.txt 0.1335, plans.txt 0.1168"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if r.Passages != 4 || r.Total != 4 || r.Pending != 0 || r.Model != "tfidf" {
		t.Errorf("result %+v", r)
	}
	if hit := r.Hits[0]; hit.Text[hit.Highlights[0][0]:hit.Highlights[0][1]] != "Refunds" || hit.Bytes != [2]int{0, 65} || hit.Lines != [2]int{1, 1} || hit.Folder != "notes" {
		t.Errorf("first hit %+v", hit)
	}
	if r := h.search("chargeback"); len(r.Hits) != 0 || r.Total != 0 {
		t.Errorf("chargeback: %+v", r)
	}
	if r := h.search("refund"); len(r.Hits) != 0 {
		t.Errorf("without a stemmer, refund is another word than refunds: %+v", r)
	}
}

// Write, ask, it is there; delete, ask, it is gone. Every time.
func TestASearchSeesWhatWasWrittenBefore(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	h := start(t, "")
	for i := range rounds {
		word := fmt.Sprintf("word%dx", i)
		name := fmt.Sprintf("dir%d/file%d.txt", i%7, i%31)
		h.write(name, "the new "+word+" stands here")
		if got := rels(h.search(word)); got != name {
			t.Fatalf("round %d: %q is in %q, found in %q", i, word, name, got)
		}
		if i%2 == 0 {
			if err := os.Remove(h.path(name)); err != nil {
				t.Fatal(err)
			}
		} else {
			h.write(name, "something else")
		}
		if got := rels(h.search(word)); got != "" {
			t.Fatalf("round %d: %q is gone, found in %q", i, word, got)
		}
	}
}

func TestModelAndCollapseAreChosenByTheQuery(t *testing.T) {
	h := start(t, "[chunk]\nstrategy = \"window\"\nmax_words = 4\noverlap = 0\nmin_words = 1\n")
	h.write("a.txt", "apple one two three apple apple five six")
	h.write("b.txt", "apple pear")
	if r := h.search("apple"); len(r.Hits) != 3 {
		t.Errorf("uncollapsed: %v", rels(r))
	}
	ask := func(p ipc.SearchParams) ipc.SearchResult {
		p.Query = "apple"
		return call[ipc.SearchResult](h, ipc.MethodSearch, p)
	}
	if r := ask(ipc.SearchParams{Collapse: "document"}); len(r.Hits) != 2 || r.Total != 2 {
		t.Errorf("collapsed: %v", rels(r))
	}
	tfidf, bm25, raw := ask(ipc.SearchParams{Model: "tfidf"}), ask(ipc.SearchParams{Model: "bm25"}), ask(ipc.SearchParams{TF: "raw"})
	if bm25.Model != "bm25" || bm25.Hits[0].Score == tfidf.Hits[0].Score || raw.Hits[0].Score == tfidf.Hits[0].Score {
		t.Error("the models do not differ")
	}
	if r := ask(ipc.SearchParams{K: 1, Offset: 1}); len(r.Hits) != 1 || r.Hits[0].Path != tfidf.Hits[1].Path || r.Total != 3 {
		t.Errorf("offset: %v", rels(r))
	}
	if r := ask(ipc.SearchParams{Budget: 8}); len(r.Hits) != 2 {
		t.Errorf("a budget of 32 characters holds two hits, got %d: %+v", len(r.Hits), r.Hits)
	}
	no := false
	if r := ask(ipc.SearchParams{Text: &no}); r.Hits[0].Text != "" || r.Hits[0].Highlights != nil {
		t.Error("text was not left out")
	}
	r := ask(ipc.SearchParams{Explain: true})
	for _, hit := range r.Hits {
		if hit.Explain == nil || hit.Explain.Score != hit.Score {
			t.Errorf("the explanation of %s#%d does not give its score: %+v", hit.Rel, hit.Passage, hit.Explain)
		}
	}
}

func TestFiltersChooseAmongTheHits(t *testing.T) {
	h := start(t, "")
	h.write("a.md", "# Top\n\napple in markdown")
	h.write("sub/b.txt", "apple in text")
	all := h.search("apple")
	scores := map[string]float64{}
	for _, hit := range all.Hits {
		scores[hit.Rel] = hit.Score
	}
	for _, c := range []struct {
		p    ipc.SearchParams
		want string
	}{
		{ipc.SearchParams{Types: []string{"md"}}, "a.md"},
		{ipc.SearchParams{Types: []string{".TXT"}}, "sub/b.txt"},
		{ipc.SearchParams{Path: "sub/**"}, "sub/b.txt"},
		{ipc.SearchParams{Path: "*.txt"}, "sub/b.txt"},
		{ipc.SearchParams{Path: h.notes + "/*.md"}, "a.md"},
		{ipc.SearchParams{Folders: []string{h.path("sub")}}, "sub/b.txt"},
		{ipc.SearchParams{Before: "2001-01-01"}, ""},
		{ipc.SearchParams{Since: "1h", Folders: []string{"notes"}, Path: "a*"}, "a.md"},
	} {
		c.p.Query = "apple"
		r := call[ipc.SearchResult](h, ipc.MethodSearch, c.p)
		if rels(r) != c.want {
			t.Errorf("%+v: %q, want %q", c.p, rels(r), c.want)
		}
		for _, hit := range r.Hits {
			if hit.Score != scores[hit.Rel] {
				t.Errorf("%+v changed the score of %s", c.p, hit.Rel)
			}
		}
	}
}

// A budget takes every hit that fits, best first, not only those before the
// first that does not.
func TestABudgetPassesOverWhatDoesNotFit(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple apple "+strings.Repeat("apple ", 100)) // the best hit, 612 characters
	h.write("b.txt", "apple pear")
	h.write("c.txt", "apple pear plum")
	h.sync()
	for budget, want := range map[int]string{2: "", 3: "b.txt", 7: "b.txt c.txt", 157: "a.txt b.txt", 1000: "a.txt b.txt c.txt"} {
		no := false
		r := call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: "apple", Budget: budget, Text: &no})
		if rels(r) != want || r.Total != 3 {
			t.Errorf("budget %d: %q of %d, want %q", budget, rels(r), r.Total, want)
		}
	}
}

func TestBadParamsAreRefused(t *testing.T) {
	h := start(t, "")
	for _, p := range []ipc.SearchParams{
		{K: -1}, {K: 1001}, {Offset: -1}, {Model: "hybird"}, {TF: "x"}, {Collapse: "x"}, {Budget: -1},
		{Path: "[a"}, {Since: "yesteryear"}, {Before: "12"}, {Since: "300z"}, {Duplicates: "x"}, {Since: "-1d"}, {Folders: []string{"nosuch"}},
	} {
		if _, err := try[ipc.SearchResult](h, ipc.MethodSearch, p); code(err) != ipc.CodeInvalidParams {
			t.Errorf("%+v: error %v", p, err)
		}
	}
	if _, err := try[ipc.PassagesResult](h, ipc.MethodPassages, ipc.PassagesParams{Path: "relative"}); code(err) != ipc.CodeInvalidParams {
		t.Errorf("relative path: %v", err)
	}
	if _, err := try[ipc.PassagesResult](h, ipc.MethodPassages, ipc.PassagesParams{Path: h.path("none")}); code(err) != ipc.CodeNotFound {
		t.Errorf("unknown path: %v", err)
	}
	if _, err := try[ipc.ReindexResult](h, ipc.MethodReindex, ipc.ReindexParams{Path: "/nowhere"}); code(err) != ipc.CodeNotFound {
		t.Errorf("reindex outside of every folder: %v", err)
	}
}

func TestPassagesAndExplain(t *testing.T) {
	h := start(t, "")
	h.write("a.md", "# Billing\n\n## Refunds\n\nThey go back to the card.\n")
	h.sync()
	p := call[ipc.PassagesResult](h, ipc.MethodPassages, ipc.PassagesParams{Path: h.path("a.md")})
	if len(p.Passages) != 1 || strings.Join(p.Passages[0].Heading, "/") != "Billing/Refunds" ||
		p.Passages[0].Text != "They go back to the card." || p.Passages[0].Lines != [2]int{5, 5} || p.Type != "md" {
		t.Errorf("passages %+v", p)
	}
	one := 1
	if _, err := try[ipc.PassagesResult](h, ipc.MethodPassages, ipc.PassagesParams{Path: h.path("a.md"), N: &one}); code(err) != ipc.CodeNotFound {
		t.Errorf("passage 1 of 1: %v", err)
	}
	r := h.search("refund card")
	e := call[ipc.Explanation](h, ipc.MethodExplain, ipc.ExplainParams{Query: "refund card zzz", Path: h.path("a.md")})
	sum := 0.0
	for _, term := range e.Terms {
		sum += term.Contribution
	}
	for _, b := range e.Bonuses { // for the heading
		sum += b.Contribution
	}
	if len(e.Bonuses) != 1 || sum != e.Score || e.Score != r.Hits[0].Score || len(e.Dropped) != 1 {
		t.Errorf("explanation %+v, score %v", e, r.Hits[0].Score)
	}
}

func TestReindexReadsAgain(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple")
	h.sync()
	before := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	generation := call[ipc.ReindexResult](h, ipc.MethodReindex, ipc.ReindexParams{Path: h.notes}).Generation
	after := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	if after.Counters["rescans"] != before.Counters["rescans"]+1 {
		t.Errorf("counters %v, then %v", before.Counters, after.Counters)
	}
	if generation < before.Generation || rels(h.search("apple")) != "a.txt" {
		t.Errorf("generation %d, then %d", before.Generation, generation)
	}
}

func TestShutdownEndsTheDaemon(t *testing.T) {
	h := start(t, "")
	call[ipc.Empty](h, ipc.MethodShutdown, ipc.Empty{})
	if err := <-h.done; err != nil {
		t.Fatal(err)
	}
	h.done <- nil
	if _, err := os.Stat(h.socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// The largest numbers that a client can send mean what they say.
func TestHugeParams(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple")
	h.sync()
	for _, n := range []int{math.MaxInt, math.MaxInt/4 + 1, math.MaxInt / 2} {
		r := call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: "apple", Budget: n, Sync: true, SyncTimeoutMS: n})
		if len(r.Hits) != 1 || r.Stale {
			t.Errorf("budget and time %d: %d hits, stale %v", n, len(r.Hits), r.Stale)
		}
		r = call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: "apple", K: 1000, Offset: n})
		if len(r.Hits) != 0 || r.Total != 1 {
			t.Errorf("offset %d: %d hits of %d", n, len(r.Hits), r.Total)
		}
	}
}
