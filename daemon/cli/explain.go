package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"quern/ipc"

	"github.com/spf13/cobra"
)

// explainFlags are the flags of quern explain.
type explainFlags struct {
	params ipc.ExplainParams
	json   bool
}

func (a *app) explainCommand() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain QUERY PATH#N",
		Short: "Account for a passage's score: tf, df, idf, weights, norms",
		Long: "Account for the score that a passage has for a query, term by term. The\n" +
			"contributions, added in the order shown, are the score to the last digit.",
		Args: explainArgs,
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			ref, err := passageReference(args[len(args)-1])
			if err != nil && turnedRound(args) {
				return usagef("quern explain QUERY PATH#N", "first the query, then PATH#N")
			}
			if err != nil {
				return err
			}
			f.params.Query = strings.Join(args[:len(args)-1], " ")
			return a.explain(cmd.Context(), f, ref)
		}),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.params.Model, "model", "", "rank by tfidf, bm25 or best (default: the config's)")
	fl.StringVar(&f.params.TF, "tf", "", "term frequency of tfidf: log or raw (default: the config's)")
	fl.BoolVar(&f.params.Literal, "literal", false, "take the words of the query as they are")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	a.completeRanking(cmd)
	return cmd
}

func explainArgs(_ *cobra.Command, args []string) error {
	if len(args) < 2 {
		return usagef("quern explain QUERY PATH#N", "a query and a passage are needed")
	}
	return searchArgs(nil, args[:len(args)-1])
}

// turnedRound tells whether the first argument names a passage of a file.
func turnedRound(args []string) bool {
	path, n := cutPassage(args[0])
	_, err := os.Lstat(path)
	return n != nil && err == nil
}

// passageReference reads PATH#N, in which the number is needed.
func passageReference(arg string) (reference, error) {
	ref, err := parseReference(arg)
	if err == nil && ref.passage == nil {
		err = usagef("quern show PATH lists the passages", "%q names no passage: write PATH#N", arg)
	}
	return ref, err
}

func (a *app) explain(ctx context.Context, f *explainFlags, ref reference) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := a.fresh(ctx, c); err != nil {
		return err
	}
	var e ipc.Explanation
	f.params.Passage = *ref.passage
	err = onDocument(ref.path, func(path string) error {
		f.params.Path, e = ipc.EncodePath(path), ipc.Explanation{}
		return c.Call(ctx, ipc.MethodExplain, f.params, &e)
	})
	if err != nil {
		return notShown("explain it", withQuery(err, f.params.Query))
	}
	if f.json {
		return a.printValue(e)
	}
	for _, line := range explainLines(&e, a.out, "") {
		a.out.printf("%s\n", line)
	}
	return nil
}

// explainLines renders an explanation as an aligned table, indented.
func explainLines(e *ipc.Explanation, o *output, indent string) []string {
	t := table{heads: []string{"term", ">query tf", ">tf", ">df", ">idf", ">query weight", ">passage weight", ">contribution"}}
	sum := 0.0
	for _, x := range e.Terms {
		t.add(explainedTerm(&x), count(x.QueryTF), count(x.TF), count(x.DF), decimal(x.IDF),
			decimal(x.QueryWeight), decimal(x.PassageWeight), exact(x.Contribution))
		sum += x.Contribution
	}
	for _, b := range e.Bonuses {
		t.add(oneLine(b.Kind+": "+b.Name), "", count(b.TF), "", decimal(b.IDF), decimal(b.Weight*b.IDF), decimal(float64(b.TF)/(float64(b.TF)+b.Length)), exact(b.Contribution))
		sum += b.Contribution
	}
	t.add("sum", "", "", "", "", "", "", exact(sum))
	lines := append([]string{indent + fmt.Sprintf("%s: score %s", modelText(e), exact(e.Score))}, t.fitted(o, indent)...)
	if h := e.Hybrid; h != nil {
		lines = append(lines, indent+fmt.Sprintf("score = sum %s / best sum %s + weight %g × cosine %s / best cosine %s",
			exact(h.Lexical), exact(h.LexicalBest), h.Weight, exact(h.Cosine), exact(h.CosineBest)))
	}
	lines = append(lines, indent+normText(e))
	if e.Closely != nil && !*e.Closely {
		lines = append(lines, indent+"not among the 100 passages that are looked at closely: headings and neighbouring words add nothing")
	}
	for _, d := range e.Demands {
		lines = append(lines, indent+oneLine(d.Clause)+": "+met(d.Met))
	}
	if len(e.Dropped) > 0 {
		lines = append(lines, indent+"dropped, as no passage contains them: "+oneLine(strings.Join(e.Dropped, ", ")))
	}
	return lines
}

// explainedTerm is a term with the prefix or fuzzy word that it stands for.
func explainedTerm(x *ipc.TermExplain) string {
	switch {
	case x.Term == "":
		return "nothing ranks: each passage"
	case x.Boost != 0:
		return fmt.Sprintf("%s (%s, × %g)", oneLine(x.Term), oneLine(strings.Join(x.From, " ")), x.Boost)
	case len(x.From) > 0:
		return fmt.Sprintf("%s (%s)", oneLine(x.Term), oneLine(strings.Join(x.From, " ")))
	}
	return oneLine(x.Term)
}

func met(yes bool) string {
	if yes {
		return "met"
	}
	return "not met: the passage is no hit"
}

// exact writes all digits that tell a number from its neighbours.
func exact(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func decimal(x float64) string { return fmt.Sprintf("%.6f", x) }

func modelText(e *ipc.Explanation) string {
	if e.Lexical != "" {
		return oneLine(e.Model) + " over " + oneLine(e.Lexical)
	}
	if e.TF != "" {
		return oneLine(e.Model) + ", tf " + oneLine(e.TF)
	}
	return oneLine(e.Model)
}

// normText writes what the terms have in common.
func normText(e *ipc.Explanation) string {
	text := fmt.Sprintf("N %s passages, passage length %s", count(e.Passages), plural(e.Length, "term", "terms"))
	if e.AverageLength > 0 {
		return text + fmt.Sprintf(", average %.4f, k1 %g, b %g", e.AverageLength, e.K1, e.B)
	}
	return text + fmt.Sprintf(", norms: query %s, passage %s", decimal(e.QueryNorm), decimal(e.PassageNorm))
}
