//go:build !unix

package sandbox

import "os"

// outOfTime reports whether a process was ended for its use of the processor.
func outOfTime(*os.ProcessState) bool { return false }
