package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpCommand explains a verb; unlike cobra's own an unknown verb is an error.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "help [VERB]",
		Short:             "Explain a verb",
		ValidArgsFunction: completeVerbs,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			target, rest, err := root.Find(args)
			if err != nil || target == root && len(args) > 0 || len(rest) > 0 {
				return usagef("quern help lists the verbs", "unknown verb %q", strings.Join(args, " "))
			}
			a.running = true
			target.InitDefaultHelpFlag()
			target.InitDefaultVersionFlag()
			return target.Help()
		},
	}
}

func completeVerbs(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	target, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, c := range target.Commands() {
		if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), prefix) {
			names = append(names, c.Name()+"\t"+c.Short)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
