package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"quern/ipc"
)

// printHits writes the answer in the mode asked for.
func (a *app) printHits(r *answer, f *searchFlags) error {
	switch {
	case f.json:
		return a.printJSON(r.raw)
	case f.jsonl:
		return a.printJSONL(r.raw)
	case f.vimgrep:
		a.printVimgrep(r.Hits)
	case f.files:
		a.printFiles(r.Hits, f.nul)
	default:
		a.printHuman(r.Hits, f)
	}
	return nil
}

// printJSON writes one JSON value on one line.
func (a *app) printJSON(raw json.RawMessage) error {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return fmt.Errorf("cannot read the daemon's answer: %w", err)
	}
	text := line.Bytes()
	if a.out.terminal {
		text = safeJSON(text)
	}
	a.out.printf("%s\n", text)
	return nil
}

func (a *app) printJSONL(raw json.RawMessage) error {
	var r struct {
		Hits []json.RawMessage `json:"hits"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("cannot read the daemon's answer: %w", err)
	}
	for _, hit := range r.Hits {
		if err := a.printJSON(hit); err != nil {
			return err
		}
	}
	return nil
}

// printValue writes any value as JSON, as printJSON does.
func (a *app) printValue(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot write JSON: %w", err)
	}
	return a.printJSON(raw)
}

// printFiles writes each document's path once, best first. With nul the paths
// are as they are, each ended by a NUL.
func (a *app) printFiles(hits []ipc.Hit, nul bool) {
	paths := a.newPathShower(a.out)
	seen := map[string]bool{}
	for _, h := range hits {
		if seen[h.Path] {
			continue
		}
		seen[h.Path] = true
		if nul {
			a.out.printf("%s\x00", fromWire(h.Path))
		} else {
			a.out.printf("%s\n", a.out.style(stylePath, paths.showWire(h.Path)))
		}
	}
}

func (a *app) printHuman(hits []ipc.Hit, f *searchFlags) {
	paths := a.newPathShower(a.out)
	for i, h := range hits {
		if i > 0 && (!f.noText || f.params.Explain) {
			a.out.printf("\n")
		}
		a.printHead(h, paths)
		if !f.noText {
			a.printSnippet(h)
		}
		a.printDuplicates(h, paths)
		if h.Explain != nil {
			for _, line := range explainLines(h.Explain, a.out, "    ") {
				a.out.printf("%s\n", line)
			}
		}
	}
}

// printHead writes path:first-last, the heading path and the score.
func (a *app) printHead(h ipc.Hit, paths pathShower) {
	a.out.printf("%s:%s", a.out.style(stylePath, paths.showWire(h.Path)), lineRange(h.Lines))
	if len(h.Heading) > 0 {
		a.out.printf("  %s", a.out.style(styleHeading, headingPath(h.Heading)))
	}
	a.out.printf("   %s\n", a.out.style(styleScore, fmt.Sprintf("%.4f", h.Score)))
}

// headingPath writes "› Heading › Path".
func headingPath(headings []string) string {
	parts := make([]string, len(headings))
	for i, h := range headings {
		parts[i] = "› " + cut(oneLine(h), 60)
	}
	return strings.Join(parts, " ")
}

// lineRange writes "3-7", or "3" for one line.
func lineRange(lines [2]int) string {
	if lines[0] == lines[1] {
		return fmt.Sprint(lines[0])
	}
	return fmt.Sprintf("%d-%d", lines[0], lines[1])
}

// shownDuplicates is how many of the hits folded into one are named.
const shownDuplicates = 3

// printDuplicates writes where nearly the same text stands.
func (a *app) printDuplicates(h ipc.Hit, paths pathShower) {
	if len(h.Duplicates) == 0 {
		return
	}
	var places []string
	for _, d := range h.Duplicates[:min(shownDuplicates, len(h.Duplicates))] {
		places = append(places, paths.showWire(d.Path)+":"+lineRange(d.Lines))
	}
	more := ""
	if n := len(h.Duplicates) - len(places); n > 0 {
		more = fmt.Sprintf(" and %s more", count(n))
	}
	a.out.printf("  same as %s%s\n", strings.Join(places, ", "), more)
}

// best is the part of a passage that the daemon holds for the best, if it names
// one.
func best(snippet *[2]int) [2]int {
	if snippet == nil {
		return [2]int{}
	}
	return *snippet
}

func (a *app) printSnippet(h ipc.Hit) {
	const indent = "  "
	mark := func(s string) string { return a.out.style(styleMatch, s) }
	for _, line := range snippet(h.Text, h.Highlights, best(h.Snippet), a.out.columns-len(indent), mark) {
		a.out.printf("%s%s\n", indent, line)
	}
}
