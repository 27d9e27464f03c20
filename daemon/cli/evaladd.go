package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quern/index/eval"
)

// evalAdd adds a query to the golden set, with the evidence of the flags or the
// hits that the person marks.
func (a *app) evalAdd(ctx context.Context, f *evalFlags) error {
	var evidence []eval.Evidence
	for _, s := range f.relevant {
		e, err := eval.ParseEvidence(s)
		if err != nil {
			return usagef("", "--relevant: %w", err)
		}
		evidence = append(evidence, e)
	}
	if len(evidence) == 0 {
		var err error
		if evidence, err = a.markHits(ctx, f); err != nil {
			return err
		}
	}
	if len(evidence) == 0 {
		return failuref("", "no hit was marked: nothing is written")
	}
	if err := eval.Append(f.golden, f.add, evidence); err != nil {
		return failuref("", "cannot add to the golden set: %w", err)
	}
	a.out.printf("added to %s, with %s of evidence\n", a.newPathShower(a.out).show(f.golden), plural(len(evidence), "piece", "pieces"))
	return nil
}

// markHits shows the hits and asks which of them answer the query.
func (a *app) markHits(ctx context.Context, f *evalFlags) ([]eval.Evidence, error) {
	s, err := a.openSource(ctx, f)
	if err != nil {
		return nil, err
	}
	defer s.close()
	q := eval.Query{Text: f.add, K: max(f.options.K, 10)}
	if len(f.options.Models) > 0 {
		q.Model = f.options.Models[0]
	}
	hits, err := s.Search(ctx, q)
	if err != nil {
		return nil, inFlags(err)
	}
	if len(hits) == 0 {
		return nil, failuref("--relevant names the evidence all the same", "no hits for %q", f.add)
	}
	for i, h := range hits {
		a.out.printf("%2d  %s\n    %s\n", i+1, a.out.style(stylePath, safeText(fmt.Sprintf("%s#%d", h.Rel, h.Passage))), cut(oneLine(h.Text), 2*a.out.columns))
	}
	numbers, err := a.askNumbers(len(hits))
	if err != nil {
		return nil, err
	}
	var out []eval.Evidence
	for _, n := range numbers {
		e := eval.Evidence{Path: hits[n-1].Rel, Passage: hits[n-1].Passage, Grade: 1}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out, nil
}

// askNumbers reads numbers from 1 to most, asking again until they are right. An
// empty line, or the end of the input, is none.
func (a *app) askNumbers(most int) ([]int, error) {
	in := bufio.NewScanner(a.std.In)
	for {
		a.out.printf("Which of them answer the query? (numbers, or Enter for none) ")
		if err := a.out.flush(); err != nil {
			return nil, err
		}
		if !in.Scan() {
			a.out.printf("\n")
			return nil, in.Err()
		}
		numbers, ok := readNumbers(in.Text(), most)
		if ok {
			return numbers, nil
		}
		a.out.printf("Numbers from 1 to %d, with blanks or commas between.\n", most)
	}
}

func readNumbers(line string, most int) (out []int, ok bool) {
	for _, field := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' }) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > most {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}
