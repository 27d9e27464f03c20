//go:build !(linux || darwin || freebsd)

package sock

func peer(int) (Credentials, error) { return Credentials{}, ErrUnsupported }
