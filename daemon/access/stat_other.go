//go:build !unix

package access

import "errors"

func permissionsOf(string) (*permissions, error) {
	return nil, errors.New("permissions are not known on this system")
}
