package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"quern/ipc"

	"github.com/spf13/cobra"
)

func (a *app) foldersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "folders",
		Short: "List, add and remove watched folders",
		Long: "List, add and remove watched folders. The config file is edited, with its\n" +
			"comments kept, and the daemon takes the change on at once.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("list, add or remove", "folders needs a verb")
			}
			return usagef("list, add or remove", "unknown verb %q of folders", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args refuses every call
	}
	cmd.AddCommand(a.foldersList(), a.foldersAdd(), a.foldersRemove())
	return cmd
}

func (a *app) foldersList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the watched folders",
		Args:  noArgs,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			return a.withDaemon(cmd.Context(), func(c *conn) error {
				var r ipc.FoldersResult
				if err := c.Call(cmd.Context(), ipc.MethodFoldersList, ipc.Empty{}, &r); err != nil {
					return err
				}
				if asJSON {
					return a.printValue(r)
				}
				a.printFolders(r.Folders)
				return nil
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// withDaemon runs body with a connection.
func (a *app) withDaemon(ctx context.Context, body func(*conn) error) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return body(c)
}

func (a *app) printFolders(folders []ipc.FolderStatus) {
	if len(folders) == 0 {
		a.say("no folder is watched (quern folders add FOLDER)")
		return
	}
	for _, line := range folderTable(folders, a.newPlaceShower(a.out)).fitted(a.out, "") {
		a.out.printf("%s\n", line)
	}
}

func (a *app) foldersAdd() *cobra.Command {
	var p ipc.FolderParams
	cmd := &cobra.Command{
		Use:   "add FOLDER",
		Short: "Watch a folder",
		Args:  oneArg("a directory", "quern folders add FOLDER"),
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			dir, err := directory(args[0])
			if err != nil {
				return err
			}
			p.Path = ipc.EncodePath(dir)
			return a.withDaemon(cmd.Context(), func(c *conn) error {
				return a.addFolder(cmd.Context(), c, p)
			})
		}),
	}
	cmd.Flags().StringVar(&p.Name, "name", "", "call it `name` (default: its last path element)")
	cmd.Flags().BoolVar(&p.Temporary, "temporary", false, "for this daemon's life only: the config stays as it is")
	return cmd
}

// addFolder adds a folder; one that is watched already is no mistake.
func (a *app) addFolder(ctx context.Context, c *conn, p ipc.FolderParams) error {
	var list ipc.FoldersResult
	if err := c.Call(ctx, ipc.MethodFoldersList, ipc.Empty{}, &list); err != nil {
		return err
	}
	for _, f := range list.Folders {
		same := f.Path == p.Path || sameDirectory(fromWire(f.Path), fromWire(p.Path))
		if same && (p.Temporary || !f.Temporary) && (p.Name == "" || p.Name == f.Name) {
			a.out.printf("already watched as %q\n", f.Name)
			return nil
		}
	}
	return a.changeFolders(ctx, c, ipc.MethodFoldersAdd, p, "watching")
}

// changeFolders adds or removes a folder and says what was done.
func (a *app) changeFolders(ctx context.Context, c *conn, method string, p ipc.FolderParams, done string) error {
	var r ipc.FoldersResult
	if err := c.Call(ctx, method, p, &r); err != nil {
		return err
	}
	a.out.printf("%s %s\n", done, a.newPathShower(a.out).showWire(p.Path))
	return nil
}

func (a *app) foldersRemove() *cobra.Command {
	return &cobra.Command{
		Use:               "remove FOLDER",
		Short:             "Watch a folder no more; its files stay as they are",
		Args:              oneArg("a folder", "quern folders remove FOLDER"),
		ValidArgsFunction: a.completeFolders,
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			return a.withDaemon(cmd.Context(), func(c *conn) error {
				return a.removeFolder(cmd.Context(), c, args[0])
			})
		}),
	}
}

func (a *app) removeFolder(ctx context.Context, c *conn, arg string) error {
	var list ipc.FoldersResult
	if err := c.Call(ctx, ipc.MethodFoldersList, ipc.Empty{}, &list); err != nil {
		return err
	}
	folder, ok := findFolder(list.Folders, arg)
	if !ok {
		return failuref("quern folders list shows them", "no folder %q is watched%s", arg, insideOf(list.Folders, arg))
	}
	err := a.changeFolders(ctx, c, ipc.MethodFoldersRemove, ipc.FolderParams{Path: folder.Path}, "no longer watching")
	if errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
		return failuref("quern folders list shows them", "cannot remove the folder %q: %w", arg, err)
	}
	return err
}

// insideOf tells of a watched folder that contains the one not found.
func insideOf(folders []ipc.FolderStatus, arg string) string {
	abs, err := filepath.Abs(arg)
	if err != nil {
		return ""
	}
	for _, f := range folders {
		if strings.HasPrefix(abs, fromWire(f.Path)+string(filepath.Separator)) {
			return "; it lies in the folder " + f.Name + ", whose exclude globs can leave it out"
		}
	}
	return ""
}
