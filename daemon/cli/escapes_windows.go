package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes makes the console understand escape sequences.
func enableEscapes(f *os.File) {
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) == nil {
		// An old console keeps its mode and shows the text without colour.
		_ = windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	}
}
