// Package access says what a user may read, as the kernel would: by owner, group and
// other, by POSIX access control lists, and by the execute bits of every directory
// above a file. It asks the file system anew each time.
package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// User is who asks.
type User struct {
	UID    uint32
	Groups []uint32 // ascending: the primary one and all others
}

// NewUser returns the user with these groups.
func NewUser(uid, gid uint32, others []uint32) User {
	groups := append([]uint32{gid}, others...)
	slices.Sort(groups)
	return User{uid, slices.Compact(groups)}
}

// Key tells users apart: two with the same key may read the same files.
func (u User) Key() string {
	parts := []string{strconv.FormatUint(uint64(u.UID), 10)}
	for _, g := range u.Groups {
		parts = append(parts, strconv.FormatUint(uint64(g), 10))
	}
	return strings.Join(parts, "-")
}

// root may read everything.
const root = 0

// in reports whether the user is a member of the group.
func (u User) in(group uint32) bool {
	_, ok := slices.BinarySearch(u.Groups, group)
	return ok
}

// Permissions, as in a mode.
const (
	read    = 4
	execute = 1
)

// MayRead reports whether the user may open the file at path, which is absolute,
// for reading: it reads the file, and goes through every directory above it.
// Symbolic links on the way are followed. A path that is not there cannot be
// read. Errors are those of the file system, other than that.
func (u User) MayRead(path string) (bool, error) {
	return u.may(path, read)
}

// MayEnter reports whether the user may go through the directory at path, and every
// one above it.
func (u User) MayEnter(path string) (bool, error) {
	return u.may(path, execute)
}

// mostLinks is how many symbolic links the kernel follows on one path.
const mostLinks = 40

// may walks to path as the kernel does, step by step.
func (u User) may(path string, want uint16) (bool, error) {
	volume := filepath.VolumeName(path) + string(filepath.Separator)
	here, rest, links := volume, steps(path), 0
	for len(rest) > 0 {
		if ok, err := u.has(here, execute); !ok {
			return false, err
		}
		next := filepath.Join(here, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(next)
		switch {
		case err != nil: // no link; what else is wrong is found below
			here = next
			continue
		case links == mostLinks:
			return false, nil
		}
		links++
		if filepath.IsAbs(target) {
			here = volume
		}
		rest = append(steps(target), rest...)
	}
	return u.has(here, want)
}

// steps are the names of a path.
func steps(path string) []string {
	return strings.FieldsFunc(path[len(filepath.VolumeName(path)):], func(r rune) bool { return r == filepath.Separator })
}

// has reports whether the permissions of one file or directory give the user what is
// wanted.
func (u User) has(path string, want uint16) (bool, error) {
	p, err := permissionsOf(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("permissions of %s: %w", path, err)
	}
	return u.UID == root || p.allow(u)&want == want, nil
}

// permissions are those of one file.
type permissions struct {
	owner, group uint32
	mode         uint16 // nine bits
	acl          []entry
}

// allow is what the user may do, three bits: the algorithm of acl(5), and without a list
// that of the mode.
func (p *permissions) allow(u User) uint16 {
	if u.UID == p.owner {
		return p.mode >> 6 & 7
	}
	// Linux does not look at a list whose mask, which the group's bits are, is empty.
	if p.acl != nil && p.mode>>3&7 != 0 {
		return p.byList(u)
	}
	if u.in(p.group) {
		return p.mode >> 3 & 7
	}
	return p.mode & 7
}

// byList is allow for one who is not the owner. Of several groups any may give a
// permission; all that is wanted must come from one.
func (p *permissions) byList(u User) uint16 {
	mask := uint16(7)
	for _, e := range p.acl {
		if e.tag == tagMask {
			mask = e.perm
		}
	}
	for _, e := range p.acl {
		if e.tag == tagUser && e.id == u.UID {
			return e.perm & mask
		}
	}
	member, given := false, uint16(0)
	for _, e := range p.acl {
		if e.tag == tagGroupObj && u.in(p.group) || e.tag == tagGroup && u.in(e.id) {
			// Only one permission is ever wanted here, so their sum serves.
			member, given = true, given|e.perm&mask
		}
	}
	if member {
		return given
	}
	return p.mode & 7
}
