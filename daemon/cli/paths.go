package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"quern/ipc"
)

// absolute makes a path given on the command line absolute and clean.
func absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", failuref("", "cannot make %q absolute: %w", path, err)
	}
	return abs, nil
}

// reference is a document, or one passage of it.
type reference struct {
	path    string // absolute
	passage *int
}

// parseReference reads PATH or PATH#N. An existing file whose name ends in #N
// is that file.
func parseReference(arg string) (reference, error) {
	if arg == "" {
		return reference{}, usagef("", "the path is empty")
	}
	var ref reference
	if _, err := os.Lstat(arg); err != nil {
		whole := arg
		arg, ref.passage = cutPassage(arg)
		if i := strings.LastIndexByte(whole, '#'); ref.passage == nil && i > 0 {
			if _, err := os.Lstat(whole[:i]); err == nil {
				return reference{}, usagef("they count from 0", "%q is no passage number", whole[i+1:])
			}
		}
	}
	var err error
	ref.path, err = absolute(arg)
	return ref, err
}

// cutPassage takes #N off the end of arg.
func cutPassage(arg string) (path string, passage *int) {
	i := strings.LastIndexByte(arg, '#')
	if i < 1 {
		return arg, nil
	}
	n, err := strconv.ParseUint(arg[i+1:], 10, 31)
	if err != nil {
		return arg, nil
	}
	number := int(n)
	return arg[:i], &number
}

// pathShower writes paths for one stream.
type pathShower struct {
	out  *output
	cwd  string
	home string
}

func (a *app) newPathShower(out *output) pathShower {
	// Without a working directory or a home, paths are shown absolute.
	cwd, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	return pathShower{out: out, cwd: cwd, home: home}
}

// newPlaceShower is newPathShower for answers about places: never relative to
// the working directory, which is nobody's business there.
func (a *app) newPlaceShower(out *output) pathShower {
	p := a.newPathShower(out)
	p.cwd = ""
	return p
}

// fromWire is a path as the file system has it. One that is no path is shown
// as it came.
func fromWire(path string) string {
	if decoded, err := ipc.DecodePath(path); err == nil {
		return decoded
	}
	return path
}

// showWire is show for a path as it stands in an answer.
func (p pathShower) showWire(path string) string { return p.show(fromWire(path)) }

// show writes a path for people: on a terminal relative to the working
// directory or to ~ where that is shorter, and harmless; elsewhere absolute.
func (p pathShower) show(path string) string {
	if !p.out.terminal {
		return linePath(path)
	}
	best := path
	if rel, ok := inside(p.cwd, path); ok && len(rel) < len(best) {
		best = rel
	}
	if rel, ok := inside(p.home, path); ok && len(rel)+2 < len(best) {
		best = filepath.Join("~", rel) // for the home itself: ~
	}
	return safePath(best)
}

// inside returns path relative to dir when it lies below it.
func inside(dir, path string) (rel string, ok bool) {
	if dir == "" {
		return "", false
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}
