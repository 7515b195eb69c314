package pgtest

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged returns the attributes of a process of another user if this one is root, because
// PostgreSQL and PgBouncer refuse to run as root.
func unprivileged() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	var errs []error
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return attr, nil
	}
	return nil, errors.Join(errs...)
}

// give makes a file one of the user of the servers.
func give(path string, attr *syscall.SysProcAttr) error {
	if attr.Credential == nil {
		return nil
	}
	return os.Chown(path, int(attr.Credential.Uid), int(attr.Credential.Gid))
}

func pause(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func resumeProcess(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }
