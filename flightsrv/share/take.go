package share

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/vibeflight/vibeflight/internal/system"
)

// ErrUnknownKey says that a server has nothing for a key: it was used, or is too old.
var ErrUnknownKey = errors.New("the server has no table for this key")

// maxManifest is the maximum size of a Manifest in bytes.
const maxManifest = 1 << 30

// Take gets the file of a key from the socket of a server. The server keeps the file in its cache
// until lease is closed. The file stays readable after that.
func Take(socket, key string) (f *os.File, lease io.Closer, err error) {
	return taken(socket, key, func(c *net.UnixConn) (*os.File, error) {
		return system.ReceiveFile(c, given, "shared table")
	})
}

// TakeTable gets the table of a key on a GPU from the socket of a server. The table stays there until
// lease is closed, or the server ends it. files are the allocations of an emulated device, which the
// caller closes.
func TakeTable(socket, key string) (m *Manifest, files []*os.File, lease io.Closer, err error) {
	m, lease, err = taken(socket, key, func(c *net.UnixConn) (m *Manifest, err error) {
		if files, err = system.ReceiveFiles(c, described, "shared table"); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, closeAll(files))
			}
		}()
		return readManifest(c)
	})
	return m, files, lease, err
}

func closeAll(files []*os.File) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// readManifest reads a manifest and its length.
func readManifest(r io.Reader) (*Manifest, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxManifest {
		return nil, fmt.Errorf("a manifest of %d bytes, more than %d", n, maxManifest)
	}
	m := &Manifest{}
	return m, json.NewDecoder(io.LimitReader(r, int64(n))).Decode(m)
}

// taken sends a key, and returns what receive gets for it. lease is the connection.
func taken[T any](socket, key string, receive func(*net.UnixConn) (T, error)) (t T, lease io.Closer, err error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return t, nil, err
	}
	if _, err = conn.Write([]byte(key + "\n")); err == nil {
		t, err = receive(conn)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, system.ErrNoDescriptor) {
		err = ErrUnknownKey
	}
	if err != nil {
		return t, nil, errors.Join(err, conn.Close())
	}
	return t, conn, nil
}
