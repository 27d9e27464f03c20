package access

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const helperVariable = "QUERN_ACCESS_HELPER"

// TestMain makes the test binary the one that tries to read as another user.
func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		tryAll()
		return
	}
	os.Exit(m.Run())
}

// tryAll prints for each path given, a line each, whether it can be read.
func tryAll() {
	for _, path := range os.Args[1:] {
		f, err := os.Open(path)
		if err == nil {
			_ = f.Close()
		}
		fmt.Println(err == nil)
	}
}

// setList writes an access control list.
func setList(path string, entries []entry) error {
	b := binary.LittleEndian.AppendUint32(nil, listVersion)
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return setAttribute(path, b)
}

// TestAsTheKernel makes random trees of directories, files, modes, owners, groups, lists
// and links, and compares what MayRead says with what a real process of the user can.
func TestAsTheKernel(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("needs root on Linux, to become other users")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base := openTree(t)
	helper := filepath.Join(base, "helper")
	if data, err := os.ReadFile(self); err != nil || os.WriteFile(helper, data, 0o755) != nil {
		t.Skipf("the test binary cannot be copied: %v", err)
	}
	for seed := range uint64(6) {
		dir := filepath.Join(base, fmt.Sprint(seed))
		paths := randomTree(t, rand.New(rand.NewPCG(seed, 1)), dir)
		for _, u := range []User{NewUser(2001, 3001, nil), NewUser(2002, 3002, []uint32{3001}), NewUser(2003, 3003, []uint32{3004, 3002})} {
			cmd := exec.Command(helper, paths...)
			cmd.Env = append(os.Environ(), helperVariable+"=1")
			cmd.SysProcAttr = credential(u)
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("no other user can be had here: %v", err)
			}
			for i, line := range strings.Fields(string(out)) {
				got, err := u.MayRead(paths[i])
				if err != nil || fmt.Sprint(got) != line {
					t.Errorf("seed %d, %+v, %s: %v (%v), the kernel says %s", seed, u, paths[i], got, err, line)
				}
				file, err := u.Open(paths[i], os.O_RDONLY)
				if fmt.Sprint(err == nil) != line {
					t.Errorf("seed %d, %+v, %s: Open: %v, the kernel says %s", seed, u, paths[i], err, line)
				}
				_ = file.Close() // of none it does nothing
			}
		}
	}
}

// openTree is a directory that all may enter.
func openTree(t *testing.T) string {
	dir := t.TempDir()
	for d := dir; d != "/"; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(d, "TestAsTheKernel") {
			_ = os.Chmod(d, 0o755)
		} else if info.Mode().Perm()&1 == 0 {
			t.Skipf("%s can be entered by its owner only", d)
		}
	}
	return dir
}

func randomTree(t *testing.T, r *rand.Rand, dir string) (paths []string) {
	var must = func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(dir, 0o755))
	dirs := []string{dir}
	for i := range 8 {
		d := filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprint("d", i))
		must(os.Mkdir(d, 0o755))
		dirs = append(dirs, d)
	}
	for i := range 60 {
		f := filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprint("f", i))
		if i%6 == 5 {
			must(os.Symlink(paths[r.IntN(len(paths))], f))
		} else {
			must(os.WriteFile(f, []byte("x"), 0o600))
		}
		paths = append(paths, f)
	}
	for _, p := range append(dirs[1:], paths...) {
		if info, err := os.Lstat(p); err == nil && info.Mode()&os.ModeSymlink == 0 {
			shut(t, r, p, info.IsDir())
		}
	}
	return paths
}

// shut gives a file or directory a random owner, group, mode and list.
func shut(t *testing.T, r *rand.Rand, path string, dir bool) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chown(path, int(2001+r.IntN(3)), int(3001+r.IntN(4))))
	mode := os.FileMode(r.IntN(512))
	if dir && r.IntN(2) == 0 {
		mode |= 0o111
	}
	must(os.Chmod(path, mode))
	if r.IntN(3) > 0 {
		return
	}
	perm := func() uint16 { return uint16(r.IntN(8)) }
	list := []entry{{tagUserObj, perm(), ^uint32(0)}, {tagUser, perm(), 2002}, {tagGroupObj, perm(), ^uint32(0)},
		{tagGroup, perm(), 3001}, {tagGroup, perm(), 3004}, {tagMask, perm(), ^uint32(0)}, {tagOther, perm(), ^uint32(0)}}
	if err := setList(path, list); err != nil && !errors.Is(err, syscall.ENOTSUP) {
		t.Fatal(err)
	}
}

func TestRootReadsEverything(t *testing.T) {
	f := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(f, nil, 0); err != nil {
		t.Fatal(err)
	}
	if ok, err := (User{}).MayRead(f); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if ok, err := (User{}).MayRead(f + "x"); ok || err != nil {
		t.Errorf("a file that is not there: %v, %v", ok, err)
	}
}

func TestKeys(t *testing.T) {
	a, b := NewUser(1, 5, []uint32{7, 5, 6}), NewUser(1, 7, []uint32{6, 5})
	if a.Key() != b.Key() || a.Key() == NewUser(1, 5, nil).Key() || a.Key() == NewUser(15, 6, []uint32{7}).Key() {
		t.Errorf("%q, %q", a.Key(), b.Key())
	}
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := parseList(b)
		if err == nil && len(b) != listHead+entrySize*len(list) {
			t.Errorf("%d entries of %d bytes", len(list), len(b))
		}
	})
}
