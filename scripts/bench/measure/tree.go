//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// ticksPerSecond is the unit of the times in /proc/PID/stat, USER_HZ, which is
// 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// tree keeps the account of a process's descendants.
type tree struct {
	ticks     map[int]int64 // CPU time of each process that was ever seen
	rss, anon int64         // peaks of the sums, in KiB
	skip      int           // a process that does not count, nor its descendants
	level     bool          // give all of them the priority of any program
}

func newTree() *tree { return &tree{ticks: map[int]int64{}} }

// cpu is the CPU time of all processes that were seen.
func (t *tree) cpu() time.Duration {
	sum := int64(0)
	for _, n := range t.ticks {
		sum += n
	}
	return time.Duration(sum) * time.Second / ticksPerSecond
}

// sample looks at all descendants of a process, itself left out.
func (t *tree) sample(root int) {
	var rss, anon, high int64
	all := descendants(root, t.skip)
	for _, pid := range all {
		if t.level {
			levelPriority(pid)
		}
		m := memory(pid)
		if len(all) > 1 {
			m.share(pid)
		}
		rss, anon, high = rss+m.rss, anon+m.anon, max(high, m.high)
		if n := cpuTicks(pid); n > 0 {
			t.ticks[pid] = n
		}
	}
	t.rss, t.anon = max(t.rss, rss, high), max(t.anon, anon)
}

// levelPriority puts a process's threads into the usual scheduling class, at the
// usual priority. Without the right to do so, it does nothing.
func levelPriority(pid int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, task := range tasks {
		tid, err := strconv.Atoi(filepath.Base(task))
		if err != nil {
			continue
		}
		other := int32(0) // SCHED_OTHER, and its only priority
		_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(tid), 0, uintptr(unsafe.Pointer(&other)))
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, tid, 0)
	}
}

// descendants are the processes below root, parents first, without skip and
// those below it.
func descendants(root, skip int) []int {
	var found []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", root))
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for _, f := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(f)
			if err != nil || pid == skip {
				continue
			}
			found = append(found, pid)
			found = append(found, descendants(pid, skip)...)
		}
	}
	return found
}

// resident is a process's memory in KiB.
type resident struct{ rss, anon, high int64 }

func memory(pid int) resident {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var m resident
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		var n int64
		switch name {
		case "VmRSS", "RssAnon", "VmHWM":
			n, _ = strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		}
		switch name {
		case "VmRSS":
			m.rss = n
		case "RssAnon":
			m.anon = n
		case "VmHWM":
			m.high = n
		}
	}
	return m
}

// share makes of a process's memory its part of it: what it has in common with
// others, as after a fork, must not count twice.
func (m *resident) share(pid int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return // gone, or a system without: what is resident has to do
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch n, _ := strconv.ParseInt(f[1], 10, 64); f[0] {
		case "Pss:":
			m.rss = n
		case "Pss_Anon:":
			m.anon = n
		}
	}
}

// cpuTicks are user and system time of a process; 0 when it is gone.
func cpuTicks(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name in brackets may hold spaces; fields 14 and 15 are the times.
	f := strings.Fields(string(b)[strings.LastIndexByte(string(b), ')')+1:])
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return user + system
}

// killTree kills the descendants of a process, again and again until none that
// still runs is left: one may have started another meanwhile.
func killTree(root, skip int) {
	for range 200 {
		alive := 0
		for _, pid := range descendants(root, skip) {
			if !zombie(pid) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				alive++
			}
		}
		if alive == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.HasPrefix(string(b)[strings.LastIndexByte(string(b), ')')+1:], " Z")
}

// stop ends a process and its descendants: it asks, and after ten seconds kills.
func stop(pid int) error {
	all := append([]int{pid}, descendants(pid, 0)...)
	for _, p := range all {
		_ = syscall.Kill(p, syscall.SIGTERM) // gone is what is wanted
	}
	for range 1000 {
		alive := false
		for _, p := range all {
			alive = alive || !zombie(p)
		}
		if !alive {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, p := range all {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
	return nil
}
