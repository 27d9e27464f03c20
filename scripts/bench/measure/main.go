//go:build linux

// Command measure runs a program and says what it cost, all its descendants
// included: wall clock, CPU time, peak memory. The benchmarks in scripts use it
// for Quern and for its peers alike.
//
//	measure [-until COMMAND] [-keep] [-kill D] [-level] [-out FILE] -- PROGRAM [ARG…]
//	measure -repeat N [-out FILE] -- PROGRAM [ARG…]
//	measure -stop PID
//
// The figures are written as NAME=VALUE lines to FILE (standard error when there
// is none): wall and cpu in seconds, rss and anon (peak resident memory of all
// processes together, and the part of it that is no mapped file) in MiB, pid and
// status. Processes are only ever ended by their ids.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// options are the command's flags.
type options struct {
	until      string
	poll       time.Duration
	keep       bool
	level      bool
	killAfter  time.Duration
	limit      time.Duration
	repeat     int
	stop       int
	out        string
	sampleTime time.Duration
}

func main() {
	o := options{}
	flag.StringVar(&o.until, "until", "", "measure until this shell `command` succeeds, not until the program ends")
	flag.DurationVar(&o.poll, "poll", 50*time.Millisecond, "how long to wait before -until is tried again")
	flag.BoolVar(&o.keep, "keep", false, "with -until: leave the program running")
	flag.BoolVar(&o.level, "level", false, "undo that the program gives itself less priority than others have")
	flag.DurationVar(&o.killAfter, "kill", 0, "kill the program (SIGKILL) after so long")
	flag.DurationVar(&o.limit, "limit", time.Hour, "kill the program and fail after so long")
	flag.IntVar(&o.repeat, "repeat", 0, "run the program so many times after a first one, and give the median")
	flag.IntVar(&o.stop, "stop", 0, "end the process `PID` and its descendants")
	flag.StringVar(&o.out, "out", "", "write the figures to this `file`")
	flag.DurationVar(&o.sampleTime, "sample", 50*time.Millisecond, "how often memory is looked at")
	flag.Parse()
	if err := run(o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(o options, args []string) error {
	if o.stop > 0 {
		return stop(o.stop)
	}
	if len(args) == 0 {
		return errors.New("no program given")
	}
	w := io.Writer(os.Stderr)
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = f
	}
	if o.repeat > 0 {
		return repeat(w, o.repeat, args)
	}
	return once(w, o, args)
}

// repeat runs a program n times after a first time that does not count, and
// writes the median, the least and the greatest wall clock in milliseconds. The
// program must succeed each time.
func repeat(w io.Writer, n int, args []string) error {
	var times []float64
	for i := range n + 1 {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stderr = os.Stderr
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("running %s: %w", strings.Join(args, " "), err)
		}
		if i > 0 {
			times = append(times, time.Since(start).Seconds()*1e3)
		}
	}
	slices.Sort(times)
	_, err := fmt.Fprintf(w, "median=%.1f\nmin=%.1f\nmax=%.1f\n", times[n/2], times[0], times[n-1])
	return err
}

// once runs a program and writes its figures.
func once(w io.Writer, o options, args []string) error {
	if err := adoptOrphans(); err != nil {
		return err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	r := &runner{options: o, cmd: cmd, tree: newTree()}
	r.tree.level = o.level
	r.start = time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := r.wait(); err != nil {
		killTree(os.Getpid(), 0)
		return err
	}
	_, err := fmt.Fprintf(w, "wall=%.2f\ncpu=%.2f\nrss=%.1f\nanon=%.1f\npid=%d\nstatus=%s\n",
		r.wall.Seconds(), r.cpu().Seconds(), mib(r.tree.rss), mib(r.tree.anon), cmd.Process.Pid, r.status)
	return err
}

func mib(kib int64) float64 { return float64(kib) / 1024 }

// runner is one run of a program that is being measured.
type runner struct {
	options
	cmd    *exec.Cmd
	tree   *tree
	start  time.Time
	wall   time.Duration
	used   time.Duration // CPU time that the system accounts to the ended program
	status string
}

// wait samples until the program has ended, was killed, or -until succeeded.
func (r *runner) wait() error {
	ended := make(chan error, 1)
	go func() { ended <- r.cmd.Wait() }() // ends with the program, or with this process
	ready, cancel := r.watchUntil()
	defer cancel()
	end := func() {
		cancel()
		killTree(os.Getpid(), 0)
		<-ended // a killed process holds its files until its last thread is gone
		reap()
	}
	tick := time.NewTicker(r.sampleTime)
	defer tick.Stop()
	limit := time.After(r.limit)
	var kill <-chan time.Time
	if r.killAfter > 0 {
		kill = time.After(r.killAfter)
	}
	for {
		select {
		case <-tick.C:
			r.tree.sample(os.Getpid())
		case err := <-ended:
			return r.finish(err)
		case pid := <-ready.started:
			r.tree.skip = pid
		case <-ready.done:
			r.wall, r.status = time.Since(r.start), "ready"
			r.tree.sample(os.Getpid())
			if !r.keep {
				end()
			}
			return nil
		case <-kill:
			r.wall, r.status = time.Since(r.start), "killed"
			r.tree.sample(os.Getpid())
			end()
			return nil
		case <-limit:
			return fmt.Errorf("%s has not come to its end in %v", r.cmd.Path, r.limit)
		}
	}
}

// finish takes the figures of a program that ended by itself.
func (r *runner) finish(err error) error {
	r.wall = time.Since(r.start)
	r.status = r.cmd.ProcessState.String()
	r.used = r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
	if err != nil {
		return fmt.Errorf("running %s: %w", strings.Join(r.cmd.Args, " "), err)
	}
	if r.until != "" {
		return fmt.Errorf("%s ended before it was ready", r.cmd.Path)
	}
	return nil
}

// cpu is the greater of what was seen of all processes and what the system
// accounts to the program: the one misses the last moments of each process, the
// other the processes that nobody waited for.
func (r *runner) cpu() time.Duration { return max(r.used, r.tree.cpu()) }

// until tells of the command that -until names.
type until struct {
	started chan int // its process, each time it is tried
	done    chan struct{}
}

// watchUntil tries the command of -until until it succeeds or cancel is called.
func (r *runner) watchUntil() (until, func()) {
	u := until{make(chan int), make(chan struct{})}
	quit := make(chan struct{})
	if r.until == "" {
		return u, func() {}
	}
	go func() { // ends with success, or when cancel closes quit
		for {
			cmd := exec.Command("sh", "-c", r.until)
			if cmd.Start() == nil {
				select {
				case u.started <- cmd.Process.Pid:
				case <-quit:
				}
				if cmd.Wait() == nil {
					close(u.done)
					return
				}
			}
			select {
			case <-time.After(r.poll):
			case <-quit:
				return
			}
		}
	}()
	return u, sync.OnceFunc(func() { close(quit) })
}

// reap waits for all children, the adopted ones too.
func reap() {
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && err != syscall.EINTR {
			return // there is none left
		}
	}
}

// adoptOrphans makes descendants whose parent ends children of this process, so
// that none is lost from the account. 36 is PR_SET_CHILD_SUBREAPER of prctl(2).
func adoptOrphans() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, 36, 1, 0); errno != 0 {
		return fmt.Errorf("adopting orphaned processes: %w", errno)
	}
	return nil
}
