//go:build !linux

package watcher

import "errors"

func exchange(a, b string) error { return errors.ErrUnsupported }

func mkfifo(string) error { return errors.ErrUnsupported }

func kernelWatches(*Watcher) (int, bool) { return 0, false }
