package access

import (
	"encoding/binary"
	"errors"
)

// entry is an entry of an access control list.
type entry struct {
	tag, perm uint16
	id        uint32
}

// Tags of entries, as Linux writes them into the attribute.
const (
	tagUserObj  = 0x01
	tagUser     = 0x02
	tagGroupObj = 0x04
	tagGroup    = 0x08
	tagMask     = 0x10
	tagOther    = 0x20
)

const (
	listVersion = 2
	listHead    = 4
	entrySize   = 8
)

var errList = errors.New("an access control list of an unknown form")

// parseList reads the attribute system.posix_acl_access: a version, and entries of a
// tag, a permission and an id, all little-endian.
func parseList(b []byte) ([]entry, error) {
	if len(b) < listHead || (len(b)-listHead)%entrySize != 0 || binary.LittleEndian.Uint32(b) != listVersion {
		return nil, errList
	}
	out := []entry{}
	for b = b[listHead:]; len(b) > 0; b = b[entrySize:] {
		e := entry{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:]), binary.LittleEndian.Uint32(b[4:])}
		switch e.tag {
		case tagUserObj, tagUser, tagGroupObj, tagGroup, tagMask, tagOther:
			out = append(out, e)
		default:
			return nil, errList
		}
	}
	return out, nil
}
