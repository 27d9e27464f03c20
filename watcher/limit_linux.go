package watcher

import (
	"os"
	"strconv"
	"strings"
)

// watchLimit is the number of directories that the kernel lets one user watch, 0
// where that is not known.
func watchLimit() int {
	b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}
