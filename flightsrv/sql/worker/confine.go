//go:build linux

package worker

import (
	"fmt"
	"os"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// readable are the folders and files that the dynamic linker and the C library read. A worker may
// read these, its own binary and the spatial extension, and write to its spill folder. DuckDB reads
// its share of the machine from /proc/self/cgroup. Landlock hides what is private to other
// processes there.
var readable = []string{
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache",
	"/dev/null", "/dev/urandom", "/proc", "/sys/fs/cgroup",
}

// The rights of Landlock's first version, and those that later versions added, by version.
const (
	readFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	readDir  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	allFS1   = 1<<13 - 1
)

var addedFS = map[int]uint64{
	2: unix.LANDLOCK_ACCESS_FS_REFER, 3: unix.LANDLOCK_ACCESS_FS_TRUNCATE, 5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
}

// restrictThread restricts the calling thread, and the processes that it starts, to the files of a
// worker. It can't be undone: the caller has locked the thread, and never unlocks it. Without
// Landlock in the kernel, it restricts nothing and reports false.
//
// Libraries for Landlock restrict all threads of a process. Here only one thread of the server is
// restricted.
func restrictThread(files []string, spill string) (bool, error) {
	version, _, no := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if no != 0 {
		return false, nil
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: allFS1}
	for v, right := range addedFS {
		if int(version) >= v {
			attr.Handled_access_fs |= right
		}
	}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	rules, _, no := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)),
		unsafe.Sizeof(attr), 0)
	if no != 0 {
		return false, os.NewSyscallError("landlock_create_ruleset", no)
	}
	defer closeFDs([]int{int(rules)})
	for _, path := range files {
		if err := allow(int(rules), path, readDir); err != nil {
			return false, err
		}
	}
	if spill != "" {
		if err := allow(int(rules), spill, attr.Handled_access_fs); err != nil {
			return false, err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return false, os.NewSyscallError("prctl", err)
	}
	if _, _, no = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); no != 0 {
		return false, os.NewSyscallError("landlock_restrict_self", no)
	}
	return true, nil
}

// allow adds a rule for a folder or a file. A missing path needs none.
func allow(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // documented
	}
	defer closeFDs([]int{fd})
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, no := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if no != 0 {
		return fmt.Errorf("%s: %w", path, os.NewSyscallError("landlock_add_rule", no))
	}
	return nil
}

// refused are the system calls that a worker does not need: sockets, other programs and processes,
// and the settings of the kernel.
var refused = []string{
	"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
	"execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
	"mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "bpf", "perf_event_open", "userfaultfd",
	"keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load",
	"reboot", "swapon", "swapoff", "io_uring_setup", "io_uring_enter", "io_uring_register", "open_by_handle_at",
}

// Missing returns the protections of workers that the kernel of this machine does not have.
func Missing() (missing []string) {
	if _, _, no := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); no != 0 {
		missing = append(missing, noLandlock)
	}
	if !seccomp.Supported() {
		missing = append(missing, "seccomp: workers may open connections")
	}
	return missing
}

const noLandlock = "Landlock: workers may open what the server may"

// confine makes the kernel refuse the system calls of refused, in all threads of this process. It
// returns the protections that the kernel does not have.
func confine() (missing []string) {
	filter := seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionAllow,
			Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionErrno, Names: refused}},
		},
	}
	if err := seccomp.LoadFilter(filter); err != nil {
		missing = append(missing, fmt.Sprintf("seccomp: %v", err))
	}
	return missing
}
