package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"quern/config"
	"quern/ipc"

	"github.com/spf13/cobra"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FOLDER…]",
		Short: "Write a commented config for the given folders",
		Long: "Write a commented config that watches the given folders, and say what is next.\n" +
			"A config that exists is never overwritten.",
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			return a.init(cmd.Context(), args)
		}),
	}
}

func (a *app) init(ctx context.Context, args []string) error {
	text, err := initText(args)
	if err != nil {
		return err
	}
	file := config.FindConfig(a.flags.config)
	// Two folders of one name, or one named twice, are mistakes of the
	// command line: no config is written that would not load.
	if _, err := config.Parse(file, text); err != nil {
		return &exitError{code: ExitUsage, err: fmt.Errorf("these folders make no config: %w", err)}
	}
	if err := writeNew(file, text); err != nil {
		return err
	}
	if err := a.announce(ctx, file); err != nil {
		return err
	}
	a.sayNext(file, len(args))
	return nil
}

// announce has a daemon that runs already, and waits for this config file to
// appear, read it before the next question. No daemon is started.
func (a *app) announce(ctx context.Context, file string) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, s)
	if lostDaemon(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer c.Close()
	running, err := status(ctx, c, "")
	if err != nil || running.Config != file {
		return err
	}
	if err := c.Call(ctx, ipc.MethodReload, ipc.Empty{}, nil); err != nil {
		return fmt.Errorf("wrote %s, but the running daemon does not take it on: %w", safePath(file), err)
	}
	return nil
}

// initText is the config for the given directories.
func initText(args []string) ([]byte, error) {
	var folders []config.Folder
	for _, arg := range args {
		dir, err := directory(arg)
		if err != nil {
			return nil, err
		}
		folders = append(folders, config.DefaultFolder(dir))
	}
	return config.Template(folders), nil
}

// writeNew writes a file that must not exist. One that could not be written
// whole is taken away again.
func writeNew(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("cannot make the config's directory: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return failuref("edit it, or add folders with quern folders add", "%s exists already: it is left as it is", safePath(file))
	}
	if err != nil {
		return fmt.Errorf("cannot write the config: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot write the config %s: %w", file, errors.Join(err, os.Remove(file)))
	}
	return nil
}

// sayNext tells what was done and what to do now.
func (a *app) sayNext(file string, folders int) {
	quern := "quern"
	if a.flags.config != "" {
		quern += " --config " + shellWord(a.flags.config)
	}
	a.out.printf("wrote %s\n\n", a.newPathShower(a.out).show(file))
	if folders == 0 {
		a.out.printf("Next: add a folder with\n  %s folders add FOLDER\nthen search:\n", quern)
	} else {
		a.out.printf("Next: search (the daemon starts by itself, or run %s serve):\n", quern)
	}
	a.out.printf("  %s search \"words to find\"\nand see how indexing goes:\n  %s status\n", quern, quern)
}

// shellWord writes a word as a shell reads it: quoted unless it is plain.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,@%", r)
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(safePath(word), "'", `'\''`) + "'"
}
