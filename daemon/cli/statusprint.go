package cli

import (
	"fmt"
	"strings"

	"quern/ipc"
)

// shownProblems bounds the problems that the human status lists.
const shownProblems = 20

// printFile writes one file's state and reason.
func (a *app) printFile(f ipc.FileStatus) {
	a.out.printf("%s: %s", a.newPathShower(a.out).showWire(f.Path), stateText(f))
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
	paths := a.newPathShower(a.out)
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

func (a *app) summaryLines(s *ipc.StatusResult, paths pathShower) []string {
	t := table{heads: []string{"", ""}}
	state := s.State
	if s.State != ipc.StateQuiescent {
		state = progressText(s)
	}
	t.add("state", state)
	t.add("index", fmt.Sprintf("generation %d, %s, %s, model %s", s.Generation,
		plural(s.Passages, "passage", "passages"), plural(s.Terms, "term", "terms"), s.Model))
	t.add("files", filesText(s.Files))
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
	t.add("daemon", fmt.Sprintf("version %s, pid %d, since %s, %s", oneLine(s.Version), s.PID, s.Started, sizeText(s.Memory)))
	return t.lines("")
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
	return append([]string{""}, folderTable(folders, paths).lines("")...)
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

func (a *app) problemLines(s *ipc.StatusResult, paths pathShower) []string {
	if len(s.Problems) == 0 {
		return nil
	}
	t := table{heads: []string{"", "", ""}}
	for _, p := range s.Problems[:min(len(s.Problems), shownProblems)] {
		state := p.State
		if p.State == ipc.FileFailed {
			state = a.out.style(styleBad, state)
		}
		t.add(state, paths.showWire(p.Path), oneLine(p.Reason))
	}
	lines := append([]string{"", "problems"}, t.lines("  ")...)
	if more := s.Files.Skipped + s.Files.Failed - shownProblems; more > 0 && len(s.Problems) > shownProblems {
		lines = append(lines, fmt.Sprintf("  and %s more (quern status --json)", count(more)))
	}
	return lines
}
