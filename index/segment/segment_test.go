package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// model is a passage as a test thinks of it.
type model struct {
	Passage
	terms []string
}

type modelDoc struct {
	id   uint64
	path string
	data string
}

// dump is all that a reader tells.
type dump struct {
	Terms    []string
	Postings []string
	Passages []string
	Docs     []string
	Length   int64
}

var gids = map[string]uint32{}

func gidIn(_ uint32, term string, hash uint64) uint32 { return gidOf(term, hash) }

func gidOf(term string, hash uint64) uint32 {
	if hash != xxh3.HashString(term) {
		panic("the hash of " + term)
	}
	g, ok := gids[term]
	if !ok {
		g = uint32(len(gids))
		gids[term] = g
	}
	return g
}

func randomModels(r *rand.Rand, n, vocabulary int) []model {
	ms := make([]model, n)
	id := uint64(r.IntN(5))
	for i := range ms {
		length := r.IntN(40)
		m := model{Passage: Passage{ID: id, Doc: uint64(i / 3), Hash: r.Uint64()}}
		for range length {
			m.terms = append(m.terms, randomTerm(r, vocabulary))
		}
		m.Text = []byte(strings.Join(m.terms, " "))
		if r.IntN(20) == 0 {
			m.Text = bytes.Repeat([]byte("long "), r.IntN(9000))
		}
		ms[i] = m
		id += 1 + uint64(r.IntN(3))*uint64(r.IntN(1<<20))
	}
	return ms
}

func randomTerm(r *rand.Rand, vocabulary int) string {
	x := int(float64(vocabulary) * r.Float64() * r.Float64() * r.Float64())
	return fmt.Sprintf("t%x", x*x)
}

func randomDocs(r *rand.Rand, n int) []modelDoc {
	var ds []modelDoc
	for i := range n {
		ds = append(ds, modelDoc{uint64(i * (1 + r.IntN(2)) * 7), fmt.Sprintf("/d/%d", r.IntN(n)), strings.Repeat("x", r.IntN(50))})
	}
	slices.SortFunc(ds, func(a, b modelDoc) int { return int(a.id) - int(b.id) })
	return slices.CompactFunc(ds, func(a, b modelDoc) bool { return a.id == b.id })
}

func build(t testing.TB, ms []model, ds []modelDoc, compress bool) *Reader {
	t.Helper()
	b := NewBuilder()
	for _, m := range ms {
		b.AddPassage(m.Passage, slices.Values(m.terms))
	}
	for _, d := range ds {
		b.AddDocument(d.id, d.path, []byte(d.data))
	}
	var buf bytes.Buffer
	if err := b.Write(&buf, WriteOptions{Compress: compress, GID: gidIn}); err != nil {
		t.Fatal(err)
	}
	return open(t, buf.Bytes())
}

