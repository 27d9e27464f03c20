//go:build !unix

package index

// cpuSeconds is not to be had.
func cpuSeconds() float64 { return 0 }
