package index

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"quern/index/chunk"
)

// The four files of the contract.
var billing = []Change{
	putText("/refunds.txt", "Refunds go back to the original card after billing approves them."),
	putText("/team.txt", "For billing, ask billing support or the billing team."),
	putText("/invoices.txt", "Billing sends invoices monthly."),
	putText("/plans.txt", "Billing plans renew each year."),
}

func billingIndex(t *testing.T, o Options) *Snapshot {
	e := openEngine(t, o)
	apply(t, e, billing...)
	return e.Snapshot()
}

// round lists hits as path and score to four places.
func round(hits []Hit) string {
	var b strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&b, "%s %.4f\n", h.Document.Rel, h.Score)
	}
	return b.String()
}

func TestBillingRefunds(t *testing.T) {
	s := billingIndex(t, plainOptions())
	r := search(t, s, "billing refunds", cosine)
	want := "refunds.txt 0.3922\nteam.txt 0.2472\ninvoices.txt 0.1335\nplans.txt 0.1168\n"
	if got := round(r.Hits); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if r.Total != 4 || r.Passages != 4 || r.Generation != 1 {
		t.Errorf("total %d, passages %d, generation %d", r.Total, r.Passages, r.Generation)
	}
	if margin := r.Hits[0].Score / r.Hits[1].Score; margin < 1.5 {
		t.Errorf("the best hit leads by %.3f, must be 1.5", margin)
	}
}

// Without IDF, the file that says "billing" most would be first: the order
// above proves that IDF is in force.
func TestWithoutIDFTeamWouldWin(t *testing.T) {
	s := billingIndex(t, plainOptions())
	score := func(path string) float64 {
		x, err := s.Explain("billing refunds", cosine, path, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, ps, err := s.Passages(path)
		if err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for _, tf := range count(s.analyzer.Terms(ps[0].Text)) {
			norm += math.Pow(1+math.Log(float64(tf)), 2)
		}
		dot := 0.0
		for _, term := range x.Terms {
			if term.TF > 0 {
				dot += (1 + math.Log(float64(term.TF))) / math.Sqrt(2) / math.Sqrt(norm)
			}
		}
		return dot
	}
	got := fmt.Sprintf("%.4f %.4f", score("/team.txt"), score("/refunds.txt"))
	if got != "0.5454 0.4714" {
		t.Errorf("scores without idf are %s", got)
	}
}

func count(terms []string) map[string]int {
	out := make(map[string]int)
	for _, t := range terms {
		out[t]++
	}
	return out
}

func TestUnseenTermsFindNothing(t *testing.T) {
	s := billingIndex(t, plainOptions())
	for _, q := range []string{"chargeback", "chargeback dispute", "", "the of", "?!"} {
		for _, o := range []SearchOptions{cosine, bm25} {
			if r := search(t, s, q, o); r.Total != 0 || len(r.Hits) != 0 {
				t.Errorf("%q finds %d", q, r.Total)
			}
		}
	}
	empty := openEngine(t, plainOptions()).Snapshot()
	if r := search(t, empty, "billing", bm25); r.Total != 0 || r.Generation != 0 || len(r.Hits) != 0 {
		t.Errorf("an empty index answers %+v", r)
	}
}

func TestUnseenTermsDoNotCount(t *testing.T) {
	s := billingIndex(t, plainOptions())
	for _, o := range []SearchOptions{cosine, bm25} {
		with, without := search(t, s, "refunds chargeback billing", o), search(t, s, "billing refunds", o)
		if round(with.Hits) != round(without.Hits) || with.Hits[0].Score != without.Hits[0].Score {
			t.Errorf("%s: an unseen term changes scores", o.Model)
		}
	}
	x, err := s.Explain("refunds zebra chargeback", cosine, "/refunds.txt", 0)
	if err != nil || !slices.Equal(x.Dropped, []string{"chargeback", "zebra"}) {
		t.Errorf("dropped %v, %v", x.Dropped, err)
	}
}

func TestStemming(t *testing.T) {
	o := plainOptions()
	if r := search(t, billingIndex(t, o), "refund", cosine); r.Total != 0 {
		t.Error("refund finds Refunds without a stemmer")
	}
	o.Analysis.Stemmer = "english"
	r := search(t, billingIndex(t, o), "refund", SearchOptions{K: 10, Text: true})
	if r.Total != 1 || r.Hits[0].Document.Rel != "refunds.txt" {
		t.Fatalf("refund does not find Refunds with a stemmer: %+v", r)
	}
	if h := r.Hits[0]; !slices.Equal(h.Highlights, [][2]int{{0, 7}}) {
		t.Errorf("highlights %v", h.Highlights)
	}
}

func TestHeadingAloneIsNoPassage(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, put("/a.md", structured("", []section{{[]string{"Refunds"}, "Money goes back to the card.\n"}})))
	_, ps, err := e.Snapshot().Passages("/a.md")
	if err != nil || len(ps) != 1 || ps[0].Text != "Money goes back to the card." {
		t.Errorf("passages %+v, %v", ps, err)
	}
}

