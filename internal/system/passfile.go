package system

import (
	"errors"
	"net"
	"os"
)

// ErrNoDescriptor says that a message is not of PassFiles with the expected mark and files.
var ErrNoDescriptor = errors.New("the message has no descriptor of a file")

// PassFiles sends mark, and with it descriptors of files that the receiver owns. Without such a call
// of the system the error is errors.ErrUnsupported.
func PassFiles(c *net.UnixConn, mark byte, files ...*os.File) error { return passFiles(c, mark, files) }

// MaxFiles is how many files one message passes.
const MaxFiles = 64

// ReceiveFiles receives a message of PassFiles with mark. The error of another message is
// ErrNoDescriptor. name is that of the files in errors.
func ReceiveFiles(c *net.UnixConn, mark byte, name string) ([]*os.File, error) {
	return receiveFiles(c, mark, name)
}

// ReceiveFile receives a message of PassFiles with mark and one file, as ReceiveFiles does.
func ReceiveFile(c *net.UnixConn, mark byte, name string) (*os.File, error) {
	files, err := receiveFiles(c, mark, name)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return nil, errors.Join(ErrNoDescriptor, err)
	}
	return files[0], nil
}
