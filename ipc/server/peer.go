package server

import (
	"context"
	"errors"
	"net"
	"runtime"

	"quern/ipc/internal/sock"
)

// Peer is the process at the other end of a connection, as it was when it
// connected.
type Peer struct {
	UID uint32
	GID uint32
	PID int // 0 where the system does not tell
	// Groups are the supplementary groups; none but on Linux.
	Groups []uint32
}

type peerKey struct{}

// PeerFrom returns the client whose request a handler's context belongs to.
func PeerFrom(ctx context.Context) (Peer, bool) {
	p, ok := ctx.Value(peerKey{}).(Peer)
	return p, ok
}

// peerOf asks the system who the client is. Where the system knows no peer
// credentials at all, the socket's directory is the protection, and the
// client counts as the owner.
func peerOf(nc net.Conn) (Peer, error) {
	cred, err := sock.Peer(nc)
	if errors.Is(err, sock.ErrUnsupported) && runtime.GOOS == "windows" {
		return Peer{UID: sock.Self()}, nil
	}
	return Peer(cred), err
}
