package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Where things are when nothing says otherwise. Each place is taken from the
// XDG variable of its kind when that is set to an absolute path (others are
// ignored, as the XDG specification asks), else from the platform's custom.
// Where the platform has none because there is no home directory, it is the
// user's own folder in the temporary one: quern-UID with mode 0700, so that
// every process of the user that has the same TMPDIR agrees on it.

// Where the daemon for all users keeps its index, and where it listens.
const (
	systemData   = "/var/cache/quern"
	SystemSocket = "/run/quern/quern.sock"
)

// FindConfig returns the path of the config file: flag if not empty, else
// QUERN_CONFIG, else config.toml in $XDG_CONFIG_HOME/quern or the platform's
// equivalent (os.UserConfigDir), else in quern-UID in the temporary folder.
// The path is absolute; whether a file is there, Load will tell.
func FindConfig(flag string) string {
	if path := cmp.Or(flag, os.Getenv("QUERN_CONFIG")); path != "" {
		return absolute(path)
	}
	return filepath.Join(userDir("XDG_CONFIG_HOME", ".config", os.UserConfigDir), "config.toml")
}

// DataDir returns the directory of the index and the catalogue: QUERN_DATA,
// else daemon.data_dir, else $XDG_CACHE_HOME/quern or the platform's equivalent
// (os.UserCacheDir), else data in quern-UID in the temporary folder; for all users,
// /var/cache/quern takes the place of the last three. quern-UID is
// made if missing, and refused if another user could reach into it; all else is
// left for the caller to make.
func (c Config) DataDir() (string, error) {
	if path := cmp.Or(os.Getenv("QUERN_DATA"), c.Daemon.DataDir); path != "" {
		return absolute(path), nil
	}
	if c.Daemon.Users == UsersAll {
		return systemData, nil
	}
	dir := userDir("XDG_CACHE_HOME", ".cache", os.UserCacheDir)
	if dir == userTempDir(os.TempDir()) {
		if err := EnsurePrivateDir(dir); err != nil {
			return "", fmt.Errorf("data directory (set data_dir or QUERN_DATA to another): %w", err)
		}
		dir = filepath.Join(dir, "data")
	}
	return dir, nil
}

// maxSocketPath is how many bytes a socket's path may have everywhere: the
// systems' limits are 104 (BSD, macOS) and 108 (Linux, Windows) with a final
// zero byte.
const maxSocketPath = 100

// SocketPath returns where the daemon listens: flag if not empty, else
// QUERN_SOCKET, else daemon.socket, else $XDG_RUNTIME_DIR/quern/quern.sock,
// else quern.sock in quern-UID in the temporary folder; for all users, SystemSocket
// takes the place of the last two.
//
// A path of more than 100 bytes, which no Unix socket can have everywhere, is
// replaced by one in quern-UID whose name is a hash of it: the same for client
// and daemon, as long as both see the same TMPDIR. (If TMPDIR is itself too
// long, quern-UID in /tmp is taken.) See ShortSocketPath to tell the user.
//
// quern-UID is made if missing, and refused if another user could reach into
// it. Other directories are left for the daemon to make.
func (c Config) SocketPath(flag string) (string, error) {
	path := c.wantedSocket(flag)
	short, err := ShortSocketPath(path)
	if err != nil {
		return "", err
	}
	if dir := filepath.Dir(short); dir == userTempDir(os.TempDir()) || short != path {
		if err := EnsurePrivateDir(dir); err != nil {
			return "", fmt.Errorf("socket directory (set QUERN_SOCKET or XDG_RUNTIME_DIR to another): %w", err)
		}
	}
	return short, nil
}

// wantedSocket is SocketPath without regard to the length.
func (c Config) wantedSocket(flag string) string {
	if path := cmp.Or(flag, os.Getenv("QUERN_SOCKET"), c.Daemon.Socket); path != "" {
		return absolute(path)
	}
	if c.Daemon.Users == UsersAll {
		return SystemSocket
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "quern", "quern.sock")
	}
	return filepath.Join(userTempDir(os.TempDir()), "quern.sock")
}

// ShortSocketPath returns path if a Unix socket can have it, else the path that
// SocketPath replaces it by. It touches no file.
func ShortSocketPath(path string) (string, error) {
	if len(path) <= maxSocketPath {
		return path, nil
	}
	sum := sha256.Sum256([]byte(path))
	name := "s-" + hex.EncodeToString(sum[:8]) + ".sock"
	temps := []string{os.TempDir()}
	if runtime.GOOS != "windows" {
		temps = append(temps, "/tmp")
	}
	for _, temp := range temps {
		if short := filepath.Join(userTempDir(temp), name); len(short) <= maxSocketPath {
			return short, nil
		}
	}
	return "", fmt.Errorf("socket path %s is longer than %d bytes and the temporary folder's too: set QUERN_SOCKET to a shorter one", path, maxSocketPath)
}

// userDir returns the directory quern in the user's directory of a kind, or the
// user's own folder in the temporary folder.
func userDir(xdg, underHome string, platform func() (string, error)) string {
	if dir := os.Getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "quern")
	}
	dir, err := platform()
	if err != nil {
		// The platform's function refuses a relative variable; XDG ignores it.
		home, _ := os.UserHomeDir()
		dir = filepath.Join(home, underHome)
	}
	if !filepath.IsAbs(dir) {
		return userTempDir(os.TempDir())
	}
	return filepath.Join(dir, "quern")
}

// userTempDir returns the user's own folder in the temporary folder temp.
func userTempDir(temp string) string {
	return filepath.Join(absolute(temp), userTempName())
}

// absolute makes a path absolute and clean; where even the working directory
// is gone, only clean.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}
