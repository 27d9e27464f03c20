package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"quern/index/extract"
	"quern/index/extract/sandbox"
	"quern/watcher"
)

// WorkerVerb is the first argument of an extraction process, which is this program
// itself; its main calls Worker with those that follow.
const WorkerVerb = sandbox.Verb

// Worker is the main of an extraction process. It returns the exit code.
func Worker(args []string) int { return sandbox.Main(args) }

// openSandbox makes what reads files.
func (d *Daemon) openSandbox() error {
	cache := filepath.Join(d.dataDir, "pdf-reader")
	// What lies in it is run as native code.
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return fmt.Errorf("make the PDF reader's cache: %w", err)
	}
	d.quarantine = openQuarantine(filepath.Join(d.dataDir, "quarantine.json"), d.log)
	d.sandbox = sandbox.New(sandbox.Options{Cache: cache, Log: d.log, Off: os.Getenv("QUERN_SANDBOX") == "off"})
	return nil
}

// quarantine knows the files that ended their reader, also after a restart. A file
// that has changed since, or is read by another version, is in it no more.
type quarantine struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex // guards files
	files map[string]inmate
}

// inmate is a file as it was when it ended its reader.
type inmate struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds
	Version  int    `json:"version"`  // of package extract
	Reason   string `json:"reason"`
}

// openQuarantine reads what an earlier daemon knew; a damaged file is as none.
func openQuarantine(path string, log *slog.Logger) *quarantine {
	q := &quarantine{path: path, log: log, files: map[string]inmate{}}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &q.files)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the list of quarantined files cannot be read and begins anew", "err", err)
	}
	if q.files == nil {
		q.files = map[string]inmate{}
	}
	return q
}

// reason is why a file that looks like info is not read, or "".
func (q *quarantine) reason(path string, info watcher.Info) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := quarantineKey(path)
	f, ok := q.files[key]
	if !ok {
		return ""
	}
	if f.Size == info.Size && f.Modified == info.Modified.UnixNano() && f.Version == extract.Version {
		return f.Reason
	}
	delete(q.files, key)
	q.save()
	return ""
}

// add keeps a file that looks like info from being read.
func (q *quarantine) add(path string, info watcher.Info, reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.files[quarantineKey(path)] = inmate{info.Size, info.Modified.UnixNano(), extract.Version, reason}
	q.log.Warn("a file is quarantined until it changes", "path", path, "reason", reason)
	q.save()
}

// quarantineKey is a path as JSON can keep it, whatever its bytes.
func quarantineKey(path string) string { return fmt.Sprintf("%q", path) }

// save writes the list. The caller holds q.mu.
func (q *quarantine) save() {
	data, err := json.Marshal(q.files)
	if err == nil {
		err = os.WriteFile(q.path+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(q.path+".new", q.path)
	}
	if err != nil {
		q.log.Warn("the list of quarantined files cannot be written", "err", err)
	}
}
