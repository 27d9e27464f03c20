package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// followLinks returns the file that a path means after its last element's
// symbolic links, whether or not it exists.
func followLinks(path string) (string, error) {
	const most = 40 // as Linux
	for range most {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

// replaceFile puts after in the place of the file at path, which holds before
// or is missing. Readers see the old file or the new one, also after a power
// cut; the mode (and for root the owner) is kept. A file that someone else has
// changed meanwhile is left alone.
func replaceFile(path string, before, after []byte, missing bool) error {
	dir := filepath.Dir(path)
	if missing {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	temp, err := writeTemp(dir, path, after, missing)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // fails when it has been renamed, as it should
	if same, err := unchanged(path, before, missing); err != nil {
		return err
	} else if !same {
		return errors.New("the file was changed by someone else meanwhile: try again")
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(dir)
}

// writeTemp writes data to a new file beside path, synced, with the mode of
// the file at path or 0600.
func writeTemp(dir, path string, data []byte, missing bool) (name string, err error) {
	f, err := os.CreateTemp(dir, ".config-*.toml.tmp")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return "", err
	}
	if !missing {
		if err = copyMode(f, path); err != nil {
			return "", err
		}
	}
	if err = f.Sync(); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// copyMode gives f the mode and the owner of the file at path. The owner comes
// first, since a change of owner may clear bits of the mode.
func copyMode(f *os.File, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := keepOwner(f.Name(), info); err != nil {
		return err
	}
	return f.Chmod(info.Mode().Perm())
}

// folderTable writes f as a [[folder]] table, without the keys that have their
// default.
func folderTable(f Folder) string {
	f = completed(f)
	d := DefaultFolder(f.Path)
	var b strings.Builder
	line := func(key, value string) { fmt.Fprintf(&b, "%s = %s\n", key, value) }
	b.WriteString("[[folder]]\n")
	line("path", quote(escapePath(f.Path)))
	if f.Name != d.Name {
		line("name", quote(f.Name))
	}
	if len(f.Include) != 1 || f.Include[0] != "**" {
		line("include", quoteList(f.Include))
	}
	if len(f.Exclude) > 0 {
		line("exclude", quoteList(f.Exclude))
	}
	flag := func(key string, value, def bool) {
		if value != def {
			line(key, fmt.Sprint(value))
		}
	}
	flag("gitignore", f.Gitignore, d.Gitignore)
	flag("hidden", f.Hidden, d.Hidden)
	flag("follow_symlinks", f.FollowSymlinks, d.FollowSymlinks)
	if f.MaxFileSize != d.MaxFileSize {
		line("max_file_size", quote(FormatSize(f.MaxFileSize)))
	}
	if f.Poll != d.Poll {
		line("poll", quote(f.Poll.String()))
	}
	if f.WhenAbsent != d.WhenAbsent {
		line("when_absent", quote(f.WhenAbsent))
	}
	if len(f.Users) > 0 {
		line("users", quoteList(f.Users))
	}
	if len(f.Groups) > 0 {
		line("groups", quoteList(f.Groups))
	}
	return b.String()
}

// String writes p as the value of the key poll.
func (p Poll) String() string {
	if p.Mode == PollInterval {
		return p.Interval.String()
	}
	return p.Mode
}

func quoteList(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote writes s as a TOML basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quoteKey writes a key, quoted where TOML needs it.
func quoteKey(key string) string {
	for _, r := range key {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		if !letter && (r < '0' || r > '9') && r != '_' && r != '-' {
			return quote(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}

// writable reports whether TOML can hold s.
func writable(s string) bool { return utf8.ValidString(s) }
