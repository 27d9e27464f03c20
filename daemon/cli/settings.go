package cli

import (
	"errors"
	"io/fs"
	"os"

	"quern/config"
)

// settings are what a client needs of the config: where the daemon is.
type settings struct {
	config config.Config
	file   string // the config file, which need not exist
	socket string
	// system is the socket of the machine's own daemon, which is asked where nothing
	// answers at socket; empty for one who has chosen a config or a socket.
	system string
	err    error // the config file is wrong: a running daemon can still be asked
}

// settings reads the config. A file that does not exist is an empty one
// unless the command line names it.
func (a *app) settings() (settings, error) {
	s := settings{file: config.FindConfig(a.flags.config), config: config.Default()}
	loaded, loadErr := config.Load(s.file)
	err := loadErr
	switch {
	case err == nil:
		s.config = loaded
	case errors.Is(err, fs.ErrNotExist) && a.flags.config == "":
	case errors.Is(err, fs.ErrNotExist):
		return s, failuref("quern --config FILE init writes one", "no config at %s", s.file)
	default:
		s.err = failuref("mend the config", "bad config: %w", err)
	}
	s.socket, err = s.config.SocketPath(a.flags.socket)
	if !a.namesConfig() && errors.Is(loadErr, fs.ErrNotExist) && a.flags.socket == "" && os.Getenv("QUERN_SOCKET") == "" {
		s.system = systemSocket
	}
	return s, err
}

// systemSocket is where a daemon for all users of the machine listens. Tests have
// another.
var systemSocket = config.SystemSocket

// namesConfig tells whether the command line or the environment chose a config.
func (a *app) namesConfig() bool {
	return a.flags.config != "" || os.Getenv("QUERN_CONFIG") != ""
}
