package daemon

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"quern/config"
	"quern/index"
	"quern/ipc"
	"quern/watcher"
)

// status tells the daemon's state, and with a path that file's.
func (d *Daemon) status(ctx context.Context, p ipc.StatusParams) (ipc.StatusResult, error) {
	c := d.coreOf(ctx)
	watch := c.state()
	stats := c.engine.Snapshot().Stats()
	skipped, failed := c.files.counts()
	cfg, configErr, rebuilding := d.configState()
	out := ipc.StatusResult{
		State:   stateOf(watch),
		Version: d.opts.Version, PID: os.Getpid(), Started: d.started.UTC().Format(time.RFC3339),
		Generation: c.generation(), Config: cfg.Path, ConfigError: configErr, Socket: d.socket,
		Folders:  folderStatus(c),
		Files:    ipc.FileCounts{Indexed: stats.Documents, Pending: watch.Pending, Skipped: skipped, Failed: failed},
		Passages: stats.Passages, Terms: stats.Terms, Model: cfg.Rank.Model,
		Index: indexStatus(stats), Embedding: embeddingStatus(c.engine),
		Pending: watch.Pending, Progress: c.files.progress(watch.Pending),
		Memory: residentMemory(), Problems: c.files.list(maxProblems),
		Counters: watch.Counters, FirstIndexing: !c.isCaughtUp(),
	}
	out.Problems = slices.DeleteFunc(out.Problems, func(p ipc.FileStatus) bool { return isSecret(c, watch, p.Path) })
	for i := range out.Problems {
		out.Problems[i].Path = ipc.EncodePath(out.Problems[i].Path)
	}
	out.Paused = d.pauseStatus()
	out.Freshness = freshness(cfg, watch)
	if c.user == nil {
		c.work.addTo(out.Counters)
		d.addRehash(&out)
	} else {
		out.ConfigError, out.Memory = "", 0 // which others' folders and files have a part in
	}
	out.Watches = ipc.Watches{Used: watch.Watches, Limit: watch.WatchLimit}
	out.Warnings = warnings(c, stats, out.Folders, rebuilding, out.Paused)
	if p.Path != "" {
		path, err := absolute(p.Path)
		if err != nil {
			return ipc.StatusResult{}, err
		}
		file := d.fileStatus(ctx, c, path)
		out.File = &file
	}
	return out, nil
}

// isSecret reports whether the file's folder is absent and nothing is to be said
// of what it holds.
func isSecret(c *core, watch watcher.State, path string) bool {
	f := c.folderOf(path)
	return f != nil && f.WhenAbsent != config.AbsentKeep && !readable(watch)[f.Path]
}

func indexStatus(s index.Stats) ipc.IndexStatus {
	out := ipc.IndexStatus{Segments: s.Segments, Dead: s.Dead, DiskBytes: s.DiskBytes, Committed: s.Committed}
	if !s.CommittedAt.IsZero() {
		out.CommittedAt = timestamp(s.CommittedAt)
	}
	return out
}

// warnings are what the owner of the folders should know, in a stable order.
func warnings(c *core, stats index.Stats, folders []ipc.FolderStatus, rebuilding bool, paused *ipc.Paused) []string {
	var out []string
	if paused != nil {
		out = append(out, pauseWarning(paused))
	}
	if rebuilding {
		out = append(out, "the index is being built anew for the changed config; the old one answers meanwhile")
	}
	if err := c.stuck.Load(); err != nil {
		out = append(out, "changes cannot be indexed at present ("+(*err).Error()+"); they are tried again")
	}
	if stats.WriteError != nil {
		out = append(out, "the index cannot be written to disk at present ("+stats.WriteError.Error()+"); it is kept in memory and tried again")
	}
	if lacks := c.sandbox.Lacks(); len(lacks) > 0 {
		out = append(out, "extraction processes are less confined than they could be: "+strings.Join(lacks, "; "))
	}
	for _, f := range folders {
		if f.State == "suspended" {
			out = append(out, "folder "+f.Name+" cannot be read at present ("+f.Reason+"); "+absenceText[f.WhenAbsent])
		}
		if f.Polled > 0 {
			out = append(out, "folder "+f.Name+": "+f.Reason+"; changes there are found later, when the directories' turn comes")
		}
	}
	for _, f := range c.list() {
		out = append(out, f.filter.Problems()...)
	}
	return slices.Compact(out)
}

// absenceText says what becomes of an absent folder's passages.
var absenceText = map[string]string{
	"":                "what was indexed stays searchable",
	config.AbsentHide: "its passages are hidden meanwhile",
	config.AbsentDrop: "its passages are dropped, and made anew when it is back",
}

func pauseWarning(p *ipc.Paused) string {
	switch {
	case p.Reason == pausedByBattery:
		return "indexing is paused on battery (on_battery = \"pause\")"
	case p.Until != "":
		return "indexing is paused until " + p.Until + " (quern resume ends that)"
	}
	return errPaused.Error()
}

// addRehash tells of the rehash: it belongs to the third way.
func (d *Daemon) addRehash(out *ipc.StatusResult) {
	if d.rehash == nil {
		return
	}
	out.Counters["rehash_found"] = d.rehash.found.Load()
	if at := d.rehash.ended.Load(); at != 0 {
		out.Freshness.LastRehash = timestamp(time.Unix(0, at))
	}
}

// freshness tells how old what is searched may be, on each of the three ways by
// which a change is found.
func freshness(cfg config.Config, s watcher.State) ipc.Freshness {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return timestamp(t)
	}
	return ipc.Freshness{
		SettleMS:  cfg.Daemon.Settle.Milliseconds(),
		LastEvent: at(s.LastEvent), LastLost: at(s.LastLost), LastRescan: at(s.LastRebuild), LastAudit: at(s.LastAudit),
	}
}

func (d *Daemon) configState() (cfg config.Config, configErr string, rebuilding bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.configErr != nil {
		configErr = d.configErr.Error()
	}
	return d.cfg, configErr, d.next != nil
}

// residentMemory is the memory the process holds, in bytes.
func residentMemory() int64 {
	if n, ok := residentSetSize(); ok {
		return n
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}
