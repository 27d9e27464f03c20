package ignore

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// maxGitFile bounds the small files of git that are read, in bytes.
const maxGitFile = 1 << 20

// excludeFile returns the info/exclude file of the git repository whose top is
// dir; ok is false when dir is not the top of one. The file need not exist.
func (s sight) excludeFile(dir string) (name string, ok bool) {
	gitDir := filepath.Join(dir, ".git")
	fi, err := s.stat(gitDir, true)
	if err != nil {
		return "", false
	}
	if !fi.IsDir() {
		// A linked worktree or a submodule: the directory is elsewhere.
		data, err := s.readRegular(gitDir, maxGitFile, true)
		target, found := strings.CutPrefix(string(bytes.TrimSpace(data)), "gitdir: ")
		if err != nil || !found {
			return "", false
		}
		gitDir = within(dir, target)
	}
	if _, err := s.stat(filepath.Join(gitDir, "HEAD"), false); err != nil {
		return "", false
	}
	// Worktrees share the files of the repository they were made from.
	if data, err := s.readRegular(filepath.Join(gitDir, "commondir"), maxGitFile, true); err == nil {
		gitDir = within(gitDir, string(bytes.TrimSpace(data)))
	}
	return filepath.Join(gitDir, "info", "exclude"), true
}

// within returns name, taken from dir when it is relative.
func within(dir, name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// enclosingTop returns the top of the git repository that dir lies in, but is
// not the top of; "" when there is none.
func (s sight) enclosingTop(dir string) string {
	for {
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		if _, ok := s.excludeFile(up); ok {
			return up
		}
		dir = up
	}
}

// globalExcludes returns the user's global excludes file, "" when nothing says
// where it would be, and the config files that this depends on.
func (s sight) globalExcludes() (name string, configs []string) {
	home, _ := os.UserHomeDir()
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	if xdg != "" {
		name = filepath.Join(xdg, "git", "ignore")
	}
	for _, c := range configFiles(home, xdg) {
		configs = append(configs, c)
		data, err := s.readRegular(c, maxGitFile, true)
		if err != nil {
			continue
		}
		if v, ok := coreExcludesFile(string(data)); ok {
			name = expandHome(v, home)
		}
	}
	return name, configs
}

// configFiles are the user's git config files, the one that wins last.
func configFiles(home, xdg string) []string {
	if c, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		if c == "" {
			return nil
		}
		return []string{c}
	}
	var names []string
	if xdg != "" {
		names = append(names, filepath.Join(xdg, "git", "config"))
	}
	if home != "" {
		names = append(names, filepath.Join(home, ".gitconfig"))
	}
	return names
}

// expandHome expands "~/". A relative path has no meaning outside of one
// repository and names no file.
func expandHome(name, home string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && home != "" {
		return filepath.Join(home, filepath.FromSlash(rest))
	}
	if !filepath.IsAbs(name) {
		return ""
	}
	return name
}

// coreExcludesFile finds the last core.excludesFile in a git config file.
func coreExcludesFile(config string) (value string, ok bool) {
	core := false
	for line := range strings.Lines(strings.TrimPrefix(config, "\ufeff")) {
		line = strings.TrimSpace(line)
		if section, rest, found := strings.Cut(line, "]"); found && strings.HasPrefix(section, "[") {
			core = strings.EqualFold(strings.TrimSpace(section[1:]), "core")
			line = strings.TrimSpace(rest)
		}
		key, v, found := strings.Cut(line, "=")
		if core && found && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			value, ok = configValue(v), true
		}
	}
	return value, ok
}

// configValue reads a value: comments end it, quotes and backslashes are taken
// out, blanks around it do not count.
func configValue(v string) string {
	var b strings.Builder
	keep, quoted := 0, false // bytes that blanks at the end may not shorten
	v = strings.TrimLeft(v, " \t")
scan:
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch {
		case c == '"':
			quoted = !quoted
			keep = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			break scan
		case c == '\\' && i+1 < len(v):
			i++
			c = unescape(v[i])
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			keep = b.Len()
		}
	}
	return b.String()[:keep]
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}