func open(t testing.TB, b []byte) *Reader {
	t.Helper()
	r, err := Open(b, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
	return r
}

// expected is the dump a segment of the models must give.
func expected(ms []model, ds []modelDoc) dump {
	var d dump
	byTerm := map[string][]string{}
	for i, m := range ms {
		tf := map[string]int{}
		for _, t := range m.terms {
			tf[t]++
		}
		var fwd []string
		for t, n := range tf {
			fwd = append(fwd, fmt.Sprintf("%s:%d", t, n))
			byTerm[t] = append(byTerm[t], fmt.Sprintf("%d:%d", i, n))
		}
		slices.SortFunc(fwd, func(a, b string) int {
			return strings.Compare(a[:strings.IndexByte(a, ':')], b[:strings.IndexByte(b, ':')])
		})
		d.Passages = append(d.Passages, fmt.Sprint(m.ID, m.Doc, m.Hash, uint32(len(m.terms)), string(m.Text), fwd))
		d.Length += int64(len(m.terms))
	}
	for t := range byTerm {
		d.Terms = append(d.Terms, t)
	}
	slices.Sort(d.Terms)
	for i, t := range d.Terms {
		d.Postings = append(d.Postings, fmt.Sprint(byTerm[t]))
		d.Terms[i] = fmt.Sprint(t, " ", gidOf(t, xxh3.HashString(t)), " ", len(byTerm[t]))
	}
	for _, x := range ds {
		d.Docs = append(d.Docs, fmt.Sprint(x))
	}
	return d
}

// dumpOf reads everything, and fails with the first error.
func dumpOf(r *Reader) (d dump, err error) {
	var names []string
	var p Postings
	c := r.Cursor()
	for c.Next() {
		t := c.Number()
		names = append(names, string(c.Term()))
		d.Terms = append(d.Terms, fmt.Sprint(string(c.Term()), " ", r.GID(t), " ", r.DF(t)))
		if err := r.Postings(t, &p); err != nil {
			return d, err
		}
		var list []string
		for p.Next() {
			for i, doc := range p.Docs {
				list = append(list, fmt.Sprintf("%d:%d", doc, p.TFs[i]))
			}
		}
		if p.Err() != nil {
			return d, p.Err()
		}
		d.Postings = append(d.Postings, fmt.Sprint(list))
	}
	if c.Err() != nil {
		return d, c.Err()
	}
	var buf TextBuffer
	var terms []TermTF
	for i := range r.Passages() {
		if terms, err = r.Forward(i, terms); err != nil {
			return d, err
		}
		var fwd []string
		for _, t := range terms {
			fwd = append(fwd, fmt.Sprintf("%s:%d", names[t.Term], t.TF))
		}
		text, err := r.Text(i, &buf)
		if err != nil {
			return d, err
		}
		hash, err := r.PassageHash(i)
		if err != nil {
			return d, err
		}
		d.Passages = append(d.Passages, fmt.Sprint(r.PassageID(i), r.PassageDoc(i), hash, r.PassageLength(i), string(text), fwd))
	}
	for i := range r.Documents() {
		path, data, err := r.Document(i)
		if err != nil {
			return d, err
		}
		d.Docs = append(d.Docs, fmt.Sprint(modelDoc{r.DocumentID(i), string(path), string(data)}))
	}
	d.Length = r.Length()
	return d, nil
}

func check(t *testing.T, r *Reader, want dump) {
	t.Helper()
	got, err := dumpOf(r)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("the segment holds\n%.2000v\nnot\n%.2000v", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		ms, ds := randomModels(r, r.IntN(1+int(seed)*20), 1+r.IntN(400)), randomDocs(r, r.IntN(40))
		check(t, build(t, ms, ds, seed%2 == 0), expected(ms, ds))
	}
}

// TestFormatIsPinned: whoever changes the bytes of a segment changes Version, or
// old files would be misread, and FORMAT.md.
func TestFormatIsPinned(t *testing.T) {
	ms := []model{
		{Passage: Passage{ID: 3, Doc: 1, Hash: 99, Text: []byte("a b a")}, terms: []string{"a", "b", "a"}},
		{Passage: Passage{ID: 7, Doc: 2, Hash: 98, Text: []byte("c")}, terms: []string{"c"}},
	}
	for range 200 {
		next := ms[1]
		next.ID = ms[len(ms)-1].ID + 1
		ms = append(ms, next)
	}
	b := NewBuilder()
	for _, m := range ms {
		b.AddPassage(m.Passage, slices.Values(m.terms))
	}
	b.AddDocument(1, "/a", []byte("record"))
	var out bytes.Buffer
	if err := b.Write(&out, WriteOptions{GID: func(_ uint32, term string, _ uint64) uint32 { return uint32(term[0]) }}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%d %d %x", Version, out.Len(), xxh3.Hash(out.Bytes())); got != pinned {
		t.Errorf("the format is %s, pinned as %s", got, pinned)
	}
}

const pinned = "2 5216 80a191fc976bae34"

func TestMergeIsRebuild(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		ms, ds := randomModels(r, r.IntN(1+int(seed)*20), 1+r.IntN(400)), randomDocs(r, r.IntN(40))
		merged, live, liveDocs := mergeParts(t, r, ms, ds)
		check(t, merged, expected(live, liveDocs))
	}
}

