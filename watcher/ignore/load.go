package ignore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxRuleFile bounds a rule file in bytes; what is larger is no rule file.
const maxRuleFile = 1 << 20

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = fmt.Errorf("larger than %d bytes", maxRuleFile)
	errSymlink    = errors.New("a symbolic link, which git does not follow")
)

// readRegular reads a small regular file whole. With follow, a symbolic link
// at the end of the path is followed. It never waits: not for a FIFO, not for a
// device. A missing file is fs.ErrNotExist; of one that is larger than limit
// bytes the beginning comes with errTooLarge.
func (s sight) readRegular(name string, limit int64, follow bool) ([]byte, error) {
	// Asked first, since opening a device may do something.
	switch fi, err := s.stat(name, follow); {
	case err != nil:
		return nil, err
	case fi.Mode().Type() == fs.ModeSymlink:
		return nil, errSymlink
	case !fi.Mode().IsRegular():
		return nil, errNotRegular
	}
	f, err := s.open(name, follow)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return data[:limit], errTooLarge
	}
	return data, err
}

// absent reports that an error says there is no such file: no rule file is no
// problem.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotDir(err) }

// stamp is what the file system says of a rule file, nil when there is none. A
// change of it means that the file is to be read again.
func (s sight) stamp(name string, follow bool) fs.FileInfo {
	fi, err := s.stat(name, follow)
	if err != nil {
		return nil
	}
	return fi
}

func sameStamp(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if a.IsDir() && b.IsDir() {
		return os.SameFile(a, b) // .git: every git command changes its time
	}
	return a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
