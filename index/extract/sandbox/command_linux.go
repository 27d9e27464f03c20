package sandbox

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// systemPaths are what programs read to run at all.
var systemPaths = []string{"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt", "/nix/store", "/gnu/store",
	"/etc/ld.so.conf.d", "/etc/alternatives", "/etc/fonts"}

// systemFiles are those of them that are no directories.
var systemFiles = []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/locale.alias"}

// runCommand confines this process and becomes the command: args are the path of a
// program, and its arguments from its name on.
func runCommand(args []string) int {
	if len(args) < 2 {
		return 2
	}
	path := args[0]
	if err := limitSelf(); err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
	}
	const read, execute = ll.AccessFSReadFile | ll.AccessFSReadDir, ll.AccessFSReadFile | ll.AccessFSExecute
	rules := []landlock.Rule{
		landlock.PathAccess(read, systemPaths...).IgnoreIfMissing(),
		landlock.PathAccess(ll.AccessFSReadFile, systemFiles...).IgnoreIfMissing(),
		landlock.PathAccess(ll.AccessFSReadFile|ll.AccessFSWriteFile, "/dev/null", "/dev/zero", "/dev/urandom").IgnoreIfMissing(),
		landlock.PathAccess(execute, programs(path)...).IgnoreIfMissing(),
	}
	// What the kernel lacks the workers have told.
	if err := lockFiles(rules...); err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EOPNOTSUPP) {
		fmt.Fprintln(os.Stderr, "it cannot be confined:", err)
		return 126
	}
	_ = forbidCalls()
	err := unix.Exec(path, args[1:], os.Environ())
	fmt.Fprintln(os.Stderr, err)
	return 126
}

// programs are the files that the kernel executes to run a program: itself, the
// loader of its libraries, and for a script the interpreter.
func programs(path string) []string {
	out := []string{path}
	for range 4 { // as deep as the kernel follows interpreters
		if path = interpreter(path); path == "" {
			break
		}
		out = append(out, path)
	}
	return out
}

// interpreter is the program that the kernel runs a program by, or "".
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	first := make([]byte, 256)
	n, _ := io.ReadFull(f, first)
	if line, ok := bytes.CutPrefix(first[:n], []byte("#!")); ok {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		if words := strings.Fields(string(line)); len(words) > 0 {
			return words[0]
		}
		return ""
	}
	program, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			name, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
			if err != nil {
				return ""
			}
			return filepath.Clean(string(bytes.TrimRight(name, "\x00")))
		}
	}
	return ""
}

// forbidCalls takes from a command, whose system calls nobody knows beforehand, those
// for the network, for further processes and for what only an administrator needs.
func forbidCalls() error {
	return seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionAllow,
			Syscalls: []seccomp.SyscallGroup{{
				Action: seccomp.ActionErrno,
				Names: knownCalls([]string{
					"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "socketcall",
					"fork", "vfork", "kill", "tkill", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open", "pidfd_send_signal",
					"io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "bpf", "perf_event_open",
					"mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "add_key", "request_key", "keyctl",
					"init_module", "finit_module", "delete_module", "kexec_load", "reboot", "swapon", "swapoff", "memfd_create",
				}),
				NamesWithCondtions: []seccomp.NameWithConditions{{
					Name:       "clone",
					Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsNotSet, Value: cloneThread}},
				}},
			}, {
				Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS),
				Names:  []string{"clone3"},
			}},
		},
	})
}
