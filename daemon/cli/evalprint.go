package cli

import (
	"fmt"
	"strings"

	"quern/index/eval"
)

// printReport prints what was measured, for people.
func (a *app) printReport(r *eval.Report, plot bool) {
	a.out.printf("%s: %s, %s of evidence\n", safeText(r.Set), plural(r.Questions, "question", "questions"), plural(r.Evidence, "piece", "pieces"))
	for i := range r.Models {
		a.printModel(r, &r.Models[i], plot)
	}
	for i := range r.Models {
		a.printMisses(r, &r.Models[i])
	}
}

func (a *app) printModel(r *eval.Report, m *eval.ModelReport, plot bool) {
	a.out.printf("\n%s\n", a.out.style(styleBold, safeText(m.Model)))
	t := table{heads: []string{">k", ">recall", ">precision", ">hit rate", ">nDCG", ">tokens", ""}}
	marked := false
	for _, f := range m.Sweep {
		note := ""
		if !marked && f.K >= m.Elbow {
			note, marked = fmt.Sprintf("recall stops rising at k %d", m.Elbow), true
		}
		t.add(count(f.K), figure(f.Recall), figure(f.Precision), figure(f.HitRate), figure(f.NDCG), fmt.Sprintf("%.0f", f.Tokens), note)
	}
	for _, line := range t.fitted(a.out, "  ") {
		a.out.printf("%s\n", line)
	}
	a.out.printf("  MRR %s\n", figure(m.MRR))
	if r.Words > 0 {
		a.out.printf("  recall within %s: %s\n", plural(r.Words, "word", "words"), figure(m.WithinWords))
	}
	if c := m.Against; c != nil {
		a.out.printf("  against %s at k %d: recall %+.4f (p %.3f), nDCG %+.4f (p %.3f); better for %s, worse for %d\n",
			safeText(r.Models[0].Model), r.K, c.Recall, c.RecallP, c.NDCG, c.NDCGP, plural(c.Better, "question", "questions"), c.Worse)
	}
	if plot {
		a.out.printf("  R recall, P precision, * both\n")
		for _, line := range m.Plot() {
			a.out.printf("  %s\n", line)
		}
	}
}

// figure writes a part of one.
func figure(x float64) string { return fmt.Sprintf("%.4f", x) }

// mostMisses is how many misses are printed; --json has all.
const mostMisses = 20

func (a *app) printMisses(r *eval.Report, m *eval.ModelReport) {
	if len(m.Misses) == 0 {
		return
	}
	a.out.printf("\nmissed by %s at k %d: %s of evidence\n", safeText(m.Model), r.K, plural(len(m.Misses), "piece", "pieces"))
	query := ""
	for i, miss := range m.Misses {
		if i == mostMisses {
			a.out.printf("  … and %d more (--json has all)\n", len(m.Misses)-i)
			return
		}
		if miss.Query != query {
			query = miss.Query
			a.out.printf("  %s\n", oneLine(query))
		}
		a.out.printf("    %s: %s\n", a.out.style(stylePath, oneLine(miss.Evidence)), oneLine(missText(&miss)))
	}
}

// missText says why evidence is missed, and what would help.
func missText(m *eval.Miss) string {
	switch m.Kind {
	case eval.Ranking:
		if m.Rank == 0 {
			return "ranking: it shares words with the question, and stands beyond the hits looked at"
		}
		return fmt.Sprintf("ranking: k %d reaches it", m.Rank)
	case eval.WordForm:
		var pairs []string
		for _, p := range m.Forms {
			pairs = append(pairs, fmt.Sprintf("%q asked, %q written", p[0], p[1]))
		}
		return "word form: no k reaches it, a stemmer may: " + strings.Join(pairs, ", ")
	case eval.Gap:
		return "vocabulary gap: no k reaches it; it says " + strings.Join(m.Terms, ", ")
	}
	return m.Reason
}

// printChanges prints figures beside those of the baseline.
func (a *app) printChanges(changes []eval.Change) {
	if len(changes) == 0 {
		return
	}
	t := table{heads: []string{"model", "figure", ">baseline", ">now", ""}}
	for _, c := range changes {
		note := ""
		switch {
		case c.Worse:
			note = "worse"
		case c.Now > c.Before+eval.Tolerance:
			note = "better"
		}
		t.add(safeText(c.Model), c.Figure, figure(c.Before), figure(c.Now), note)
	}
	a.out.printf("\n")
	for _, line := range t.fitted(a.out, "") {
		a.out.printf("%s\n", line)
	}
}
