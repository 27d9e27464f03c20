package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quern/ipc"
)

// shownProblems bounds the problems that the human status lists one by one.
const shownProblems = 20

// printFile writes one file's state and reason.
func (a *app) printFile(f ipc.FileStatus) {
	a.out.printf("%s: %s", a.newPlaceShower(a.out).showWire(f.Path), stateText(f))
	if f.State == ipc.FileIndexed {
		a.out.printf(", %s", plural(f.Passages, "passage", "passages"))
	}
	a.out.printf("\n")
}

// stateText is a file's state and the reason for it.
func stateText(f ipc.FileStatus) string {
	switch reason := oneLine(f.Reason); {
	case reason == "":
		return f.State
	case f.State == ipc.FileUnknown && strings.HasPrefix(reason, "a directory"):
		return reason // which is known, after all
	default:
		return f.State + ": " + reason
	}
}

// statusLines writes the daemon's state for people.
func (a *app) statusLines(s *ipc.StatusResult) []string {
	paths := a.newPlaceShower(a.out)
	lines := a.summaryLines(s, paths)
	lines = append(lines, a.folderLines(s.Folders, paths)...)
	lines = append(lines, a.problemLines(s, paths)...)
	for i, w := range s.Warnings {
		if i == 0 {
			lines = append(lines, "", "warnings")
		}
		lines = append(lines, "  "+a.out.style(styleBad, oneLine(w)))
	}
	return lines
}

// vectorsText tells of the vectors of hybrid ranking.
func vectorsText(e *ipc.EmbeddingStatus) string {
	text := "none yet"
	if e.Name != "" {
		text = fmt.Sprintf("%s of %s, %s", plural(e.Embedded, "passage", "passages"), plural(e.Dimensions, "dimension", "dimensions"), oneLine(e.Name))
	}
	if e.Lacking > 0 {
		text += fmt.Sprintf(", %s to come", count(e.Lacking))
	}
	if e.Error != "" {
		text += ": " + oneLine(e.Error)
	}
	return text
}

func (a *app) summaryLines(s *ipc.StatusResult, paths pathShower) []string {
	t := table{heads: []string{"", ""}}
	state := s.State
	if s.State != ipc.StateQuiescent {
		state = progressText(s)
	}
	t.add("state", state)
	t.add("index", fmt.Sprintf("generation %d, %s, %s, model %s", s.Generation,
		plural(s.Passages, "passage", "passages"), plural(s.Terms, "term", "terms"), s.Model))
	t.add("disk", diskText(s.Index))
	if s.Embedding != nil {
		t.add("vectors", vectorsText(s.Embedding))
	}
	t.add("files", filesText(s.Files))
	if s.Paused != nil {
		t.add("paused", strings.TrimLeft(pauseText(s.Paused), ": "))
	}
	t.add("fresh", freshText(s.Freshness))
	if s.Pending > 0 {
		t.add("pending", plural(s.Pending, "change", "changes"))
	}
	t.add("config", paths.show(s.Config))
	if s.ConfigError != "" {
		for i, line := range strings.Split(strings.TrimSpace(s.ConfigError), "\n") {
			t.add(first(i, "  error"), a.out.style(styleBad, oneLine(line)))
		}
		t.add("", "the config read before stays in force")
	}
	t.add("socket", paths.show(s.Socket))
	running := fmt.Sprintf("version %s, pid %d, since %s", oneLine(s.Version), s.PID, s.Started)
	if s.Memory > 0 { // one for all users does not tell
		running += ", " + sizeText(s.Memory)
	}
	t.add("daemon", running)
	return t.fitted(a.out, "")
}

// freshText tells the three clocks by which changes are found.
func freshText(f ipc.Freshness) string {
	never := func(at string) string { return cmp.Or(oneLine(at), "never") }
	text := fmt.Sprintf("last event %s, read after %d ms of quiet; last audit %s", never(f.LastEvent), f.SettleMS, never(f.LastAudit))
	if f.LastLost != "" {
		text += fmt.Sprintf("; events lost %s, all scanned again %s", oneLine(f.LastLost), never(f.LastRescan))
	}
	return text
}

