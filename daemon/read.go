package daemon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	errVanished   = errors.New("vanished before it was read")
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("larger than max_file_size")
	// errHidden says that the user may not read it: it is as if it were not there.
	errHidden = errors.New("may not be read")
	// errChanged comes with the data as it was read.
	errChanged = errors.New("changed while it was read")
)

// opener opens files for reading, as openFile does.
type opener func(path string, follow bool) (*os.File, error)

// readFile reads a regular file of at most limit bytes (0: any size) without
// ever blocking on a FIFO or following a link that took the file's place.
// The error wraps errVanished, errNotRegular, errTooLarge or errChanged where
// one of them is the reason.
func readFile(open opener, path string, limit int64, follow bool) ([]byte, fs.FileInfo, error) {
	f, err := open(path, follow)
	switch {
	case errors.Is(err, fs.ErrNotExist), isReplaced(err):
		return nil, nil, errVanished
	case err != nil:
		return nil, nil, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w: %s", errNotRegular, before.Mode().Type())
	}
	if limit > 0 && before.Size() > limit {
		return nil, nil, fmt.Errorf("%w: %d bytes, the limit is %d", errTooLarge, before.Size(), limit)
	}
	data, err := readAtMost(f, before.Size(), limit)
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if after.Size() != int64(len(data)) || !after.ModTime().Equal(before.ModTime()) {
		return data, after, errChanged
	}
	return data, after, nil
}

// readAtMost reads the whole file; size is the expected one, limit (0: none)
// the largest, should the file grow meanwhile.
func readAtMost(f *os.File, size, limit int64) ([]byte, error) {
	var r io.Reader = f
	if limit > 0 {
		r = io.LimitReader(f, limit)
	}
	data := make([]byte, 0, size+1) // one more, so that the end is seen without growing
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}
