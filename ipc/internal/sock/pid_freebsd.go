package sock

// peerPID is 0: x/sys does not show the process id that xucred carries here.
func peerPID(int) int { return 0 }
