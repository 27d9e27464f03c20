package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
)

// editing keeps two edits of this process from overwriting each other.
var editing sync.Mutex

// AddFolder appends a [[folder]] table for f to the config file at path; all
// else in the file stays byte for byte. Missing directories are made; a missing
// file begins as Template writes it.
// f should come from DefaultFolder: keys that have their default are not
// written, and an empty Name, Include, MaxFileSize or Poll.Mode means the
// default. f.Path must be absolute.
//
// It returns ErrFolderExists (wrapped) for a path or a name that the config
// has, ErrInlineFolders for a config it cannot edit, and Errors for a config
// that is wrong already; the file is then as it was.
func AddFolder(path string, f Folder) error {
	return edit(path, addTo(f))
}

// addTo is the change that AddFolder makes.
func addTo(f Folder) change {
	return func(old Config, doc *document) (string, []Folder, error) {
		f = completed(f)
		if err := canAdd(old, f); err != nil {
			return "", nil, err
		}
		if doc.inlineFolders() != 0 {
			return "", nil, fmt.Errorf("line %d: %w", doc.inlineFolders(), ErrInlineFolders)
		}
		return appendTable(doc.text, f), append(old.Folders, f), nil
	}
}

// RemoveFolder removes the [[folder]] table whose path or name is folder from
// the config file at path: from its header to its last key. All else stays byte
// for byte, except that a blank line that the removal would double goes too. A
// table that AddFolder appended last is undone exactly.
//
// It returns ErrFolderNotFound (wrapped) for a folder that the config does not
// have, and else errors as AddFolder does; the file is then as it was.
func RemoveFolder(path, folder string) error {
	return edit(path, removeFrom(folder))
}

// removeFrom is the change that RemoveFolder makes.
func removeFrom(folder string) change {
	return func(old Config, doc *document) (string, []Folder, error) {
		i := old.findFolder(folder)
		if i < 0 {
			return "", nil, fmt.Errorf("%s: %w%s", folder, ErrFolderNotFound, old.listFolders())
		}
		if line := doc.inlineFolders(); line != 0 {
			return "", nil, fmt.Errorf("line %d: %w", line, ErrInlineFolders)
		}
		rest := append(append([]Folder{}, old.Folders[:i]...), old.Folders[i+1:]...)
		return removeTable(doc, i), rest, nil
	}
}

// change computes the new text of a config, and the folders it should have.
type change func(Config, *document) (text string, want []Folder, err error)

// edit applies a change to the config file at path.
func edit(path string, apply change) error {
	editing.Lock()
	defer editing.Unlock()
	target, err := followLinks(path)
	if err != nil {
		return fmt.Errorf("edit config: %w", err)
	}
	before, err := readFile(target)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	base := before
	if missing {
		base = Template(nil)
	}
	after, err := changed(path, base, apply)
	if err != nil {
		return err
	}
	if err := replaceFile(target, before, after, missing); err != nil {
		return fmt.Errorf("edit config %s: %w", path, err)
	}
	return nil
}

// changed returns the text that a change makes of data, having read it back:
// the folders must be the wanted ones and all else equal.
func changed(name string, data []byte, apply change) ([]byte, error) {
	old, doc, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	text, want, err := apply(old, doc)
	if err != nil {
		return nil, fmt.Errorf("edit config %s: %w", name, err)
	}
	got, err := Parse(name, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("edit config %s: the edited text would not be valid, the file is unchanged: %w", name, err)
	}
	if !sameFolders(got.Folders, want) {
		return nil, fmt.Errorf("edit config %s: the edited text would mean something else, the file is unchanged: edit it by hand", name)
	}
	got.Folders, old.Folders = nil, nil
	if !reflect.DeepEqual(got, old) {
		return nil, fmt.Errorf("edit config %s: the edit would change other keys, the file is unchanged: edit it by hand", name)
	}
	return []byte(text), nil
}

func sameFolders(a, b []Folder) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !reflect.DeepEqual(completed(a[i]), completed(b[i])) {
			return false
		}
	}
	return true
}

// completed returns f with the default of what is empty.
func completed(f Folder) Folder {
	d := DefaultFolder(f.Path)
	f.Path = d.Path
	if f.Name == "" {
		f.Name = d.Name
	}
	if len(f.Include) == 0 {
		f.Include = d.Include
	}
	if len(f.Exclude) == 0 {
		f.Exclude = nil
	}
	if f.MaxFileSize == 0 {
		f.MaxFileSize = d.MaxFileSize
	}
	if f.Poll.Mode == "" {
		f.Poll = d.Poll
	}
	if f.WhenAbsent == "" {
		f.WhenAbsent = d.WhenAbsent
	}
	return f
}

