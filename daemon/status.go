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
)

// status tells the daemon's state, and with a path that file's.
func (d *Daemon) status(ctx context.Context, p ipc.StatusParams) (ipc.StatusResult, error) {
	c := d.core.Load()
	watch := c.watch.State()
	stats := c.engine.Snapshot().Stats()
	skipped, failed := c.files.counts()
	cfg, configErr, rebuilding := d.configState()
	out := ipc.StatusResult{
		State:   ipc.StateQuiescent,
		Version: d.opts.Version, PID: os.Getpid(), Started: d.started.UTC().Format(time.RFC3339),
		Generation: c.generation(), Config: cfg.Path, ConfigError: configErr, Socket: d.socket,
		Folders:  d.folderStatus(),
		Files:    ipc.FileCounts{Indexed: stats.Documents, Pending: watch.Pending, Skipped: skipped, Failed: failed},
		Passages: stats.Passages, Terms: stats.Terms, Model: cfg.Rank.Model,
		Index:   indexStatus(stats),
		Pending: watch.Pending, Progress: c.files.progress(watch.Pending),
		Memory: residentMemory(), Problems: c.files.list(maxProblems),
		Counters: watch.Counters, FirstIndexing: !c.isCaughtUp(),
	}
	for i := range out.Problems {
		out.Problems[i].Path = ipc.EncodePath(out.Problems[i].Path)
	}
	switch {
	case watch.Scanning:
		out.State = ipc.StateScanning
	case watch.Pending > 0:
		out.State = ipc.StateIndexing
	}
	out.Warnings = warnings(c, stats, out.Folders, rebuilding)
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

func indexStatus(s index.Stats) ipc.IndexStatus {
	out := ipc.IndexStatus{Segments: s.Segments, Dead: s.Dead, DiskBytes: s.DiskBytes, Committed: s.Committed}
	if !s.CommittedAt.IsZero() {
		out.CommittedAt = timestamp(s.CommittedAt)
	}
	return out
}

// warnings are what the owner of the folders should know, in a stable order.
func warnings(c *core, stats index.Stats, folders []ipc.FolderStatus, rebuilding bool) []string {
	var out []string
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
			out = append(out, "folder "+f.Name+" cannot be read at present ("+f.Reason+"); what was indexed stays searchable")
		}
	}
	for _, f := range c.list() {
		out = append(out, f.filter.Problems()...)
	}
	return slices.Compact(out)
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
