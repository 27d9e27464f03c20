package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

const (
	// maxSize bounds a config file in bytes: far more than anyone writes, and
	// little enough to read a wrong file (a device, a disk image) safely.
	maxSize = 1 << 20
	// maxNesting bounds brackets within brackets: the parser recurses, and a
	// stack that overflows cannot be recovered from.
	maxNesting = 200
)

// Load reads and checks the config file at path, and sees that the list of
// stop words it names can be read. A file that does not exist gives an error
// that wraps fs.ErrNotExist; a file that is wrong gives Errors.
func Load(path string) (Config, error) {
	data, err := readFile(path)
	if err != nil {
		return Config{}, err
	}
	c, doc, err := parse(path, data)
	if err != nil {
		return c, err
	}
	if err := c.checkStopwords(); err != nil {
		line := doc.root.get("analysis").get("stopwords").lineOr(0)
		return Config{}, Errors{{File: path, Line: line, Key: "analysis.stopwords", Message: err.Error()}}
	}
	return c, nil
}

// checkStopwords says why the list of stop words cannot be read. What stands in
// it is for its reader to check.
func (c Config) checkStopwords() error {
	list := c.Analysis.Stopwords
	if !filepath.IsAbs(list) {
		return nil // a built-in one
	}
	f, err := openNoWait(list)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return fmt.Errorf("cannot read the list %s: %w", list, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("cannot read the list %s: not a regular file", list)
	}
	return nil
}

// Parse checks the text of a config file; name stands for it in errors and in
// Config.Path. It reads the environment (for ~ and $VAR) but no file. What is
// wrong is returned as Errors: all of it, or the first syntax error alone.
func Parse(name string, data []byte) (Config, error) {
	c, _, err := parse(name, data)
	return c, err
}

// parse is Parse, and also returns where everything stands in the text.
func parse(name string, data []byte) (Config, *document, error) {
	label := name
	if label == "" {
		label = "config"
	}
	values, err := parseTOML(label, data)
	if err != nil {
		return Config{}, nil, err
	}
	doc := scan(string(data))
	if doc.wrong != nil {
		doc.wrong.File = label
		return Config{}, nil, Errors{doc.wrong}
	}
	d := decoder{file: label}
	c := d.config(values, doc.root)
	if len(d.errs) > 0 {
		d.errs.sort()
		return Config{}, nil, d.errs
	}
	c.Path = name
	return c, doc, nil
}

// parseTOML returns the values of the text, or its first syntax error.
func parseTOML(name string, data []byte) (values map[string]any, err error) {
	fail := func(line int, format string, args ...any) error {
		return Errors{{File: name, Line: max(line, 1), Message: fmt.Sprintf(format, args...)}}
	}
	if len(data) > maxSize {
		return nil, fail(1, "the file is larger than %s: this is not a config", FormatSize(maxSize))
	}
	if at := invalidUTF8(data); at >= 0 {
		return nil, fail(lineAt(data, at), "not valid UTF-8 (byte 0x%02x): save the file as UTF-8", data[at])
	}
	if at := tooDeep(data); at >= 0 {
		return nil, fail(lineAt(data, at), "brackets are nested more than %d deep", maxNesting)
	}
	// The parser reports its own bugs by panicking; for whoever wrote this
	// file they are errors of the file like any other.
	defer func() {
		if r := recover(); r != nil {
			values, err = nil, fail(1, "the TOML parser failed: %v", r)
		}
	}()
	if _, err := toml.Decode(string(data), &values); err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return nil, fail(syntaxLine(data, syntax.Position), "%s", strings.TrimSuffix(syntax.Message, "."))
		}
		return nil, fail(1, "%v", err)
	}
	return values, nil
}

// syntaxLine returns the line of a syntax error. The parser counts a line end
// that it trips over as part of the next line.
func syntaxLine(data []byte, at toml.Position) int {
	start := at.Start
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		start += len(byteOrderMark) // which the parser does not count
	}
	if start < len(data) && data[start] == '\n' && lineAt(data, start) == at.Line-1 {
		return at.Line - 1
	}
	return at.Line
}

// readFile reads a config file of at most maxSize bytes. A file in the shared
// temporary folder counts only when no one else could have put it there. What
// could keep the reader waiting (a FIFO, a terminal) is refused.
func readFile(path string) ([]byte, error) {
	if dir := filepath.Dir(path); dir == userTempDir(os.TempDir()) {
		if err := checkPrivateDir(dir); err != nil {
			return nil, fmt.Errorf("read config %s: %w", path, err)
		}
	}
	f, err := openNoWait(path)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() && path != os.DevNull {
		return nil, fmt.Errorf("read config: %s is not a regular file: put a config file in its place", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	return data, nil
}

// invalidUTF8 returns the offset of the first invalid byte, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns the offset of a bracket nested deeper than maxNesting, or
// -1. It also counts brackets in strings and comments, where so many that stay
// open are as absurd.
func tooDeep(data []byte) int {
	depth := 0
	for i, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxNesting {
			return i
		}
	}
	return -1
}

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}
