//go:build !unix

package server

import "math"

// descriptorLimit is how many descriptors the process may have open.
func descriptorLimit() int { return math.MaxInt }
