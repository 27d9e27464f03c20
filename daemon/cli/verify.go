package cli

import (
	"quern/ipc"

	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	var repair, asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove the index against the files",
		Long: "Read the whole index and every file, and tell what does not agree. When " +
			"something does not, the exit code is 4, unless --repair has mended it.",
		Args: cobra.NoArgs,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			return a.withDaemon(cmd.Context(), func(c *conn) error {
				var r ipc.VerifyResult
				if err := c.Call(cmd.Context(), ipc.MethodVerify, ipc.VerifyParams{Repair: repair}, &r); err != nil {
					return err
				}
				if asJSON {
					if err := a.printValue(r); err != nil {
						return err
					}
				} else {
					a.printVerify(&r)
				}
				return verdict(&r, repair)
			})
		}),
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "read again what differs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) printVerify(r *ipc.VerifyResult) {
	show := a.newPathShower(a.out).show
	if r.Index != "" {
		a.out.printf("the index contradicts itself: %s\n", r.Index)
	}
	for _, f := range r.Differences {
		a.out.printf("%s: %s\n", show(fromWire(f.Path)), f.Reason)
	}
	switch {
	case r.Repaired:
		a.out.printf("mended\n")
	case agrees(r):
		a.out.printf("%s documents with %s passages agree with their files\n", count(r.Documents), count(r.Passages))
	}
}

func agrees(r *ipc.VerifyResult) bool { return r.Index == "" && len(r.Differences) == 0 }

// verdict is the error to end with.
func verdict(r *ipc.VerifyResult, repair bool) error {
	switch {
	case agrees(r) || r.Repaired:
		return nil
	case repair:
		return failuref("quern status names the files that cannot be read", "the index could not be mended")
	}
	return failuref("quern verify --repair mends it", "the index and the files differ")
}
