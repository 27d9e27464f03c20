package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"quern/ipc"

	"github.com/spf13/cobra"
)

// syncTimeout is how long a search waits for changes unless told otherwise.
const syncTimeout = 2 * time.Second

// searchFlags are the flags of quern search.
type searchFlags struct {
	params      ipc.SearchParams
	folders     []string
	types       []string
	syncTimeout time.Duration
	timeoutSet  bool
	noText      bool

	json, jsonl, vimgrep, files, nul bool
}

const searchLong = `Search the watched folders. The words of the query are OR-ed and ranked.
Among them, in any order:

  "exact phrase"    these words, one after the other
  +must  -not       only passages with the word, or without it
  prefix*  fuzzy~   words that begin so, or are spelt nearly so
  path:GLOB type:EXT folder:NAME heading:WORD title:WORD author:WORD
  since:DATE before:DATE    2026-11-01, today, yesterday, 7d, 2w, 3m, 1y

All that is not written exactly so is a word, and --literal makes everything one.
Quote a query for the shell, '"exact phrase" -not', or write -- before one that
starts with -.

The answer sees every change that was complete before the search began; a
first indexing is waited for. --sync=false answers at once.

Exit codes: 0 at least one hit, 1 no hit, 2 usage or bad query, 3 the daemon
is not reachable, 4 any other failure.`

func (a *app) searchCommand() *cobra.Command {
	f := &searchFlags{}
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Search the watched folders",
		Long:  searchLong,
		Example: "  quern search --folder ~/notes \"how long does a refund take\"\n" +
			"  quern search -k 3 --json --type md billing refunds\n" +
			"  quern search '+refund \"annual plan\" -draft since:3m'\n" +
			"  vim -q <(quern search --vimgrep billing)",
		Args: searchArgs,
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			if err := refuseSpacedSync(a.args); err != nil {
				return err
			}
			f.timeoutSet = cmd.Flags().Changed("sync-timeout")
			if err := f.finish(args); err != nil {
				return err
			}
			return a.search(cmd.Context(), f)
		}),
	}
	f.register(cmd)
	a.completeSearch(cmd)
	return cmd
}

func searchArgs(_ *cobra.Command, args []string) error {
	query := strings.Join(args, " ")
	switch {
	case strings.TrimSpace(query) == "":
		return usagef("quern search WORDS", "the query is empty")
	case strings.IndexFunc(query, inWord) < 0:
		return usagef("letters, digits and symbols such as emoji make words", "the query has no words")
	}
	return nil
}

// inWord tells whether r can be part of a word, whatever the tokenizer.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
}

func (f *searchFlags) register(cmd *cobra.Command) {
	fl, p := cmd.Flags(), &f.params
	fl.IntVarP(&p.K, "k", "k", 10, "how many hits")
	fl.IntVar(&p.Offset, "offset", 0, "leave out so many of the best hits")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVar(&f.jsonl, "jsonl", false, "print one JSON object a hit")
	fl.BoolVar(&f.vimgrep, "vimgrep", false, "print path:line:col:text of each hit's first matched word, or of its first line")
	fl.BoolVarP(&f.files, "files", "l", false, "print paths only, best first")
	fl.BoolVarP(&f.nul, "null", "0", false, "end paths with NUL (implies --files)")
	fl.StringArrayVar(&f.folders, "folder", nil, "only this folder: a `name` or a directory; one that is not watched is indexed first (repeatable)")
	fl.StringVar(&p.Path, "path", "", "only paths that match this `glob`")
	fl.StringSliceVar(&f.types, "type", nil, "only files of these `extensions`: md,txt")
	fl.StringVar(&p.Since, "since", "", "only documents changed since this `date`: 2026-11-01, yesterday, 7d, 3m")
	fl.StringVar(&p.Before, "before", "", "only documents changed before this `date`")
	fl.StringVar(&p.Model, "model", "", "rank by tfidf, bm25 or best (default: the config's)")
	fl.StringVar(&p.TF, "tf", "", "term frequency of tfidf: log or raw (default: the config's)")
	fl.StringVar(&p.Duplicates, "duplicates", "", "fold: nearly equal passages once; show: all (default: fold, where text is shown)")
	fl.StringVar(&p.Collapse, "collapse", "document", "document: each document's best passage; none: every passage")
	fl.IntVar(&p.Budget, "budget", 0, "the best hits that fit into so many `tokens` of four characters")
	fl.BoolVar(&p.Sync, "sync", true, "see every change made before the search")
	fl.DurationVar(&f.syncTimeout, "sync-timeout", syncTimeout, "how long to wait for changes")
	fl.BoolVar(&p.Explain, "explain", false, "account for each score")
	fl.BoolVar(&f.noText, "no-text", false, "leave the text out")
	fl.BoolVar(&p.Literal, "literal", false, "take the words of the query as they are")
}

