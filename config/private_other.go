//go:build !unix

package config

import (
	"io/fs"
	"os"
)

// userTempName names the user's own folder in the temporary folder, which is
// itself the user's own.
func userTempName() string { return "quern" }

func checkOwner(string, fs.FileInfo) error { return nil }

func keepOwner(string, fs.FileInfo) error { return nil }

// syncDir does nothing: directories cannot be synced here.
func syncDir(string) error { return nil }

// openNoWait opens a file for reading.
func openNoWait(path string) (*os.File, error) { return os.Open(path) }
