package share

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
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
	mark, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
	n, m, _, _, err := conn.ReadMsgUnix(mark, rights)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || err == nil && n == 0 {
		return nil, ErrUnknownKey
	}
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:m])
	if err != nil {
		return nil, err
	}
	if mark[0] != given || len(messages) != 1 {
		return nil, fmt.Errorf("the server sent %q and %d messages, not a descriptor", mark, len(messages))
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "shared table"), nil
}
