package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"quern/index/eval"
	"quern/ipc"

	"github.com/spf13/cobra"
)

// evalFlags are the flags of quern eval.
type evalFlags struct {
	golden  string
	options eval.Options

	corpus     string // a folder in BEIR's layout; "." is the golden set's own
	corpusType string
	folders    []string
	set        []string
	self       bool

	baseline string
	record   bool
	json     bool
	svg      string
	plot     bool
	noWhy    bool

	add      string
	relevant []string
}

const evalLong = `Ask the questions of a golden set and report recall, precision, hit rate, nDCG
and the tokens a reader pays, at several k; MRR; where recall stops rising; and
of all evidence that is missed, why.

A golden set is a .toml, .jsonl or .tsv file, or a folder in BEIR's layout.
Evidence is PATH, PATH#N, PATH:LINES, "a phrase" or PATH "a phrase".

Without --folder and --corpus it asks the daemon about the watched folders. With
them it makes an index that is thrown away, by the config and what --set changes
of it: --set analysis.stemmer=none.

Exit codes: 0 measured, 1 worse than the baseline, 2 usage, 3 the daemon is not
reachable, 4 any other failure.`

// ownCorpus is --corpus without a value.
const ownCorpus = "."

func (a *app) evalCommand() *cobra.Command {
	f := &evalFlags{}
	cmd := &cobra.Command{
		Use:   "eval GOLDEN",
		Short: "Measure how well your own questions find their answers",
		Long:  evalLong,
		Example: "  quern eval --add \"how long does a refund take\" questions.toml\n" +
			"  quern eval questions.toml --model tfidf,bm25,best\n" +
			"  quern eval questions.toml --baseline questions.baseline.json\n" +
			"  quern eval --self --folder ~/notes",
		Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			if err := f.finish(args); err != nil {
				return err
			}
			if f.add != "" {
				return a.evalAdd(cmd.Context(), f)
			}
			return a.eval(cmd.Context(), f)
		}),
	}
	f.register(cmd)
	must(cmd.RegisterFlagCompletionFunc("model", fixed(models...)))
	return cmd
}

func (f *evalFlags) register(cmd *cobra.Command) {
	fl, o := cmd.Flags(), &f.options
	fl.StringSliceVar(&o.Models, "model", nil, "measure these `models`, the others against the first (default: the config's)")
	fl.IntSliceVar(&o.Sweep, "sweep", nil, "measure at these `k` (default 1,2,3,5,10,20,50)")
	fl.IntVarP(&o.K, "k", "k", 0, "compare, diagnose and keep the baseline at this k (default 10, or the largest of --sweep)")
	fl.IntVar(&o.Words, "words", 0, "recall within so many `words` of the best hits, too")
	fl.StringVar(&f.corpus, "corpus", "", "index the corpus of a BEIR `folder`, or of GOLDEN itself")
	fl.Lookup("corpus").NoOptDefVal = ownCorpus
	fl.StringVar(&f.corpusType, "corpus-type", "txt", "the documents of the corpus are files of this `type`: py, md")
	fl.StringArrayVar(&f.folders, "folder", nil, "index this `directory` alone, for this once (repeatable)")
	fl.StringArrayVar(&f.set, "set", nil, "change the config of that index: `table.key=value` (repeatable)")
	fl.BoolVar(&f.self, "self", false, "ask for each document by its title, instead of a golden set")
	fl.StringVar(&f.baseline, "baseline", "", "compare with the figures in this `file`; record them if there is none")
	fl.BoolVar(&f.record, "record", false, "record the baseline anew")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.StringVar(&f.svg, "svg", "", "draw recall and precision over k into this `file`")
	fl.BoolVar(&f.plot, "plot", false, "draw them here, too (default on a terminal)")
	fl.BoolVar(&f.noWhy, "no-diagnosis", false, "do not say why what is missed is")
	fl.StringVar(&f.add, "add", "", "add this `query` to the golden set, with the hits that you mark")
	fl.StringArrayVar(&f.relevant, "relevant", nil, "with --add: this is the `evidence`, instead of asking (repeatable)")
}

