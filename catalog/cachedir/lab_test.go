package cachedir

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// number returns a key for each number.
func number(i int) Key { return sha256.Sum256(binary.AppendVarint(nil, int64(i))) }

// content returns what the tests write for a key: up to 2,303 bytes. Content and length follow from
// the key.
func content(k Key) []byte { return sized(k, int(k[0])*9+8) }

// sized returns n bytes that follow from the key.
func sized(k Key, n int) []byte { return bytes.Repeat(k[:], n/len(k)+1)[:n] }

// disk is the operating system's file system with a given amount of free space.
type disk struct {
	files.FS
	free int64
}

func (d *disk) Free(name string) (int64, error) {
	if _, err := d.FS.Free(name); err != nil {
		return 0, err
	}
	return d.free, nil
}

// clock is a clock that only the test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// lab is a Dir in a temporary folder. The test controls its disk and clock.
type lab struct {
	*Dir
	t     *testing.T
	disk  *disk
	clock *clock
}

func newLab(t *testing.T, budget int64) *lab {
	t.Helper()
	l := &lab{t: t, disk: &disk{FS: files.OS{}, free: 1 << 40}, clock: &clock{time.Now()}}
	l.Dir = l.open(filepath.Join(t.TempDir(), "cache"), budget)
	return l
}

// open opens a Dir with the lab's disk and clock, as another or a restarted server does.
func (l *lab) open(path string, budget int64) *Dir {
	l.t.Helper()
	d, err := open(l.disk, path, budget, zerolog.Nop(), l.clock.now)
	l.must(err)
	l.t.Cleanup(func() { _ = d.Close() })
	return d
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// later moves the clock.
func (l *lab) later(d time.Duration) { l.clock.at = l.clock.at.Add(d) }

// hold writes a table of n bytes and returns it in use. It moves the clock by a minute, so that
// each table has its own time.
func (l *lab) hold(d *Dir, i, n int) *TableFile {
	l.t.Helper()
	h, err := put(d, number(i), sized(number(i), n))
	l.must(err)
	l.later(time.Minute)
	return h
}

// add writes a table of n bytes.
func (l *lab) add(d *Dir, i, n int) { l.t.Helper(); l.hold(d, i, n).Release() }

// use gets a table and releases it.
func (l *lab) use(d *Dir, i int) bool {
	l.t.Helper()
	h, ok, err := d.Get(number(i))
	l.must(err)
	if ok {
		h.Release()
		l.later(time.Minute)
	}
	return ok
}

// wantTables compares the tables in the folder on the disk.
func (l *lab) wantTables(want ...int) {
	l.t.Helper()
	var names, wanted []string
	for _, i := range want {
		wanted = append(wanted, number(i).String()+tableSuffix)
	}
	entries, err := os.ReadDir(l.path)
	l.must(err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), tableSuffix) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(wanted)
	if !slices.Equal(names, wanted) {
		l.t.Errorf("the folder has %d tables %q, want %v %q", len(names), names, want, wanted)
	}
}

// wantTemps compares the number of temporary files in the folder.
func (l *lab) wantTemps(want int) {
	l.t.Helper()
	found, err := filepath.Glob(filepath.Join(l.path, tempPrefix+"*"))
	l.must(err)
	if len(found) != want {
		l.t.Errorf("temporary files %q, want %d", found, want)
	}
}

// put writes a table.
func put(d *Dir, k Key, b []byte) (*TableFile, error) {
	t, err := d.Create(int64(len(b)))
	if err != nil {
		return nil, err
	}
	for off := 0; off < len(b); off += 700 {
		if _, err := t.WriteAt(b[off:min(off+700, len(b))], int64(off)); err != nil {
			return nil, errors.Join(err, t.Abort())
		}
	}
	return t.Commit(k)
}

// whole returns an error if a file does not have the expected content.
func whole(f files.File, want []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	got, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: %d bytes, want %d", errTorn, len(got), len(want))
	}
	return nil
}

var errTorn = errors.New("a table is not what was committed")