// mergeParts cuts the models into segments, kills some and merges the rest.
func mergeParts(t *testing.T, r *rand.Rand, ms []model, ds []modelDoc) (*Reader, []model, []modelDoc) {
	parts := 1 + r.IntN(5)
	dead := r.IntN(3) * r.IntN(4) // in ten
	var in []Input
	var live []model
	var liveDocs []modelDoc
	for k := range parts {
		part := ms[len(ms)*k/parts : len(ms)*(k+1)/parts]
		var docs []modelDoc
		for i, d := range ds {
			if i%parts == k {
				docs = append(docs, d)
			}
		}
		x := Input{Reader: build(t, part, docs, r.IntN(2) == 0), Dead: NewBits(len(part)), DeadDocs: NewBits(len(docs))}
		for i, m := range part {
			if r.IntN(10) < dead {
				x.Dead.Set(i)
			} else {
				live = append(live, m)
			}
		}
		for i, d := range docs {
			if r.IntN(10) < dead {
				x.DeadDocs.Set(i)
			} else {
				liveDocs = append(liveDocs, d)
			}
		}
		in = append(in, x)
	}
	slices.SortFunc(liveDocs, func(a, b modelDoc) int { return int(a.id) - int(b.id) })
	var buf bytes.Buffer
	gone := map[string]bool{}
	scores := &Scores{
		Norm2:     func(k, i int) float32 { return float32(in[k].Reader.PassageID(i)) },
		Reference: func(gid uint32) float32 { return float32(gid) + 0.5 },
	}
	dropped := func(term []byte, gid uint32) { gone[string(term)] = gid == gidOf(string(term), xxh3.Hash(term)) }
	maxima := Maxima{Passages: r.IntN(100), Share: r.IntN(10), Super: r.IntN(4)}
	remaps, err := Merge(context.Background(), &buf, in, MergeOptions{Compress: r.IntN(2) == 0, Scores: scores, Dropped: dropped, Maxima: maxima})
	if err != nil {
		t.Fatal(err)
	}
	merged := open(t, buf.Bytes())
	checkRemaps(t, in, remaps, merged)
	checkScores(t, merged)
	checkMaxima(t, maxima, merged)
	checkDropped(t, ms, live, gone)
	return merged, live, liveDocs
}

func checkRemaps(t *testing.T, in []Input, remaps []Remap, merged *Reader) {
	t.Helper()
	for k, x := range in {
		for i, to := range remaps[k].Passages {
			if (to == Gone) != x.Dead.Has(i) {
				t.Fatalf("passage %d of input %d went to %d", i, k, to)
			}
			if to != Gone && merged.PassageID(int(to)) != x.Reader.PassageID(i) {
				t.Fatalf("passage %d of input %d went to another's place", i, k)
			}
		}
		for i, to := range remaps[k].Docs {
			if (to == Gone) != x.DeadDocs.Has(i) || to != Gone && merged.DocumentID(int(to)) != x.Reader.DocumentID(i) {
				t.Fatalf("document %d of input %d went to %d", i, k, to)
			}
		}
	}
}

func checkScores(t *testing.T, r *Reader) {
	t.Helper()
	if !r.HasScores() {
		t.Fatal("the merged segment has no scores")
	}
	for i := range r.Passages() {
		if r.Norm2(i) != float32(r.PassageID(i)) {
			t.Fatalf("norm of passage %d is %v", i, r.Norm2(i))
		}
		terms, err := r.Forward(i, nil)
		sum := 0.0
		for _, x := range terms {
			sum += math.Pow(1+math.Log(float64(x.TF)), 2)
		}
		if got := float64(r.Root(i)); err != nil || got < math.Sqrt(sum) || got > math.Sqrt(sum)*1.000001+1e-30 {
			t.Fatalf("root of passage %d is %v, not %v (%v)", i, got, math.Sqrt(sum), err)
		}
	}
	for i := range r.Terms() {
		if r.Reference(i) != float32(r.GID(i))+0.5 {
			t.Fatalf("reference of term %d is %v", i, r.Reference(i))
		}
	}
}

func checkDropped(t *testing.T, before, live []model, gone map[string]bool) {
	t.Helper()
	want := map[string]bool{}
	for _, m := range before {
		for _, x := range m.terms {
			want[x] = true
		}
	}
	for _, m := range live {
		for _, x := range m.terms {
			delete(want, x)
		}
	}
	if !reflect.DeepEqual(gone, want) {
		t.Fatalf("dropped terms are %v, not %v", gone, want)
	}
}

func TestMergeRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	ms := randomModels(r, 20, 30)
	a, b := build(t, ms[:10], nil, false), build(t, ms[10:], nil, false)
	ctx := context.Background()
	if _, err := Merge(ctx, io.Discard, []Input{{Reader: b}, {Reader: a}}, MergeOptions{}); err == nil {
		t.Error("segments merged against the order of their ids")
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Merge(ctx, io.Discard, []Input{{Reader: a}, {Reader: b}}, MergeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled merge ended with %v", err)
	}
}

func TestLookupAndCursor(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	ms := randomModels(r, 300, 300)
	seg := build(t, ms, nil, false)
	var all []string
	for c := seg.Cursor(); c.Next(); {
		all = append(all, string(c.Term()))
	}
	for range 2000 {
		q := randomTerm(r, 400)
		if r.IntN(3) == 0 {
			q += "0"
		}
		i, found := slices.BinarySearch(all, q)
		n, ok, err := seg.Lookup([]byte(q))
		if err != nil || ok != found || ok && n != i {
			t.Fatalf("Lookup(%q) = %d, %v, %v; want %d, %v", q, n, ok, err, i, found)
		}
		c, err := seg.CursorAt([]byte(q))
		if err != nil {
			t.Fatal(err)
		}
		if next := c.Next(); next != (i < len(all)) || next && string(c.Term()) != all[i] {
			t.Fatalf("CursorAt(%q) stands at %q, not %q", q, c.Term(), all[i:min(i+1, len(all))])
		}
	}
	for i, term := range all {
		if got, err := seg.Term(i, nil); err != nil || string(got) != term {
			t.Fatalf("Term(%d) = %q, %v; want %q", i, got, err, term)
		}
	}
}

func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	ms, ds := randomModels(r, 500, 10), randomDocs(r, 200)
	seg := build(t, ms, ds, false)
	for i, m := range ms {
		if got, ok := seg.FindPassage(m.ID); !ok || got != i {
			t.Fatalf("FindPassage(%d) = %d, %v; want %d", m.ID, got, ok, i)
		}
		_, ok := seg.FindPassage(m.ID + 1)
		if want := i+1 < len(ms) && ms[i+1].ID == m.ID+1; ok != want {
			t.Fatalf("FindPassage(%d) = %v", m.ID+1, ok)
		}
	}
	for i, d := range ds {
		if got, ok := seg.FindDocument(d.id); !ok || got != i {
			t.Fatalf("FindDocument(%d) = %d, %v; want %d", d.id, got, ok, i)
		}
		var got, want []int
		for j, e := range ds {
			if e.path == d.path {
				want = append(want, j)
			}
		}
		if err := seg.FindPath(d.path, func(i int) bool { got = append(got, i); return true }); err != nil || !slices.Equal(got, want) {
			t.Fatalf("FindPath(%q) = %v, %v; want %v", d.path, got, err, want)
		}
	}
}

func TestSkip(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		var ms []model
		for i := range 1 + r.IntN(3000) {
			m := model{Passage: Passage{ID: uint64(i)}, terms: []string{"other"}}
			if r.IntN(3) > 0 {
				m.terms = slices.Repeat([]string{"term"}, 1+r.IntN(3))
			}
			ms = append(ms, m)
		}
		ms[0].terms = []string{"term"}
		seg := build(t, ms, nil, false)
		n, _, _ := seg.Lookup([]byte("term"))
		var p Postings
		if err := seg.Postings(n, &p); err != nil {
			t.Fatal(err)
		}
		for to := 0; ; to += r.IntN(1 + r.IntN(1000)) {
			want := to
			for want < len(ms) && ms[want].terms[0] != "term" {
				want++
			}
			if ok := p.Skip(uint32(to)); ok != (want < len(ms)) || p.Err() != nil {
				t.Fatalf("seed %d: Skip(%d) = %v, %v", seed, to, ok, p.Err())
			} else if !ok {
				break
			}
			i, _ := slices.BinarySearch(p.Docs, uint32(to))
			if i == len(p.Docs) || int(p.Docs[i]) != want || int(p.TFs[i]) != len(ms[want].terms) {
				t.Fatalf("seed %d: Skip(%d) gives a block without %d", seed, to, want)
			}
		}
	}
}
