//go:build !linux

package daemon

func residentSetSize() (int64, bool) { return 0, false }