// finish checks the flags and completes the params.
func (f *searchFlags) finish(args []string) error {
	p := &f.params
	p.Query = strings.Join(args, " ")
	switch {
	case p.K < 1:
		return usagef("", "-k must be at least 1, not %d", p.K)
	case p.Offset < 0:
		return usagef("", "--offset must not be negative: %d", p.Offset)
	case p.Budget < 0:
		return usagef("", "--budget must not be negative: %d", p.Budget)
	case f.syncTimeout <= 0:
		return usagef("--sync=false does not wait", "--sync-timeout must be positive: %s", f.syncTimeout)
	}
	for _, t := range f.types {
		if t = strings.TrimPrefix(strings.TrimSpace(t), "."); t != "" {
			p.Types = append(p.Types, t)
		}
	}
	p.SyncTimeoutMS = max(1, int(f.syncTimeout.Milliseconds()))
	return f.oneMode()
}

// oneMode allows one output mode and sets what it needs.
func (f *searchFlags) oneMode() error {
	f.files = f.files || f.nul
	var modes []string
	for _, m := range []struct {
		on   bool
		name string
	}{{f.json, "--json"}, {f.jsonl, "--jsonl"}, {f.vimgrep, "--vimgrep"}, {f.files, "--files (-0)"}} {
		if m.on {
			modes = append(modes, m.name)
		}
	}
	if len(modes) > 1 {
		return usagef("choose one", "%s exclude each other", strings.Join(modes, " and "))
	}
	text := !f.files && (!f.noText || f.vimgrep)
	f.params.Text = &text
	if f.params.Duplicates == "" && !f.files && !f.vimgrep {
		f.params.Duplicates = "fold"
	}
	return nil
}

// answer is a search result, decoded and as it came.
type answer struct {
	ipc.SearchResult
	raw json.RawMessage
}

func (a *app) search(ctx context.Context, f *searchFlags) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	first, err := a.scope(ctx, c, f)
	if err != nil {
		return err
	}
	if f.params.Sync {
		if err := a.catchUp(ctx, c, f, first || a.started); err != nil {
			return err
		}
	}
	r, err := ask(ctx, c, f.params)
	if err != nil {
		return err
	}
	a.warnStale(r, f)
	if err := a.printHits(r, f); err != nil {
		return err
	}
	if err := a.sayUnreadable(ctx, c, r, f); err != nil {
		return err
	}
	if len(r.Hits) == 0 {
		if err := a.sayNoHits(ctx, c, r, f); err != nil {
			return err
		}
		return &exitError{code: ExitNoHits}
	}
	return nil
}

func ask(ctx context.Context, c *conn, p ipc.SearchParams) (*answer, error) {
	r := &answer{}
	if err := c.Call(ctx, ipc.MethodSearch, p, &r.raw); err != nil {
		return nil, withQuery(inFlags(err), p.Query)
	}
	if err := json.Unmarshal(r.raw, &r.SearchResult); err != nil {
		return nil, fmt.Errorf("cannot read the daemon's answer: %w", err)
	}
	return r, nil
}

// warnStale says that the answer does not see every change.
func (a *app) warnStale(r *answer, f *searchFlags) {
	if r.Degraded != "" {
		a.say("ranked without vectors: %s", oneLine(r.Degraded))
	}
	switch {
	case r.Stale:
		a.say("the answer may be stale: %s not yet searchable (quern status --wait, or a longer --sync-timeout)",
			plural(r.Pending, "change is", "changes are"))
	case !f.params.Sync && r.Pending > 0 && a.msg.terminal:
		a.say("%s not yet searchable", plural(r.Pending, "change is", "changes are"))
	}
}
