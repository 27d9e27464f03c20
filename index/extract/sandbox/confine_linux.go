package sandbox

import (
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confine takes from this process, for good, what a reader of files does not need,
// and says what could not be taken.
func confine() (lacks []string) {
	if err := limitSelf(); err != nil {
		lacks = append(lacks, "resource limits: "+err.Error())
	}
	if err := lockFiles(); err != nil {
		lacks = append(lacks, "Landlock: "+err.Error())
	}
	if err := filterCalls(workerCalls); err != nil {
		lacks = append(lacks, "seccomp: "+err.Error())
	}
	return lacks
}

// lockFiles takes all access to files but those that are open, and, where the kernel
// knows how to, to TCP, and to signals and abstract sockets of other processes.
func lockFiles(rules ...landlock.Rule) error {
	if _, err := ll.LandlockGetABIVersion(); err != nil {
		return err
	}
	return landlock.V6.BestEffort().Restrict(rules...)
}

// workerCalls are the system calls that Go's runtime, WebAssembly and a pipe need.
// There is none in it that opens, makes or removes a file, a socket or a process.
var workerCalls = []string{
	"read", "readv", "write", "writev", "close", "fstat", "fcntl", "fcntl64", "lseek", "_llseek",
	"mmap", "mmap2", "munmap", "mprotect", "madvise", "mremap", "brk", "mincore",
	"futex", "futex_time64", "sched_yield", "sched_getaffinity", "nanosleep", "clock_nanosleep", "clock_nanosleep_time64",
	"clock_gettime", "clock_gettime64", "clock_getres", "gettimeofday", "time",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn", "sigaltstack", "restart_syscall", "tgkill",
	"gettid", "getpid", "getuid", "geteuid", "getgid", "getegid", "exit", "exit_group",
	"epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2", "pipe2", "poll", "ppoll",
	"getrandom", "rseq", "set_robust_list", "set_tid_address", "arch_prctl", "set_thread_area",
	"timer_create", "timer_settime", "timer_settime64", "timer_delete", "setitimer", "getrusage", "getrlimit", "ugetrlimit", "uname",
}

// cloneThread is CLONE_THREAD: a new thread, not a process.
const cloneThread = 0x00010000

// filterCalls lets through the system calls named, and new threads; all others fail
// with EPERM.
func filterCalls(names []string) error {
	return seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionErrno,
			Syscalls: []seccomp.SyscallGroup{{
				Action: seccomp.ActionAllow,
				Names:  knownCalls(names),
				NamesWithCondtions: []seccomp.NameWithConditions{{
					Name:       "clone",
					Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: cloneThread}},
				}},
			}, {
				// The C library asks for threads by clone3, whose flags no filter can
				// see, and takes clone where there is no clone3.
				Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS),
				Names:  []string{"clone3"},
			}},
		},
	})
}

// knownCalls are the system calls that this processor's kernel has.
func knownCalls(names []string) []string {
	info, err := arch.GetInfo("")
	if err != nil {
		return names // loading the filter tells the same error
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, ok := info.SyscallNames[name]
		return !ok
	})
}
