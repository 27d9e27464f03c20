package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// EnsurePrivateDir makes dir with mode 0700 if it is missing (parents as
// well), and returns an error unless it is a real directory, not a link, that
// belongs to this user and that no other user may enter. On Windows, where the
// profile's access list does this work, only the first part is checked.
func EnsurePrivateDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	// Mkdir, not MkdirAll: whether we made it is settled by the system.
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	return checkPrivateDir(dir)
}

// checkPrivateDir is the second part of EnsurePrivateDir. A missing dir gives
// an error that wraps fs.ErrNotExist.
func checkPrivateDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return checkOwner(dir, info)
}
