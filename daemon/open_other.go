//go:build !unix

package daemon

import "os"

func openFlags(bool) int { return os.O_RDONLY }

func openFile(path string, follow bool) (*os.File, error) { return os.Open(path) }

func isReplaced(error) bool { return false }
