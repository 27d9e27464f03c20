package daemon

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"syscall"
	"time"

	"quern/config"
	"quern/daemon/access"
	"quern/watcher/ignore"
)

// sees lets through what the rules of a folder let through and a user may read. What
// it does not is never watched for that user, nor counted, nor waited for.
type sees struct {
	*ignore.Filter
	root   string
	user   access.User
	barred []string // folders that are not for the user, which may lie in this one
}

// Dir reports whether the directory may hold files to index.
func (s *sees) Dir(rel string) bool {
	path := filepath.Join(s.root, filepath.FromSlash(rel))
	if s.isBarred(path) {
		return false
	}
	may, err := s.user.MayEnter(path)
	return err == nil && may && s.Filter.Dir(rel)
}

// File reports whether the file is to be indexed.
func (s *sees) File(rel string) bool {
	path := filepath.Join(s.root, filepath.FromSlash(rel))
	if s.isBarred(path) || !s.Filter.File(rel) {
		return false
	}
	may, err := s.user.MayRead(path)
	return err == nil && may
}

func (s *sees) isBarred(path string) bool {
	return slices.ContainsFunc(s.barred, func(b string) bool {
		_, in := relativeTo(b, path)
		return in
	})
}

// linkedPoll is how often a folder is scanned for a user in which symbolic links are
// followed: no event tells of permissions above what a link leads to.
const linkedPoll = 15 * time.Second

// foldersOf are the folders that the user may search and enter. Those that stand
// unchanged among before are taken from there.
func foldersOf(cfg config.Config, before []*folder, u access.User) []*folder {
	var out []*folder
	barred := barredPaths(cfg, u)
	for _, f := range openFolders(cfg, u) {
		same := slices.IndexFunc(before, func(b *folder) bool {
			return reflect.DeepEqual(b.Folder, f) && slices.Equal(b.sees.barred, barred)
		})
		if same >= 0 {
			out = append(out, before[same])
			continue
		}
		n := &folder{Folder: f, filter: newFilter(f, &u)}
		n.sees = &sees{n.filter, f.Path, u, barred}
		out = append(out, n)
	}
	return out
}

// openFolders are the configured folders that the user may search and enter. One that
// cannot be entered is not told of at all.
func openFolders(cfg config.Config, u access.User) []config.Folder {
	var out []config.Folder
	for _, f := range cfg.Folders {
		if !isFor(f, u) {
			continue
		}
		if may, err := u.MayEnter(f.Path); err == nil && may {
			out = append(out, f)
		}
	}
	return out
}

func openPaths(cfg config.Config, u access.User) []string {
	var out []string
	for _, f := range openFolders(cfg, u) {
		out = append(out, f.Path)
	}
	return out
}

func barredPaths(cfg config.Config, u access.User) []string {
	var out []string
	for _, f := range cfg.Folders {
		if !isFor(f, u) {
			out = append(out, f.Path)
		}
	}
	return out
}

func pathsOf(folders []*folder) []string {
	var out []string
	for _, f := range folders {
		out = append(out, f.Path)
	}
	return out
}

// isFor reports whether the config lets the user search the folder. A name that no
// account has lets nobody.
func isFor(f config.Folder, u access.User) bool {
	if len(f.Users)+len(f.Groups) == 0 {
		return true
	}
	isUser := func(name string) bool { return accountID(name, userID) == int64(u.UID) }
	isGroup := func(name string) bool {
		return slices.Contains(u.Groups, uint32(accountID(name, groupID))) && accountID(name, groupID) >= 0
	}
	return slices.ContainsFunc(f.Users, isUser) || slices.ContainsFunc(f.Groups, isGroup)
}

// accountID is the number of an account that is given by number or by name, -1 if there is
// none.
func accountID(name string, lookup func(string) (string, error)) int64 {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return int64(n)
	}
	text, err := lookup(name)
	if err != nil {
		return -1
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return -1
	}
	return int64(n)
}

func userID(name string) (string, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return "", err
	}
	return u.Uid, nil
}

func groupID(name string) (string, error) {
	g, err := user.LookupGroup(name)
	if err != nil {
		return "", err
	}
	return g.Gid, nil
}

// knows reports whether the user may know of the file or directory: may read it, or
// go through it.
func knows(u *access.User, path string) bool {
	if may, err := u.MayRead(path); err == nil && may {
		return true
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	may, err := u.MayEnter(path)
	return err == nil && may
}

// lstat looks at a path for the core's user: what that one may not know of is not
// there, in whatever way it is not.
func (c *core) lstat(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if c.user != nil && (err != nil || !c.mayKnow(path)) {
		return nil, &fs.PathError{Op: "lstat", Path: path, Err: syscall.ENOENT}
	}
	return info, err
}

// mayKnow reports whether the core's user may know of the path.
func (c *core) mayKnow(path string) bool { return c.user == nil || knows(c.user, path) }

// readFile is readFile as the core's user: whatever has taken the file's place since it
// was let through, nothing is read that the user could not.
func (c *core) readFile(path string, limit int64, follow bool) ([]byte, fs.FileInfo, error) {
	if c.user == nil {
		return readFile(openFile, path, limit, follow)
	}
	data, info, err := readFile(func(path string, follow bool) (*os.File, error) {
		return c.user.Open(path, openFlags(follow))
	}, path, limit, follow)
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil, errHidden
	}
	return data, info, err
}