// finish checks the flags.
func (f *evalFlags) finish(args []string) error {
	f.golden = strings.Join(args, "")
	o := &f.options
	if f.corpus == ownCorpus {
		f.corpus = f.golden
		if f.self {
			f.golden = ""
		}
	}
	switch {
	case f.golden == "" && f.corpus != "" && !f.self && f.add == "":
		f.golden = f.corpus
	case f.golden == "" && !f.self:
		return usagef("quern eval --add QUERY FILE.toml begins one", "a golden set is needed")
	case f.golden != "" && f.self:
		return usagef("choose one", "--self makes its own questions: no golden set goes with it")
	}
	switch {
	case f.corpus != "" && len(f.folders) > 0:
		return usagef("choose one", "--corpus and --folder exclude each other")
	case len(f.set) > 0 && f.corpus == "" && len(f.folders) == 0:
		return usagef("edit the config for the daemon's own index", "--set needs --folder or --corpus")
	case f.record && f.baseline == "":
		return usagef("", "--record needs --baseline FILE")
	case len(f.relevant) > 0 && f.add == "":
		return usagef("", "--relevant needs --add QUERY")
	}
	for _, n := range append(slices.Clone(o.Sweep), max(o.K, 1)) {
		if n < 1 || n > 1000 {
			return usagef("", "k must be from 1 to 1000, not %d", n)
		}
	}
	if o.K < 0 || o.Words < 0 {
		return usagef("", "-k and --words must not be negative")
	}
	slices.Sort(o.Sweep)
	o.Sweep = slices.Compact(o.Sweep)
	o.Diagnose = !f.noWhy
	return nil
}

func (a *app) eval(ctx context.Context, f *evalFlags) error {
	var set *eval.Set
	var err error
	if !f.self {
		if set, err = eval.Load(f.golden); err != nil {
			return failuref("", "cannot read the golden set: %w", err)
		}
	}
	s, err := a.openSource(ctx, f)
	if err != nil {
		return err
	}
	defer s.close()
	if f.self {
		if set, err = s.titles(ctx); err != nil {
			return err
		}
	}
	line := newProgressLine(a.msg, [2]string{})
	f.options.Progress = func(done, total int) {
		if done%10 == 0 {
			line.write(fmt.Sprintf("asked %s of %s", count(done), plural(total, "question", "questions")))
		}
	}
	report, err := eval.Run(ctx, s, set, f.options)
	line.clear()
	if err != nil {
		return inFlags(err)
	}
	nameModels(report, s.model)
	return a.finishEval(f, report)
}

// nameModels gives the default model its name.
func nameModels(r *eval.Report, model string) {
	for i := range r.Models {
		if r.Models[i].Model == "" {
			r.Models[i].Model = model
		}
	}
}

// finishEval prints what was measured, draws it, and holds it against the
// baseline.
func (a *app) finishEval(f *evalFlags, r *eval.Report) error {
	changes, err := f.compare(r)
	if err != nil {
		return err
	}
	if f.svg != "" {
		if err := writeSVG(f.svg, r); err != nil {
			return failuref("", "cannot draw: %w", err)
		}
	}
	if f.json {
		err = a.printValue(struct {
			*eval.Report
			Baseline []eval.Change `json:"baseline,omitempty"`
		}{r, changes})
	} else {
		a.printReport(r, f.plot || a.out.terminal)
		a.printChanges(changes)
	}
	if err == nil && slices.ContainsFunc(changes, func(c eval.Change) bool { return c.Worse }) {
		return &exitError{code: ExitNoHits, err: errors.New("worse than the baseline in " + f.baseline), hint: "--record keeps the new figures"}
	}
	return err
}

// compare holds the report against the baseline, or records it if there is none.
func (f *evalFlags) compare(r *eval.Report) ([]eval.Change, error) {
	if f.baseline == "" {
		return nil, nil
	}
	old, err := eval.ReadBaseline(f.baseline)
	switch {
	case f.record || errors.Is(err, fs.ErrNotExist):
		b, err := r.Baseline(r.K)
		if err == nil {
			err = b.Write(f.baseline)
		}
		if err != nil {
			return nil, failuref("", "cannot record the baseline: %w", err)
		}
		return nil, nil
	case err != nil:
		return nil, failuref("", "cannot read the baseline: %w", err)
	}
	changes, err := old.Compare(r)
	if err != nil {
		return nil, failuref("", "cannot compare with the baseline in %s: %w", f.baseline, err)
	}
	return changes, nil
}

func writeSVG(path string, r *eval.Report) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(r.WriteSVG(file), file.Close())
}

// evalParams are the params of a search that measures.
func evalParams(q eval.Query) ipc.SearchParams {
	p := ipc.SearchParams{Query: q.Text, K: q.K, Model: q.Model, Literal: true}
	if q.Collapse {
		p.Collapse = "document"
	}
	return p
}
