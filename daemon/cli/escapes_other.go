//go:build !windows

package cli

import "os"

// enableEscapes has nothing to do here: terminals understand escape sequences.
func enableEscapes(*os.File) {}
