//go:build !linux

package pgtest

import (
	"errors"
	"os"
	"syscall"
)

var errSystem = errors.New("tests with PostgreSQL need Linux")

// unprivileged returns an error: the servers would outlive a test that is killed.
func unprivileged() (*syscall.SysProcAttr, error) { return nil, errSystem }

func give(string, *syscall.SysProcAttr) error { return errSystem }

func pause(*os.Process) error { return errSystem }

func resumeProcess(*os.Process) {}
