package system

import (
	"errors"
	"syscall"
)

func isAny(err error, of []syscall.Errno) bool {
	for _, e := range of {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Full reports whether a disk, or the user's share of it, has no room for bytes or for files.
func Full(err error) bool { return isAny(err, full) }

// TooLarge reports whether a file would be larger than the file system or a limit allows.
func TooLarge(err error) bool { return errors.Is(err, syscall.EFBIG) }

// Scarce reports whether the process or the host lacks descriptors or memory.
func Scarce(err error) bool { return isAny(err, scarce) }

// Exhausted reports whether an error says nothing about the file that was asked for: the host lacks
// a resource, or a disk fails.
func Exhausted(err error) bool { return Scarce(err) || isAny(err, failing) }

// ClosedPipe reports whether the reader of a pipe has closed it.
func ClosedPipe(err error) bool { return isAny(err, closedPipe) }

// Refused reports whether nobody listens at an address.
func Refused(err error) bool { return isAny(err, refused) }
