package watcher

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const inNamespace = "WATCHER_TEST_NAMESPACE"

// namespaced runs the calling test again in user and mount namespaces of its own,
// where it may mount and set limits, and reports whether it is there.
func namespaced(t *testing.T) bool {
	if os.Getenv(inNamespace) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "--- PASS"):
	case strings.Contains(text, "--- SKIP"), err != nil && text == "":
		t.Skipf("namespaces are not allowed here: %v", err)
	default:
		t.Errorf("%v\n%s", err, text)
	}
	return false
}

func mount(t *testing.T, source, target, kind string, flags uintptr) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, ""); err != nil {
		t.Skipf("mounting is not allowed: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
}

// TestUnmountedRoot: a root whose file system is unmounted keeps its files, and is
// watched again when it is back.
func TestUnmountedRoot(t *testing.T) {
	if !namespaced(t) {
		return
	}
	base := t.TempDir()
	disk, root := base+"/disk", base+"/root"
	must(t, os.Mkdir(root, 0o755))
	must(t, os.Mkdir(disk, 0o755))
	mount(t, "tmpfs", disk, "tmpfs", 0)
	write(t, disk+"/d/f", "1")
	mount(t, disk, root, "", unix.MS_BIND)
	w, c := start(t, Options{RootCheck: 5 * time.Millisecond}, Root{Path: root})
	c.expect(root)
	must(t, unix.Unmount(root, 0))
	eventually(t, "suspended", func() bool { return w.State().Roots[0].State == "suspended" })
	c.sync()
	if c.table()[root+"/d/f"] != "1" {
		t.Error("an unmounted root is emptied")
	}
	write(t, disk+"/d/g", "2")
	mount(t, disk, root, "", unix.MS_BIND)
	c.expect(root)
	checkWatches(t, w, root)
	write(t, root+"/d/g", "3")
	c.expect(root)
	for _, ch := range c.changes() {
		if ch.Op == Remove {
			t.Errorf("reported %+v", ch)
		}
	}
}

// TestMountOver: a mount over a watched directory, and its end, are found by the
// audit, for they have no events.
func TestMountOver(t *testing.T) {
	if !namespaced(t) {
		return
	}
	root := t.TempDir()
	write(t, root+"/d/below", "1")
	_, c := start(t, Options{RootCheck: 2 * time.Millisecond, AuditPause: 2 * time.Millisecond, AuditRate: 100000}, Root{Path: root})
	c.expect(root)
	same := func() bool { return len(differences(c.table(), walkFiles(root))) == 0 }
	mount(t, "tmpfs", root+"/d", "tmpfs", 0)
	write(t, root+"/d/above", "2")
	eventually(t, "what is mounted", same)
	c.expect(root)
	must(t, unix.Unmount(root+"/d", 0))
	eventually(t, "what was below", same)
	write(t, root+"/d/below", "3")
	c.expect(root)
}

// TestBindMount: a directory with two names in one tree is told of under both.
func TestBindMount(t *testing.T) {
	if !namespaced(t) {
		return
	}
	root := t.TempDir()
	write(t, root+"/a/s/f", "1")
	must(t, os.Mkdir(root+"/b", 0o755))
	mount(t, root+"/a", root+"/b", "", unix.MS_BIND)
	_, c := start(t, Options{}, Root{Path: root})
	c.expect(root)
	for i, p := range []string{"/a/s/f", "/b/s/f", "/a/g", "/b/t/h", "/a/t/h"} {
		write(t, root+p, fmt.Sprint("round ", i))
		c.expect(root)
	}
	must(t, os.RemoveAll(root+"/a/s"))
	c.expect(root)
	must(t, unix.Unmount(root+"/b", 0))
}

// TestWatchLimit: with the kernel's table full, the rest is polled.
func TestWatchLimit(t *testing.T) {
	if !namespaced(t) {
		return
	}
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("50"), 0); err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	for i := range 100 {
		write(t, fmt.Sprintf("%s/%d/f", root, i), "x")
	}
	w, c := start(t, Options{}, Root{Path: root})
	c.expect(root)
	probe(t, root, "probe")
	c.expect(root)
	if s := w.State().Roots[0]; s.State != "polled" || s.Polled < 50 || s.Polled > 60 {
		t.Errorf("state %+v", s)
	}
	must(t, os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("500"), 0))
	c.sync()
	c.sync()
	if s := w.State().Roots[0]; s.State != "watching" {
		t.Errorf("with a larger table: %+v", s)
	}
	probe(t, root, "probe2")
	c.expect(root)
	checkWatches(t, w, root)
}
