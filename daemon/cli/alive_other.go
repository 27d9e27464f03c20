//go:build !unix

package cli

// alive would tell whether a process runs; here the socket alone tells.
func alive(int) bool { return false }
