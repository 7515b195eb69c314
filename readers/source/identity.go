package source

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"syscall"
)

// Identity tells, without reading a byte, that a file on this host may have changed. It does not
// tell what is in it.
type Identity struct {
	Size          int64
	Mtime, Ctime  int64 // nanoseconds since the epoch
	Device, Inode uint64
	Siblings      [16]byte // digest of the names and identities of the files that belong to it; zeros: there are none
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
	sum := sha256.Sum256(id.bytes())
	return hex.EncodeToString(sum[:12])
}

// bytes is the identity, integers little-endian; without siblings its last field is left out:
//
//	0      8       16      24       32      40         56
//	│ size │ mtime │ ctime │ device │ inode │ siblings │
func (id Identity) bytes() []byte {
	b := make([]byte, 0, 56)
	for _, v := range [...]uint64{uint64(id.Size), uint64(id.Mtime), uint64(id.Ctime), id.Device, id.Inode} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	if id.Siblings != [16]byte{} {
		b = append(b, id.Siblings[:]...)
	}
	return b
}
