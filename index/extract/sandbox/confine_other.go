//go:build !unix

package sandbox

// confine says what this process may do that a reader of files does not need.
func confine() (lacks []string) {
	return []string{"confinement and resource limits: this system has none that quern uses"}
}