// canAdd says why f cannot join the config.
func canAdd(c Config, f Folder) error {
	if !filepath.IsAbs(f.Path) {
		return fmt.Errorf("folder %q: the path must be absolute", f.Path)
	}
	if !writable(f.Path) {
		return fmt.Errorf("folder %q: the path is not valid UTF-8, which TOML cannot hold", f.Path)
	}
	for _, o := range c.Folders {
		if samePath(o.Path, f.Path) {
			return fmt.Errorf("%s: %w", f.Path, ErrFolderExists)
		}
		if o.Name == f.Name {
			return fmt.Errorf("%w: the name %q belongs to %s: give %s another name", ErrFolderExists, f.Name, o.Path, f.Path)
		}
	}
	return nil
}

// findFolder returns the index of the folder with that path or name, or -1.
// Names hold no slash, so an absolute path is never a name.
func (c Config) findFolder(folder string) int {
	path, err := expandPath(escapePath(folder))
	for i, f := range c.Folders {
		if f.Name == folder || err == nil && path != "" && samePath(f.Path, path) {
			return i
		}
	}
	return -1
}

func (c Config) listFolders() string {
	if len(c.Folders) == 0 {
		return " (it has none)"
	}
	names := make([]string, len(c.Folders))
	for i, f := range c.Folders {
		names[i] = f.Name
	}
	return " (it has " + strings.Join(names, ", ") + ")"
}

// inlineFolders returns the line of a key folder = [...], or 0.
func (doc *document) inlineFolders() int {
	for _, st := range doc.statements {
		if st.key[0] == "folder" && !st.header && doc.topLevel(st) {
			return st.line
		}
	}
	return 0
}

// topLevel reports whether a statement stands before the first header.
func (doc *document) topLevel(st statement) bool {
	for _, s := range doc.statements {
		if s.header {
			return st.start < s.start
		}
	}
	return true
}

// appendTable appends the table of f, after a blank line, in the line ends of
// the text. A text without a final line end stays without one, so that
// removeTable can restore it.
func appendTable(text string, f Folder) string {
	nl := lineEnd(text)
	table := strings.ReplaceAll(folderTable(f), "\n", nl)
	switch {
	case strings.TrimPrefix(text, byteOrderMark) == "":
		return text + table
	case strings.HasSuffix(text, "\n"):
		return text + nl + table
	}
	return text + nl + nl + strings.TrimSuffix(table, nl)
}

// removeTable removes the i-th [[folder]] table.
func removeTable(doc *document, i int) string {
	start, end := doc.folderSpan(i)
	head, tail := doc.text[:start], doc.text[end:]
	if blankBefore := cutLineEnd(head); tail == "" || startsBlank(tail) {
		if endsLine(blankBefore) || blankBefore == byteOrderMark {
			head = blankBefore
		}
	}
	if tail == "" && !strings.HasSuffix(doc.text, "\n") {
		head = cutLineEnd(head)
	}
	return head + tail
}

// folderSpan returns the bytes of the i-th [[folder]] table: the whole lines
// from its header to the last statement before another table's header.
func (doc *document) folderSpan(i int) (start, end int) {
	for _, st := range doc.statements {
		if !st.header {
			if end > 0 {
				end = st.end
			}
			continue
		}
		if end > 0 && (st.array || st.key[0] != "folder") {
			break
		}
		if end > 0 {
			end = st.end // [folder.sub]
		} else if st.array && len(st.key) == 1 && st.key[0] == "folder" {
			if i == 0 {
				start, end = st.start, st.end
			}
			i--
		}
	}
	return start, end
}

// lineEnd returns the line end that most lines of the text have.
func lineEnd(text string) string {
	if crlf := strings.Count(text, "\r\n"); crlf > strings.Count(text, "\n")-crlf {
		return "\r\n"
	}
	return "\n"
}

// cutLineEnd removes one final line end.
func cutLineEnd(s string) string {
	if cut, ok := strings.CutSuffix(s, "\n"); ok {
		return strings.TrimSuffix(cut, "\r")
	}
	return s
}

func endsLine(s string) bool { return s == "" || strings.HasSuffix(s, "\n") }

func startsBlank(s string) bool {
	return strings.HasPrefix(s, "\n") || strings.HasPrefix(s, "\r\n")
}

// unchanged reports whether the file at path still holds data.
func unchanged(path string, data []byte, missing bool) (bool, error) {
	now, err := os.ReadFile(path)
	if missing {
		return errors.Is(err, fs.ErrNotExist), nil
	}
	return bytes.Equal(now, data), err
}
