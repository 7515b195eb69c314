package cachedir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/internal/files/faulty"
	"github.com/vibeflight/vibeflight/internal/system/systemtest"
)

func TestForeignFilesAreLeftAlone(t *testing.T) {
	l := newLab(t, 100)
	table := func(i int) string { return number(i).String() + ".arrow" }
	at := func(name string) string { return filepath.Join(l.path, name) }
	outside := filepath.Join(t.TempDir(), "outside")
	l.must(errors.Join(
		os.WriteFile(outside, []byte("somebody's"), 0o600),
		os.WriteFile(at("README"), make([]byte, 1000), 0o600),
		os.WriteFile(at(".tmp-foreign"), make([]byte, 1000), 0o600),
		os.WriteFile(at(strings.ToUpper(table(1))), make([]byte, 1000), 0o600),
		os.Mkdir(at(table(2)), 0o700),
		os.Symlink(outside, at(table(3))),
		systemtest.Mkfifo(at(table(4))),
		os.Mkdir(at(".tmp-1-0123456789abcdef"), 0o700),
		os.Symlink(outside, at(".tmp-1-0123456789abcdee")),
	))
	before, err := os.ReadDir(l.path)
	l.must(err)

	d := l.open(l.path, 100)
	if s := d.Stats(); s.Tables != 0 || s.Bytes != 0 || s.WritingBytes != 0 {
		t.Errorf("stats %+v: foreign files are counted", s)
	}
	for i := 2; i <= 4; i++ {
		if _, ok, err := d.Get(number(i)); ok || !errors.Is(err, errForeign) {
			t.Errorf("Get %d: %v, %v", i, ok, err)
		}
		if err := d.Drop(number(i)); !errors.Is(err, errForeign) {
			t.Errorf("Drop %d: %v", i, err)
		}
		if _, err := put(d, number(i), make([]byte, 10)); !errors.Is(err, errForeign) {
			t.Errorf("Commit %d: %v", i, err)
		}
	}
	l.add(d, 5, 100)
	l.add(d, 6, 100)
	if n, _, err := d.Clear(); n != 1 || err != nil {
		t.Errorf("Clear: %d, %v", n, err)
	}
	after, err := os.ReadDir(l.path)
	l.must(err)
	same := func(a, b fs.DirEntry) bool { return a.Name() == b.Name() && a.Type() == b.Type() }
	if !slices.EqualFunc(before, after, same) {
		t.Errorf("the folder has\n%v, had\n%v", after, before)
	}
	if text, err := os.ReadFile(outside); string(text) != "somebody's" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
}

func TestFolderThatVanishes(t *testing.T) {
	l := newLab(t, 1000)
	h := l.hold(l.Dir, 1, 100)
	temp, err := l.Create(10)
	l.must(err)
	l.must(os.RemoveAll(l.path))
	l.must(whole(h, sized(number(1), 100)))
	if l.use(l.Dir, 1) {
		t.Error("Get gives a table of no folder")
	}
	if _, err := temp.Commit(number(2)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Commit: %v", err)
	}
	l.must(l.Drop(number(1)))
	if n, _, err := l.Clear(); n != 0 || err != nil {
		t.Errorf("Clear: %d, %v", n, err)
	}
	l.later(time.Minute)
	if s := l.Stats(); s.Tables != 0 || s.Writing != 0 {
		t.Errorf("stats %+v", s)
	}
	l.add(l.Dir, 3, 100)
	l.wantTables(3)
	h.Release()

	l.must(os.RemoveAll(l.path))
	l.must(os.WriteFile(l.path, nil, 0o600))
	if _, _, err := l.Get(number(3)); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("Get in a file: %v", err)
	}
	l.later(time.Minute)
	if _, err := l.Create(1); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("Create in a file: %v", err)
	}
	if s := l.Stats(); s.Writing != 0 {
		t.Errorf("stats %+v", s)
	}
	if _, err := Open(l.disk, l.path, 1000, zerolog.Nop()); err == nil {
		t.Error("Open of a file")
	}
}

