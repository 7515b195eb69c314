package system

import (
	"errors"
	"net"
	"os"
)

// ErrNoDescriptor says that a message brought no descriptor of a file.
var ErrNoDescriptor = errors.New("the message has no descriptor of a file")

// PassFiles sends mark, and with it descriptors of files that the receiver owns. Without such a call
// of the system the error is errors.ErrUnsupported.
func PassFiles(c *net.UnixConn, mark byte, files ...*os.File) error { return passFiles(c, mark, files) }

// ReceiveFile receives a message of PassFiles with one file. The error of another message is ErrNoDescriptor. name
// is that of the file in errors.
func ReceiveFile(c *net.UnixConn, mark byte, name string) (*os.File, error) {
	return receiveFile(c, mark, name)
}