func TestHeadingTerms(t *testing.T) {
	doc := func() *Document {
		return put("/a.md", structured("", []section{
			{[]string{"Refunds"}, "Money goes back.\n"},
			{[]string{"Refunds", "Slow refunds"}, "Banks dawdle.\n"},
			{[]string{"Refunds", "Quick"}, ""}, // its own line is its passage
		})).Put
	}
	o := plainOptions()
	o.HeadingTerms = true
	with, without := openEngine(t, o), openEngine(t, plainOptions())
	apply(t, with, Change{Put: doc()})
	apply(t, without, Change{Put: doc()})
	lengths := func(e *Engine) (out []int) {
		_, ps, _ := e.Snapshot().Passages("/a.md")
		for _, p := range ps {
			out = append(out, p.Length)
		}
		return out
	}
	if got := lengths(with); !slices.Equal(got, []int{4, 5, 2}) {
		t.Errorf("lengths with heading terms %v", got)
	}
	if got := lengths(without); !slices.Equal(got, []int{3, 2, 1}) {
		t.Errorf("lengths without heading terms %v", got)
	}
	if df := with.Snapshot().DF("refunds"); df != 3 {
		t.Errorf("df of a heading's word is %d", df)
	}
	x, err := with.Snapshot().Explain("refunds", cosine, "/a.md", 1)
	if err != nil || x.Terms[0].TF != 2 {
		t.Errorf("tf of a word that two headings have: %+v, %v", x, err)
	}
}

func TestTextAndHighlightsAreDecoded(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, putText("/a.txt", "One \xff refund\r\nand refund."))
	h := search(t, e.Snapshot(), "refund", SearchOptions{K: 1, Text: true}).Hits[0]
	if h.Text != "One \uFFFD refund\nand refund." {
		t.Errorf("text %q", h.Text)
	}
	for _, x := range h.Highlights {
		if h.Text[x[0]:x[1]] != "refund" {
			t.Errorf("highlight %v is %q", x, h.Text[x[0]:x[1]])
		}
	}
	if len(h.Highlights) != 2 || h.Bytes != [2]int{0, 25} || h.Lines != [2]int{1, 2} {
		t.Errorf("highlights %v, bytes %v, lines %v", h.Highlights, h.Bytes, h.Lines)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	s := billingIndex(t, plainOptions())
	for _, o := range []SearchOptions{
		{Model: "lsa"}, {TF: "double"}, {Model: BM25, K1: -1}, {Model: BM25, B: 1.5}, {Model: BM25, K1: math.NaN()},
	} {
		if _, err := s.Search(t.Context(), "billing", o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
		if _, err := s.Explain("billing", o, "/team.txt", 0); err == nil {
			t.Errorf("%+v is explained", o)
		}
	}
	if _, err := Open(Options{Chunk: chunk.Default()}); err == nil {
		t.Error("an engine opens without a tokenizer")
	}
	if _, err := Open(Options{Analysis: plainOptions().Analysis}); err == nil {
		t.Error("an engine opens without a chunk strategy")
	}
}

func TestNotFound(t *testing.T) {
	s := billingIndex(t, plainOptions())
	_, _, errPassages := s.Passages("/none")
	_, errPath := s.Explain("billing", cosine, "/none", 0)
	_, errNumber := s.Explain("billing", cosine, "/team.txt", 1)
	_, errNegative := s.Explain("billing", cosine, "/team.txt", -1)
	for _, err := range []error{errPassages, errPath, errNumber, errNegative} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("error %v does not wrap ErrNotFound", err)
		}
	}
	if _, ok := s.Document("/none"); ok {
		t.Error("a document that is not there is found")
	}
}
