//go:build !linux && !darwin && !freebsd

package watcher

func remoteFS(string) (string, bool, error) { return "", false, nil }
