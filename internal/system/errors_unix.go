//go:build unix

package system

import "syscall"

var (
	full       = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}
	scarce     = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}
	failing    = []syscall.Errno{syscall.EIO}
	closedPipe = []syscall.Errno{syscall.EPIPE}
	refused    = []syscall.Errno{syscall.ECONNREFUSED}
)
