package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// expandPath returns the clean absolute path that a path of a config file
// means. A leading ~ or ~/ is the home directory, $NAME and ${NAME} are
// environment variables and $$ is a dollar sign; a $ before anything else
// stands for itself. A variable that is not set, or empty, is an error: the
// path would silently mean another place. So is a relative path, since the
// daemon's working directory is nobody's business. Empty stays empty.
func expandPath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	full, err := expandVars(path)
	if err != nil {
		return "", err
	}
	// Only a ~ that the file itself wrote: a variable's value is literal.
	if strings.HasPrefix(path, "~") {
		if full, err = expandTilde(full); err != nil {
			return "", err
		}
	}
	if strings.IndexByte(full, 0) >= 0 {
		return "", fmt.Errorf("must not hold a NUL byte (got %q)", path)
	}
	if !filepath.IsAbs(full) {
		return "", fmt.Errorf("must be an absolute path or begin with ~/ (got %q)", path)
	}
	return filepath.Clean(full), nil
}

func expandTilde(path string) (string, error) {
	rest := path[1:]
	if rest != "" && !os.IsPathSeparator(rest[0]) {
		return "", fmt.Errorf("the home of another user is not looked up: write its path (got %q)", path)
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", fmt.Errorf("there is no home directory for ~: set HOME or write the whole path (got %q)", path)
	}
	return home + rest, nil
}

func expandVars(s string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "$")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, rest, err := variable(after)
		if err != nil {
			return "", err
		}
		switch {
		case name != "":
			value := os.Getenv(name)
			if value == "" {
				return "", fmt.Errorf("the environment variable %s is not set ($$ is a plain dollar sign)", name)
			}
			b.WriteString(value)
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			rest = rest[1:]
		default:
			b.WriteByte('$')
		}
		s = rest
	}
}

// variable splits the text behind a $ into the name of a variable, "" for
// none, and what follows.
func variable(s string) (name, rest string, err error) {
	if inner, ok := strings.CutPrefix(s, "{"); ok {
		name, rest, ok = strings.Cut(inner, "}")
		if !ok {
			return "", "", errors.New("a ${ is not closed ($$ is a plain dollar sign)")
		}
		if name == "" || nameLength(name) != len(name) {
			return "", "", fmt.Errorf("${%s} does not name a variable ($$ is a plain dollar sign)", name)
		}
		return name, rest, nil
	}
	n := nameLength(s)
	return s[:n], s[n:], nil
}

// nameLength returns how many bytes of s form a variable's name.
func nameLength(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		letter := c >= 'a' && c <= 'z' || s[i] == '_'
		digit := s[i] >= '0' && s[i] <= '9'
		if !letter && (!digit || i == 0) {
			return i
		}
	}
	return len(s)
}

// escapePath writes an absolute path so that expandPath returns it.
func escapePath(path string) string { return strings.ReplaceAll(path, "$", "$$") }
