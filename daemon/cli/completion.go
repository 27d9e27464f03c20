package cli

import (
	"io"
	"strings"

	"quern/daemon"

	"github.com/spf13/cobra"
)

const completionLong = `Write a completion script for a shell. To load it:

  bash        source <(quern completion bash)
  zsh         quern completion zsh > "${fpath[1]}/_quern"
  fish        quern completion fish > ~/.config/fish/completions/quern.fish
  powershell  quern completion powershell | Out-String | Invoke-Expression

The script for bash needs the package bash-completion.`

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:                   "completion bash|zsh|fish|powershell",
		Short:                 "Write a completion script for a shell",
		Long:                  completionLong,
		DisableFlagsInUseLine: true,
		ValidArgs:             []string{"bash", "zsh", "fish", "powershell"},
		Args: func(cmd *cobra.Command, args []string) error {
			if cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)(cmd, args) != nil {
				return usagef("bash, zsh, fish or powershell", "completion needs the name of a shell")
			}
			return nil
		},
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			return writeCompletion(cmd.Root(), args[0], a.out)
		}),
	}
}

func writeCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	}
	return root.GenPowerShellCompletionWithDesc(w)
}

// fixed completes one of the given words.
func fixed(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

func (a *app) completeSearch(cmd *cobra.Command) {
	a.completeRanking(cmd)
	must(cmd.RegisterFlagCompletionFunc("collapse", fixed("document", "none")))
	must(cmd.RegisterFlagCompletionFunc("folder", a.completeFolders))
	must(cmd.RegisterFlagCompletionFunc("type", fixed("md", "txt")))
	for _, free := range []string{"k", "offset", "path", "since", "before", "budget", "sync-timeout"} {
		must(cmd.RegisterFlagCompletionFunc(free, fixed()))
	}
	must(cmd.RegisterFlagCompletionFunc("duplicates", fixed("fold", "show")))
	cmd.ValidArgsFunction = a.completeQuery
}

// models are the ranking models.
var models = []string{"tfidf", "bm25", "best"}

func (a *app) completeRanking(cmd *cobra.Command) {
	must(cmd.RegisterFlagCompletionFunc("model", fixed(models...)))
	must(cmd.RegisterFlagCompletionFunc("tf", fixed("log", "raw")))
}

// completeQuery completes the names of fields, and of the folders after folder:.
func (a *app) completeQuery(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	sign := word[:len(word)-len(strings.TrimLeft(word, "-"))]
	if name, ok := strings.CutPrefix(word[len(sign):], "folder:"); ok {
		names, _ := a.completeFolders(nil, nil, name)
		for i := range names {
			names[i] = sign + "folder:" + names[i]
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, field := range daemon.QueryFields() {
		if strings.HasPrefix(field, word[len(sign):]) {
			out = append(out, sign+field+":")
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeFolders completes the names of the configured folders, read from
// the config: no daemon is started for it. Directories complete too.
func (a *app) completeFolders(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	s, err := a.settings()
	if err != nil || s.err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names := make([]string, 0, len(s.config.Folders))
	for _, f := range s.config.Folders {
		if strings.HasPrefix(f.Name, prefix) {
			names = append(names, f.Name+"\t"+f.Path)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}
