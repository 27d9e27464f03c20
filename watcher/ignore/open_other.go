//go:build !unix

package ignore

import "os"

// open opens a file for reading. Whether it is a link or a regular file
// was asked before; these systems have no FIFO in a directory.
func (s sight) open(name string, _ bool) (*os.File, error) { return os.Open(name) }

func isNotDir(error) bool { return false }
