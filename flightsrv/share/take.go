package share

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/vibeflight/vibeflight/internal/system"
)

// ErrUnknownKey says that a server has no file for a key: it was used, or is too old.
var ErrUnknownKey = errors.New("the server has no file for this key")

// Take gets the file of a key from the socket of a server. The server keeps the file in its cache
// until lease is closed. The file stays readable after that.
func Take(socket, key string) (f *os.File, lease io.Closer, err error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	f, err = receive(conn, key)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return f, conn, nil
}

func receive(conn *net.UnixConn, key string) (*os.File, error) {
	if _, err := conn.Write([]byte(key + "\n")); err != nil {
		return nil, err
	}
	f, err := system.ReceiveFile(conn, given, "shared table")
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, system.ErrNoDescriptor) {
		return nil, ErrUnknownKey
	}
	return f, err
}
