//go:build !unix

package daemon

import "os"

func openFile(path string, follow bool) (*os.File, error) { return os.Open(path) }

func isReplaced(error) bool { return false }
