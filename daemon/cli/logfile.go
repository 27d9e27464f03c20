package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// logLimit bounds the background daemon's log file, in bytes; when it is
// shortened its newest quarter stays.
const logLimit = 1 << 20

// daemonLogPath names the log of daemons started in the background.
func daemonLogPath(s settings) (string, error) {
	dir, err := s.config.DataDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "daemon.log"), nil
}

// openLog opens the log for appending, for the owner alone, and makes its
// directory.
func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := shorten(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("shorten %s: %w", path, err)
	}
	return file, nil
}

// boundedLog keeps a file that is open for reading and appending from growing
// beyond logLimit.
type boundedLog struct {
	mu   sync.Mutex // guards size, and the file while it is shortened
	file *os.File
	size int64
}

func newBoundedLog(file *os.File) *boundedLog {
	l := &boundedLog{file: file}
	if info, err := file.Stat(); err == nil {
		l.size = info.Size()
	}
	return l
}

// Write implements io.Writer.
func (l *boundedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > logLimit {
		if err := shorten(l.file); err != nil {
			return 0, fmt.Errorf("shorten the log: %w", err)
		}
		if info, err := l.file.Stat(); err == nil {
			l.size = info.Size()
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

// shorten leaves the newest lines of a log that has grown beyond half its
// limit. What another process appends meanwhile may be lost.
func shorten(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() <= logLimit/2 {
		return err
	}
	tail, err := io.ReadAll(io.NewSectionReader(file, info.Size()-logLimit/4, logLimit/4))
	if err != nil {
		return err
	}
	for i, b := range tail {
		if b == '\n' {
			tail = tail[i+1:]
			break
		}
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.Write(tail)
	return err
}
