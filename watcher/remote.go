package watcher

// Remote tells whether the file system that holds path does not tell of all its
// changes, since others than this machine's kernel make them (network and user
// space file systems), and the kind of file system where it is known. Such a tree
// should be polled (Root.Poll). An error means that nothing is known.
func Remote(path string) (kind string, remote bool, err error) { return remoteFS(path) }
