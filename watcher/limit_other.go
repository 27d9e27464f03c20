//go:build !linux

package watcher

func watchLimit() int { return 0 }