// diskText tells of the index on disk.
func diskText(s ipc.IndexStatus) string {
	text := sizeText(s.DiskBytes) + " in " + plural(s.Segments, "segment", "segments")
	if s.Dead > 0 {
		text += ", " + plural(s.Dead, "dead passage", "dead passages")
	}
	if s.CommittedAt != "" {
		text += fmt.Sprintf(", generation %d committed %s", s.Committed, s.CommittedAt)
	}
	return text
}

// first returns text for the first line of several.
func first(i int, text string) string {
	if i == 0 {
		return text
	}
	return ""
}

func filesText(f ipc.FileCounts) string {
	return fmt.Sprintf("%s indexed, %s pending, %s skipped, %s failed",
		count(f.Indexed), count(f.Pending), count(f.Skipped), count(f.Failed))
}

// sizeText writes bytes in binary units.
func sizeText(bytes int64) string {
	const units = "KMGT"
	if bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	size, unit := float64(bytes)/1024, 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", size, units[unit])
}

func (a *app) folderLines(folders []ipc.FolderStatus, paths pathShower) []string {
	if len(folders) == 0 {
		return []string{"", "no folder is watched (quern init FOLDER, or quern folders add FOLDER)"}
	}
	return append([]string{""}, folderTable(folders, paths).fitted(a.out, "")...)
}

func folderTable(folders []ipc.FolderStatus, paths pathShower) *table {
	t := &table{heads: []string{"folder", "path", ">documents", ">passages", "state"}}
	for _, f := range folders {
		state := f.State
		if f.Temporary {
			state += ", temporary"
		}
		if f.Reason != "" {
			state += ": " + folderReason(f)
		}
		t.add(oneLine(f.Name), paths.showWire(f.Path), count(f.Documents), count(f.Passages), state)
	}
	return t
}

// problemLines lists what failed, then the directories that cannot be read,
// then the files that were skipped; those are counted when there are many.
func (a *app) problemLines(s *ipc.StatusResult, paths pathShower) []string {
	if len(s.Problems) == 0 {
		return nil
	}
	listed, skipped := splitProblems(s.Problems)
	lines := []string{"", "problems"}
	if len(listed)+len(skipped) <= shownProblems {
		return append(lines, a.problemTable(append(listed, skipped...), paths)...)
	}
	shown := listed[:min(len(listed), shownProblems)]
	lines = append(lines, a.problemTable(shown, paths)...)
	if more := len(listed) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %s more such (quern status --json)", count(more)))
	}
	if rest := s.Files.Skipped + s.Files.Failed - len(listed); rest > 0 && len(skipped) > 0 {
		lines = append(lines, wrapped(skippedText(skipped, rest, len(s.Problems)), "  ", a.out.columnsOr(1<<16))...)
	}
	return lines
}

// splitProblems parts the problems: failures, then directories that cannot be
// read; and the files that are merely not for the index.
func splitProblems(problems []ipc.FileStatus) (listed, skipped []ipc.FileStatus) {
	var unreadable []ipc.FileStatus
	for _, p := range problems {
		switch {
		case p.State == ipc.FileFailed:
			listed = append(listed, p)
		case strings.HasPrefix(p.Reason, "cannot be read"):
			unreadable = append(unreadable, p)
		default:
			skipped = append(skipped, p)
		}
	}
	return append(listed, unreadable...), skipped
}

func (a *app) problemTable(problems []ipc.FileStatus, paths pathShower) []string {
	t := table{heads: []string{"", "", ""}}
	for _, p := range problems {
		state := p.State
		if p.State == ipc.FileFailed {
			state = a.out.style(styleBad, state)
		}
		t.add(state, paths.showWire(p.Path), oneLine(p.Reason))
	}
	return t.fitted(a.out, "  ")
}

// skippedText counts skipped files by reason, most frequent first. There are
// total of them, of which the daemon has named only so many.
func skippedText(skipped []ipc.FileStatus, total, named int) string {
	counts := map[string]int{}
	for _, p := range skipped {
		kind, _, _ := strings.Cut(oneLine(p.Reason), ":")
		counts[kind]++
	}
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(kinds))
	for i, kind := range kinds {
		parts[i] = count(counts[kind]) + " " + kind
	}
	lists := "lists them"
	if more := total - len(skipped); more > 0 {
		parts = append(parts, count(more)+" more")
		lists = "lists the first " + count(named)
	}
	return "skipped: " + strings.Join(parts, ", ") + "; quern status --json " + lists
}
