package system

import (
	"errors"
	"net"
	"os"
)

// ErrNoDescriptor says that a message brought no descriptor of a file.
var ErrNoDescriptor = errors.New("the message has no descriptor of a file")

// PassFile sends mark, and with it a descriptor of f that the receiver owns. Without such a call of
// the system the error is errors.ErrUnsupported.
func PassFile(c *net.UnixConn, mark byte, f *os.File) error { return passFile(c, mark, f) }

// ReceiveFile receives a message of PassFile. The error of another message is ErrNoDescriptor. name
// is that of the file in errors.
func ReceiveFile(c *net.UnixConn, mark byte, name string) (*os.File, error) {
	return receiveFile(c, mark, name)
}
