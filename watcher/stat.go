package watcher

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"
)

// ident is the identity of a file or directory; ino is 0 where it is not known.
type ident struct{ dev, ino uint64 }

func (i Info) ident() ident { return ident{i.Dev, i.Ino} }

// stamp is what lstat says of a path, small enough to keep for every file.
type stamp struct {
	id           ident
	size         int64
	mtime, ctime int64 // Unix nanoseconds; ctime is 0 where there is none
}

// found is a stamp with the kind of thing it is of.
type found struct {
	stamp
	mode  fs.FileMode
	nlink uint64 // names that the file has, 0 where it is not known
	link  bool   // reached through a symbolic link
}

func (s stamp) info() Info {
	i := Info{Dev: s.id.dev, Ino: s.id.ino, Size: s.size, Modified: time.Unix(0, s.mtime)}
	if s.ctime != 0 {
		i.Changed = time.Unix(0, s.ctime)
	}
	return i
}

// changed is when the content or the inode was last changed. The ctime cannot be forged.
func (s stamp) changed() int64 {
	if s.ctime != 0 {
		return s.ctime
	}
	return s.mtime
}

// lstat looks at a path; with follow, a symbolic link stands for its target (and
// is told by link even when the target is missing).
func lstat(path string, follow bool) (found, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return found{}, err
	}
	link := false
	if follow && fi.Mode()&fs.ModeSymlink != 0 {
		link = true
		if fi, err = os.Stat(path); err != nil {
			return found{link: true}, err
		}
	}
	id, ctime, nlink := identify(path, fi)
	s := stamp{id: id, size: fi.Size(), mtime: fi.ModTime().UnixNano(), ctime: ctime}
	return found{stamp: s, mode: fi.Mode(), nlink: nlink, link: link}, nil
}

// skipReason says why a thing that is not a directory is not indexed, "" if it may be.
func skipReason(f found, maxSize int64) string {
	switch m := f.mode; {
	case m&fs.ModeNamedPipe != 0:
		return "is a FIFO"
	case m&fs.ModeSocket != 0:
		return "is a socket"
	case m&fs.ModeDevice != 0:
		return "is a device"
	case !m.IsRegular():
		return "is not a regular file"
	case maxSize > 0 && f.size > maxSize:
		return fmt.Sprintf("larger than max_file_size: %s, the limit is %s", sizeText(f.size), sizeText(maxSize))
	}
	return ""
}

// sizeText is a number of bytes as people read it.
func sizeText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	size, unit := float64(n), 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	return strconv.FormatFloat(math.Round(size*10)/10, 'f', -1, 64) + " " + units[unit]
}

// tick returns the granularity to assume of the clock that made the stamp.
func (s stamp) tick(t time.Duration) time.Duration {
	if s.mtime%int64(time.Second) == 0 && s.ctime%int64(time.Second) == 0 {
		return max(t, 2*time.Second)
	}
	return t
}

// racy reports whether the file changed so short a time before now that a further
// change might leave the same stamp.
func (s stamp) racy(now time.Time, tick time.Duration) bool {
	d := now.UnixNano() - s.changed()
	return max(d, -d) < int64(s.tick(tick))
}
