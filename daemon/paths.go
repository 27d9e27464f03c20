package daemon

import (
	"path/filepath"
	"strings"
)

// relativeTo returns path relative to root, slash-separated, and whether path
// is root itself or below it. Both are absolute and clean.
func relativeTo(root, path string) (string, bool) {
	if path == root {
		return ".", true
	}
	prefix := root
	if !strings.HasSuffix(prefix, string(filepath.Separator)) {
		prefix += string(filepath.Separator)
	}
	rel, ok := strings.CutPrefix(path, prefix)
	return filepath.ToSlash(rel), ok
}
