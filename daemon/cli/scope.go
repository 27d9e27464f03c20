package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"quern/ipc"
)

// scope turns the --folder flags into names of folders. Directories that are
// not watched are added for the daemon's life; added tells of any. A directory
// inside a watched folder is searched by its path.
func (a *app) scope(ctx context.Context, c *conn, f *searchFlags) (added bool, err error) {
	if len(f.folders) == 0 {
		return false, nil
	}
	var list ipc.FoldersResult
	if err := c.Call(ctx, ipc.MethodFoldersList, ipc.Empty{}, &list); err != nil {
		return false, err
	}
	for _, arg := range f.folders {
		if folder, ok := findFolder(list.Folders, arg); ok {
			f.params.Folders = append(f.params.Folders, folder.Name)
			continue
		}
		dir, err := directory(arg)
		if err != nil {
			return added, err
		}
		p := ipc.FolderParams{Path: ipc.EncodePath(dir), Temporary: true}
		if err := c.Call(ctx, ipc.MethodFoldersAdd, p, &list); err != nil {
			return added, err
		}
		wanted := p.Path
		if folder, ok := findFolder(list.Folders, arg); ok {
			wanted, added = folder.Name, true
		}
		f.params.Folders = append(f.params.Folders, wanted)
	}
	return added, nil
}

// findFolder finds a folder by its name, or else by its path.
func findFolder(folders []ipc.FolderStatus, arg string) (ipc.FolderStatus, bool) {
	for _, f := range folders {
		if f.Name == arg {
			return f, true
		}
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return ipc.FolderStatus{}, false
	}
	for _, f := range folders {
		if filepath.Clean(fromWire(f.Path)) == abs {
			return f, true
		}
	}
	for _, f := range folders {
		if sameDirectory(fromWire(f.Path), abs) {
			return f, true
		}
	}
	return ipc.FolderStatus{}, false
}

// sameDirectory sees through symbolic links and letter case.
func sameDirectory(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// directory makes the path of an existing directory absolute.
func directory(arg string) (string, error) {
	info, err := os.Stat(arg)
	switch {
	case err != nil && !strings.ContainsRune(arg, filepath.Separator):
		return "", usagef("quern folders list shows the names", "no folder %q: neither a folder's name nor a directory", arg)
	case err != nil:
		return "", usagef("", "no folder %q: %w", arg, err)
	case !info.IsDir():
		return "", usagef("name the directory; --path chooses files", "%q is no directory", arg)
	}
	return absolute(arg)
}
