package source

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Identity tells, without reading a byte, that a file on this host may have changed. It does not tell what is in it.
type Identity struct {
	Size          int64
	Mtime, Ctime  int64 // nanoseconds since the epoch
	Device, Inode uint64
}

// Identify looks at the file at path, following links.
func Identify(path string) (Identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Identity{}, err
	}
	return IdentityOf(info), nil
}

// IdentityOf is the identity in what a stat said.
func IdentityOf(info fs.FileInfo) Identity {
	id := Identity{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id.Ctime = st.Ctim.Nano()
		id.Device, id.Inode = uint64(st.Dev), st.Ino
	}
	return id
}

// String is the identity in words, for errors.
func (id Identity) String() string {
	return fmt.Sprintf("%d bytes, modified %d.%09d, inode %d", id.Size, id.Mtime/1e9, id.Mtime%1e9, id.Inode)
}

// Version is a short text that is different for a different identity: what stands in tickets.
func (id Identity) Version() string {
	var b [40]byte
	for i, v := range [...]uint64{uint64(id.Size), uint64(id.Mtime), uint64(id.Ctime), id.Device, id.Inode} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	sum := sha256.Sum256(b[:])
	return hex.EncodeToString(sum[:12])
}
