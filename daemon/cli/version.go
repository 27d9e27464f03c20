package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"quern/ipc"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version of the program and of its protocol",
		Args:  noArgs,
		RunE: a.run(func(*cobra.Command, []string) error {
			a.out.printf("%s", a.versionText())
			return nil
		}),
	}
}

// versionText is what quern version and quern --version say.
func (a *app) versionText() string {
	return fmt.Sprintf("quern %s\nprotocol %s\n%s %s/%s\n", a.version(), ipc.ProtocolVersion,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is the version given at build time, or what the build recorded.
func (a *app) version() string {
	if a.hooks.Version != "" {
		return a.hooks.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return buildVersion(info)
}

// buildVersion is the module's version, or the revision it was built from.
func buildVersion(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	version := "devel"
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			version += "-" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			version += "-dirty"
		}
	}
	return version
}
