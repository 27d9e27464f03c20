package config

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

var (
	// ErrFolderExists is returned by AddFolder for a path or a name that the
	// config has already.
	ErrFolderExists = errors.New("folder is already configured")
	// ErrFolderNotFound is returned by RemoveFolder for a path or a name that
	// the config does not have.
	ErrFolderNotFound = errors.New("no such folder in the config")
	// ErrInlineFolders is returned by AddFolder and RemoveFolder for a config
	// that writes its folders as an inline array, which they do not edit.
	ErrInlineFolders = errors.New("folders are written as an inline array: edit the file by hand")
)

// Error is one thing that is wrong with a config file.
type Error struct {
	File    string
	Line    int    // 1-based; 0 when no single line is to blame
	Key     string // dotted, as "chunk.min_words"; empty for syntax errors
	Message string
}

// Error formats e as "file:line: key: message".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	b.WriteString(": " + e.Message)
	return b.String()
}

// Errors is everything that is wrong with a config file, in the order of the
// lines; it is never empty. errors.As finds the first *Error in it.
type Errors []*Error

// Error gives one error a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single errors.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

func (e Errors) sort() {
	sort.SliceStable(e, func(i, j int) bool { return e[i].Line < e[j].Line })
}