func TestReadOnlyFolder(t *testing.T) {
	l := newLab(t, 1000)
	l.add(l.Dir, 1, 100)
	l.add(l.Dir, 2, 100)
	l.must(os.WriteFile(filepath.Join(l.path, ".tmp-1-0123456789abcdef"), make([]byte, 50), 0o600))
	frozen := faulty.New(l.disk, 1)
	frozen.Inject(faulty.Fault{Ops: faulty.Changes &^ faulty.MkdirAll, Probability: 1, Err: syscall.EROFS})
	var log bytes.Buffer
	d, err := open(frozen, l.path, 150, zerolog.New(&log), l.clock.now)
	l.must(err)
	for _, text := range []string{"beyond the budget stays", "writer that died stays"} {
		if !strings.Contains(log.String(), text) {
			t.Errorf("the log does not say %q:\n%s", text, &log)
		}
	}
	l.wantTables(1, 2)
	l.later(time.Hour)
	if !l.use(d, 1) || !l.use(d, 2) || l.use(d, 3) {
		t.Error("Get does not give what is there")
	}
	var full *FullError
	if _, err := d.Create(100); !errors.As(err, &full) || !errors.Is(err, syscall.EROFS) {
		t.Errorf("Create beyond the budget: %v", err)
	}
	if err := d.Drop(number(1)); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Drop: %v", err)
	}
	if n, bytes, err := d.Clear(); n != 0 || bytes != 0 || !errors.Is(err, syscall.EROFS) {
		t.Errorf("Clear: %d, %d, %v", n, bytes, err)
	}
	l.wantTables(1, 2)
	l.must(d.Close())

	d, err = open(frozen, l.path, 1000, zerolog.Nop(), l.clock.now)
	l.must(err)
	if _, err := d.Create(100); !errors.Is(err, syscall.EROFS) || errors.As(err, &full) {
		t.Errorf("Create: %v", err)
	}
	if s := d.Stats(); s.Writing != 0 || s.WritingBytes != 50 {
		t.Errorf("stats %+v", s)
	}
}

// TestEachOperationFails makes each operation of writing a table fail with each error. Commit then
// returns an error or has completed.
func TestEachOperationFails(t *testing.T) {
	for _, fault := range []faulty.Fault{
		{Ops: faulty.All, Err: syscall.ENOSPC, Short: true},
		{Ops: faulty.All, Err: syscall.EIO},
		{Ops: faulty.All, Err: syscall.EROFS},
	} {
		t.Run(fmt.Sprint(fault.Err), func(t *testing.T) {
			for fault.Nth = 1; oneFails(t, fault); fault.Nth++ {
			}
			if fault.Nth < 15 {
				t.Errorf("a commit with evictions is %d operations", fault.Nth)
			}
		})
	}
}

// oneFails reports whether enough operations were executed for the fault to happen.
func oneFails(t *testing.T, fault faulty.Fault) (happened bool) {
	l := newLab(t, 2000)
	l.add(l.Dir, 1, 1000)
	l.add(l.Dir, 2, 1000)
	broken := faulty.New(l.disk, uint64(fault.Nth))
	d, err := open(broken, l.path, 2000, zerolog.Nop(), l.clock.now)
	l.must(err)
	steps := broken.Steps()
	broken.Inject(fault)
	h, err := put(d, number(3), sized(number(3), 1500))
	happened = broken.Steps()-steps >= fault.Nth
	broken.Heal()
	switch {
	case err == nil:
		l.must(whole(h, sized(number(3), 1500)))
		h.Release()
		l.wantTables(3)
	case !errors.Is(err, fault.Err):
		t.Errorf("operation %d: %v, want %v", fault.Nth, err, fault.Err)
	default:
		if l.use(d, 3) {
			t.Errorf("operation %d: after %v the table is there", fault.Nth, err)
		}
	}
	if s := d.Stats(); s.Writing != 0 || s.HeldTables != 0 {
		t.Errorf("operation %d: after %v stats are %+v", fault.Nth, err, s)
	}
	l.later(time.Minute)
	l.hold(d, 4, 2000).Release() // works again, with the whole budget
	l.wantTables(4)
	l.wantTemps(0)
	return happened
}

func TestOpenFails(t *testing.T) {
	for _, op := range []faulty.Op{faulty.MkdirAll, faulty.ReadDir} {
		broken := faulty.New(files.OS{}, 1)
		broken.Inject(faulty.Fault{Ops: op, Nth: 1, Err: syscall.EIO})
		if _, err := Open(broken, t.TempDir(), 100, zerolog.Nop()); !errors.Is(err, syscall.EIO) {
			t.Errorf("Open: %v", err)
		}
	}
}
