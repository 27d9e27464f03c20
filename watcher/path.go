package watcher

import (
	"os"
	"path/filepath"
	"strings"
)

const sep = string(os.PathSeparator)

// join appends a name to a clean directory path.
func join(dir, name string) string {
	if strings.HasSuffix(dir, sep) { // the file system's root
		return dir + name
	}
	return dir + sep + name
}

// under reports whether the clean path p is dir or lies below it.
func under(p, dir string) bool {
	if !strings.HasPrefix(p, dir) {
		return false
	}
	return len(p) == len(dir) || strings.HasSuffix(dir, sep) || p[len(dir)] == os.PathSeparator
}

// parentOf returns the directory of a clean absolute path, "" for the file
// system's root. Unlike filepath.Dir it never allocates.
func parentOf(p string) string {
	i := strings.LastIndexByte(p, os.PathSeparator)
	root := len(filepath.VolumeName(p))
	switch {
	case i < root || i == len(p)-1:
		return ""
	case i == root:
		return p[:i+1]
	}
	return p[:i]
}

// base returns the last element of a clean path.
func base(p string) string {
	return p[strings.LastIndexByte(p, os.PathSeparator)+1:]
}

// relTo returns p relative to dir, which holds it, with slashes; "" for dir itself.
func relTo(p, dir string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(p, dir), sep))
}

// before orders paths as a walk in the order of names meets them.
func before(a, b string) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i] == os.PathSeparator || b[i] == os.PathSeparator {
			return a[i] == os.PathSeparator
		}
		return a[i] < b[i]
	}
	return len(a) < len(b)
}
