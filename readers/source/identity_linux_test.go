package source

import (
	"io/fs"
	"syscall"
	"testing"
	"time"
)

// statInfo is what a stat of a local file returns.
type statInfo struct {
	fs.FileInfo // nil: not used
	sys         syscall.Stat_t
}

func (i *statInfo) Size() int64        { return i.sys.Size }
func (i *statInfo) ModTime() time.Time { return time.Unix(i.sys.Mtim.Unix()) }
func (i *statInfo) Sys() any           { return &i.sys }

// TestIdentityIsTheSameOnEachHost: hosts number the devices of a network file system differently, and
// tickets must have the same version on each of them.
func TestIdentityIsTheSameOnEachHost(t *testing.T) {
	at := syscall.NsecToTimespec(1_700_000_000_123_456_789)
	a := &statInfo{sys: syscall.Stat_t{Dev: 1, Ino: 3, Size: 10, Mtim: at, Ctim: at}}
	b := &statInfo{sys: a.sys}
	b.sys.Dev = 2
	if a, b := IdentityOf(a), IdentityOf(b); a != b || a.Version() != b.Version() {
		t.Errorf("identities %v and %v, versions %s and %s", a, b, a.Version(), b.Version())
	}
	b.sys.Ino = 4
	if a, b := IdentityOf(a), IdentityOf(b); a == b || a.Version() == b.Version() {
		t.Error("the inode does not count")
	}
	const want = "4382dc1594ab4be44b558cec"
	if got := IdentityOf(a).Version(); got != want {
		t.Errorf("version %s, want %s: replicas of two releases would not accept the tickets of each other", got, want)
	}
}
