package source

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vibeflight/vibeflight/internal/system"
)

// Identity tells, without reading a byte, that a file may have changed. It does not tell what is in
// it. A local file has times and an inode, an object of a store has a version. A file of a network
// file system has the same identity on each host. So its device, which differs, is not part of it.
type Identity struct {
	Size         int64
	Mtime, Ctime int64 // nanoseconds since the epoch; Ctime of a local file, as system.Stat has it
	Inode        uint64
	Object       ObjectVersion
	Siblings     [16]byte // digest of the names and identities of the files that belong to it; zeros: there are none
}

// ObjectVersion identifies one content of an object, in the words of its store; "" is of a local
// file:
//
//	generation:1700000000000000   Google Cloud Storage
//	etag:"9b2cf535f27731c9"       S3, Azure, HTTP
//	date                          HTTP without an ETag: the modification time and the size decide
//	size                          HTTP without either: only the size decides
type ObjectVersion string

// Remote reports whether the identity is that of an object of a store.
func (id Identity) Remote() bool { return id.Object != "" }

// Kind returns what tells the versions of an object apart: "generation", "etag", "date" or "size"; ""
// is of a local file.
func (id Identity) Kind() string {
	kind, _, _ := strings.Cut(string(id.Object), ":")
	return kind
}

// Weak reports whether the file may change without a change of its identity.
func (id Identity) Weak() bool { return id.Object == "date" || id.Object == "size" }

// IdentityOf is the identity in what a stat said.
func IdentityOf(info fs.FileInfo) Identity {
	id := Identity{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if st, ok := system.StatOf(info); ok {
		id.Ctime, id.Inode = st.Changed, st.Inode
	}
	if version, ok := info.Sys().(ObjectVersion); ok {
		id.Object = version
		if version != "date" { // the version says all
			id.Mtime = 0
		}
	}
	return id
}

// String is the identity in words, for errors.
func (id Identity) String() string {
	switch {
	case id.Object == "date":
		return fmt.Sprintf("%d bytes, modified %d.%09d", id.Size, id.Mtime/1e9, id.Mtime%1e9)
	case id.Remote():
		return fmt.Sprintf("%d bytes, %s", id.Size, id.Object)
	}
	return fmt.Sprintf("%d bytes, modified %d.%09d, inode %d", id.Size, id.Mtime/1e9, id.Mtime%1e9, id.Inode)
}

// Version is a short text that is different for a different identity: what stands in tickets.
func (id Identity) Version() string {
	sum := sha256.Sum256(id.bytes())
	return hex.EncodeToString(sum[:12])
}

// bytes is the identity, integers little-endian. Without siblings and without a version of an
// object, the last fields are left out. With a version, siblings are there:
//
//	0      8       16      24      32         48
//	│ size │ mtime │ ctime │ inode │ siblings │ object … │
func (id Identity) bytes() []byte {
	b := make([]byte, 0, 48)
	for _, v := range [...]uint64{uint64(id.Size), uint64(id.Mtime), uint64(id.Ctime), id.Inode} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	if id.Siblings != [16]byte{} || id.Remote() {
		b = append(b, id.Siblings[:]...)
	}
	return append(b, id.Object...)
}
