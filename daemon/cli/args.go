package cli

import (
	"errors"
	"strings"

	"quern/config"
	"quern/ipc"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What the argument parser and the daemon say of wrong arguments, in the words
// of the command line.

// oneArg wants exactly one argument: what says which, how how to give it.
func oneArg(what, how string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		verb := strings.TrimPrefix(cmd.CommandPath(), "quern ")
		switch {
		case len(args) == 0 || args[0] == "":
			return usagef("", "%s needs %s: %s", verb, what, how)
		case len(args) > 1:
			return usagef("quote names with spaces", "%s takes one argument, not %d: %s", verb, len(args), how)
		}
		return nil
	}
}

// noArgs wants no argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(cmd.CommandPath()+" --help shows how", "%s takes no argument: %q",
			strings.TrimPrefix(cmd.CommandPath(), "quern "), args[0])
	}
	return nil
}

// flagError explains a flag that does not parse.
func flagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help lists the flags"
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &bad):
		return usagef("", "%s must be %s, not %q", flagName(bad.GetFlag().Name), wanted(bad.GetFlag()), bad.GetValue())
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		if near := nearFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			hint = "did you mean --" + near + "?"
		}
	case cmd.Name() == "search" && strings.Contains(err.Error(), "shorthand"):
		hint = "quote the query, quern search 'word -not', or write -- before one that starts with -"
	}
	return usagef(hint, "%w", err)
}

// flagName writes a flag as it is given.
func flagName(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// wanted says what a flag's value must be.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 2s or 500ms"
	}
	return "a " + f.Value.Type()
}

// nearFlag is the flag that name is most likely a misspelling of, or "".
func nearFlag(cmd *cobra.Command, name string) string {
	var names []string
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return config.Suggest(name, names)
}

// paramFlags are the params of a search that are flags here.
var paramFlags = []string{"k", "offset", "budget", "model", "tf", "collapse", "duplicates", "path", "since", "before"}

// inFlags names the flag in place of the param that the daemon refuses.
func inFlags(err error) error {
	se, ok := errors.AsType[*ipc.Error](err)
	if !ok || se.Code != ipc.CodeInvalidParams {
		return err
	}
	text := strings.Replace(se.Message, "(use offset ", "(use --offset ", 1)
	for _, name := range paramFlags {
		if rest, ok := strings.CutPrefix(text, name+": "); ok {
			text = flagName(name) + ": " + rest
			break
		}
	}
	return usagef("", "%s", text)
}

// refuseSpacedSync explains --sync false, of which false would be searched for.
func refuseSpacedSync(args []string) error {
	for i, arg := range args[:max(0, len(args)-1)] {
		switch {
		case arg == "--":
			return nil
		case arg == "--sync" && args[i+1] == "false":
			return usagef("or --sync -- false to search for the word", "use --sync=false, not --sync false")
		}
	}
	return nil
}
