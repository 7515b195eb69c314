package system

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// Errors of Windows, next to those of POSIX that Go's own packages return there.
var (
	full = []syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL,
		windows.ERROR_DISK_QUOTA_EXCEEDED,
	}
	scarce = []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, windows.ERROR_TOO_MANY_OPEN_FILES,
		windows.ERROR_NOT_ENOUGH_MEMORY, windows.ERROR_COMMITMENT_LIMIT,
	}
	failing    = []syscall.Errno{syscall.EIO, windows.ERROR_CRC, windows.ERROR_IO_DEVICE}
	closedPipe = []syscall.Errno{syscall.EPIPE, windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA}
	refused    = []syscall.Errno{syscall.ECONNREFUSED, windows.WSAECONNREFUSED}
)
