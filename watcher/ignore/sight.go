package ignore

import (
	"io/fs"
	"os"
)

// sight is how the files that rules come from are looked at: as they are, or as one
// user sees them. What may, if set, says no to is as if it were not there; as, if set,
// opens files in place of os.OpenFile.
type sight struct {
	may func(path string) bool
	as  func(path string, flags int) (*os.File, error)
}

// stat looks at a file; with follow, a symbolic link stands for its target.
func (s sight) stat(name string, follow bool) (fs.FileInfo, error) {
	stat := os.Lstat
	if follow {
		stat = os.Stat
	}
	fi, err := stat(name)
	if err == nil && s.may != nil && !s.may(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return fi, err
}
