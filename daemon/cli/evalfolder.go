package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quern/config"
	"quern/ipc"
	"quern/ipc/client"

	"github.com/BurntSushi/toml"
)

// evalConfig is the config of an index that is thrown away: the user's, without
// the folders and the daemon's own settings, as --set changes it. strategy, if
// set, is how text is cut unless the flags say otherwise. It returns the text,
// too.
func (a *app) evalConfig(f *evalFlags, strategy string) (config.Config, []byte, error) {
	s, err := a.settings()
	if err == nil {
		err = s.err
	}
	if err != nil {
		return config.Config{}, nil, err
	}
	values := map[string]any{}
	if text, err := os.ReadFile(s.file); err == nil {
		err = toml.Unmarshal(text, &values)
		must(err) // it was loaded
	} else if !errors.Is(err, fs.ErrNotExist) {
		return config.Config{}, nil, err
	}
	delete(values, "folder")
	delete(values, "daemon")
	if strategy != "" {
		subtable(values, "chunk")["strategy"] = strategy
	}
	for _, assignment := range f.set {
		if err := assign(values, assignment); err != nil {
			return config.Config{}, nil, err
		}
	}
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(values); err != nil {
		return config.Config{}, nil, failuref("", "cannot write the config: %w", err)
	}
	cfg, err := config.Parse("--set", text.Bytes())
	if err != nil {
		return cfg, nil, usagef("quern help eval", "%w", err)
	}
	return cfg, text.Bytes(), nil
}

func subtable(values map[string]any, name string) map[string]any {
	t, ok := values[name].(map[string]any)
	if !ok {
		t = map[string]any{}
		values[name] = t
	}
	return t
}

// assign reads table.key=value, whose value is one of TOML, or a plain word.
func assign(values map[string]any, assignment string) error {
	name, value, ok := strings.Cut(assignment, "=")
	group, key, dotted := strings.Cut(strings.TrimSpace(name), ".")
	if !ok || !dotted || group == "" || key == "" || group == "folder" || group == "daemon" {
		return usagef("such as --set analysis.stemmer=none", "--set %q is not table.key=value, of a table that says how to index or rank", assignment)
	}
	var parsed struct{ V any }
	if toml.Unmarshal([]byte("V = "+value), &parsed) != nil {
		parsed.V = value
	}
	subtable(values, group)[key] = parsed.V
	return nil
}

// indexTimeout bounds how long an index that is thrown away may take.
const indexTimeout = 24 * time.Hour

// openFolders runs a daemon of its own over the directories, in this process and
// with all its files in a temporary place.
func (a *app) openFolders(ctx context.Context, f *evalFlags) (*source, error) {
	if a.hooks.Serve == nil {
		return nil, errors.New("this program was built without the daemon")
	}
	o, end, err := a.temporaryDaemon(f)
	s := &source{end: []func(){end}}
	if err != nil {
		s.close()
		return nil, err
	}
	serving, stop := context.WithCancel(ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	o.Ready = func() { close(ready) }
	go func() { ended <- a.hooks.Serve(serving, o) }() // ends with stop
	s.end = append(s.end, func() {
		stop()
		<-ended
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		s.close()
		return nil, failuref("", "cannot index: %w", err)
	}
	c, err := client.Dial(ctx, o.Socket)
	if err != nil {
		s.close()
		return nil, err
	}
	s.daemon = &conn{Client: c}
	s.asker = s.daemon
	s.end = append(s.end, func() { c.Close() })
	if err := c.Call(ctx, ipc.MethodSync, ipc.SyncParams{TimeoutMS: int(indexTimeout.Milliseconds())}, nil); err != nil {
		s.close()
		return nil, err
	}
	return s, s.learn(ctx, f)
}

// temporaryDaemon are the options of such a daemon; end removes its files.
func (a *app) temporaryDaemon(f *evalFlags) (o ServeOptions, end func(), err error) {
	end = func() {}
	_, text, err := a.evalConfig(f, "")
	if err != nil {
		return o, end, err
	}
	values := map[string]any{}
	for _, arg := range f.folders {
		dir, err := directory(arg)
		if err != nil {
			return o, end, err
		}
		values["folder"] = append(foldersIn(values), map[string]any{"path": dir})
	}
	var folders bytes.Buffer
	if err := toml.NewEncoder(&folders).Encode(values); err != nil {
		return o, end, err
	}
	dir, err := os.MkdirTemp("", "quern-eval-")
	if err != nil {
		return o, end, failuref("", "no place for the index: %w", err)
	}
	end = func() { _ = os.RemoveAll(dir) } // in the temporary folder
	o = ServeOptions{
		ConfigPath: filepath.Join(dir, "config.toml"), Socket: filepath.Join(dir, "quern.sock"), DataDir: filepath.Join(dir, "data"),
		Version: a.version(), Log: slog.New(slog.DiscardHandler),
	}
	return o, end, os.WriteFile(o.ConfigPath, append(text, folders.Bytes()...), 0o600)
}

func foldersIn(values map[string]any) []map[string]any {
	list, _ := values["folder"].([]map[string]any)
	return list
}
