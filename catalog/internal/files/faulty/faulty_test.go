package faulty

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// lab is a faulty file system over an empty folder.
type lab struct {
	*FS
	t       *testing.T
	dir     string
	crashes int
}

func newLab(t *testing.T, seed uint64) *lab {
	return &lab{FS: New(files.OS{}, seed), t: t, dir: t.TempDir()}
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) create(name string) files.File {
	l.t.Helper()
	f, err := l.Create(l.path(name))
	l.must(err)
	l.t.Cleanup(func() { _ = f.Close() })
	return f
}

func (l *lab) write(f files.File, text []byte, off int64) {
	l.t.Helper()
	_, err := f.WriteAt(text, off)
	l.must(err)
}

// crash returns the contents of the files after a power loss.
func (l *lab) crash() map[string][]byte {
	l.t.Helper()
	l.crashes++
	to := filepath.Join(l.t.TempDir(), "after")
	l.must(l.Crash(l.dir, to))
	entries, err := os.ReadDir(to)
	l.must(err)
	left := map[string][]byte{}
	for _, e := range entries {
		if left[e.Name()], err = os.ReadFile(filepath.Join(to, e.Name())); err != nil {
			l.t.Fatal(err)
		}
	}
	return left
}

const losses = 200 // enough for each outcome of a few random choices

func TestWhatIsSyncedStays(t *testing.T) {
	l := newLab(t, 1)
	l.must(os.WriteFile(l.path("before"), []byte("there before"), 0o600))
	f := l.create("a")
	l.write(f, []byte("synced"), 0)
	l.must(f.Sync())
	l.must(l.Rename(l.path("a"), l.path("b")))
	l.must(l.SyncDir(l.dir))
	for range losses {
		left := l.crash()
		if len(left) != 2 || string(left["b"]) != "synced" || string(left["before"]) != "there before" {
			t.Fatalf("left is %q", left)
		}
	}
}

func TestUnsyncedWritesAreKeptLostOrTorn(t *testing.T) {
	l := newLab(t, 2)
	f := l.create("a")
	old, now := bytes.Repeat([]byte{'-'}, 4*sector), bytes.Repeat([]byte{'x'}, 2*sector+10)
	l.write(f, old, 0)
	l.must(f.Sync())
	l.must(l.SyncDir(l.dir))
	l.write(f, now, sector-5)
	seen := map[string]int{}
	for range losses {
		got := l.crash()["a"]
		if len(got) != len(old) {
			t.Fatalf("%d bytes are left, want %d", len(got), len(old))
		}
		// The write has 5 bytes of one sector, two complete sectors, and 5 bytes of another.
		parts := []string{
			string(got[sector-5 : sector]), string(got[sector : 2*sector]),
			string(got[2*sector : 3*sector]), string(got[3*sector : 3*sector+5]),
		}
		var shape strings.Builder
		for _, p := range parts {
			if strings.Trim(p, p[:1]) != "" {
				t.Fatalf("a sector is torn: %q", p)
			}
			shape.WriteString(p[:1])
		}
		seen[shape.String()]++
	}
	if len(seen) != 16 || seen["xxxx"] < losses/4 || seen["----"] < losses/4 {
		t.Errorf("outcomes %v, want all 16, and a third each whole and not at all", seen)
	}
}

func TestUnsyncedTruncate(t *testing.T) {
	l := newLab(t, 3)
	f := l.create("a")
	l.write(f, []byte("0123456789"), 0)
	l.must(f.Sync())
	l.must(l.SyncDir(l.dir))
	l.must(f.Truncate(4))
	l.must(f.Truncate(6))
	seen := map[string]bool{}
	for range losses {
		seen[string(l.crash()["a"])] = true
	}
	for _, want := range []string{"0123456789", "0123", "0123\x00\x00", "012345"} {
		if !seen[want] {
			t.Errorf("never %q", want)
		}
	}
	l.must(f.Sync())
	if got := l.crash()["a"]; string(got) != "0123\x00\x00" {
		t.Errorf("after Sync %q", got)
	}
}

func TestUnsyncedNamesGoInOrder(t *testing.T) {
	l := newLab(t, 4)
	l.must(os.WriteFile(l.path("old"), nil, 0o600))
	l.create("a")
	l.must(l.Rename(l.path("a"), l.path("b")))
	l.must(l.Remove(l.path("old")))
	l.create("c")
	seen := map[string]bool{}
	for range losses {
		var names []string
		for name := range l.crash() {
			names = append(names, name)
		}
		slices.Sort(names)
		seen[strings.Join(names, " ")] = true
	}
	for _, want := range []string{"old", "a old", "b old", "b", "b c"} {
		if !seen[want] {
			t.Errorf("never %q", want)
		}
		delete(seen, want)
	}
	if len(seen) > 0 {
		t.Errorf("also %v", seen)
	}
}

func TestFailedSyncLosesWrites(t *testing.T) {
	lost := 0
	for seed := range uint64(40) {
		l := newLab(t, seed)
		f := l.create("a")
		l.must(l.SyncDir(l.dir))
		l.write(f, []byte("text"), 0)
		l.Inject(Fault{Ops: Sync, Nth: 1, Err: syscall.EIO})
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("Sync: %v", err)
		}
		l.must(f.Sync())
		if string(l.crash()["a"]) != "text" {
			lost++
		}
	}
	if lost == 0 || lost == 40 {
		t.Errorf("a failed Sync lost its writes %d times of 40", lost)
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault Fault
		want  string // the failures among ten alternating calls of Stat and Touch
	}{
		{"none", Fault{Ops: Stat | Touch, Err: syscall.EIO}, ".........."},
		{"all", Fault{Ops: All, Probability: 1, Err: syscall.EIO}, "xxxxxxxxxx"},
		{"one kind", Fault{Ops: Stat, Probability: 1, Err: syscall.ENOSPC}, "x.x.x.x.x."},
		{"first", Fault{Ops: Stat | Touch, Nth: 1, Err: syscall.EROFS}, "x........."},
		{"third of a kind", Fault{Ops: Stat, Nth: 3, Err: syscall.EROFS}, "....x....."},
		{"other kind", Fault{Ops: All &^ (Stat | Touch), Probability: 1, Err: syscall.EIO}, ".........."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, 5)
			l.create("a")
			l.Inject(tt.fault)
			var got strings.Builder
			for i := range 10 {
				var err error
				if i%2 == 0 {
					_, err = l.Stat(l.path("a"))
				} else {
					info, _ := os.Stat(l.path("a"))
					err = l.Touch(l.path("a"), info.ModTime())
				}
				switch {
				case err == nil:
					got.WriteByte('.')
				case errors.Is(err, tt.fault.Err):
					got.WriteByte('x')
				default:
					t.Fatal(err)
				}
			}
			if got.String() != tt.want {
				t.Errorf("got %s, want %s", &got, tt.want)
			}
			l.Heal()
			if _, err := l.Stat(l.path("a")); err != nil {
				t.Errorf("after Heal: %v", err)
			}
		})
	}
}

func TestShortWrite(t *testing.T) {
	l := newLab(t, 6)
	f := l.create("a")
	l.Inject(Fault{Ops: Write, Probability: 1, Err: syscall.ENOSPC, Short: true})
	for i := range 20 {
		n, err := f.WriteAt([]byte("0123456789"), 0)
		if !errors.Is(err, syscall.ENOSPC) || n < 0 || n >= 10 {
			t.Fatalf("write %d: %d bytes, %v", i, n, err)
		}
		info, err := os.Stat(l.path("a"))
		l.must(err)
		if info.Size() < int64(n) {
			t.Fatalf("write %d: wrote %d bytes, the file has %d", i, n, info.Size())
		}
	}
}

func TestCrashAtEachStep(t *testing.T) {
	run := func(l *lab) (done int) {
		f, err := l.Create(l.path("a"))
		if err != nil {
			return 0
		}
		done = 1
		_, write := f.WriteAt([]byte("x"), 0)
		for i, err := range []error{write, f.Sync(), l.SyncDir(l.dir), f.Close(), l.Remove(l.path("a"))} {
			if err == nil {
				done = i + 2
			} else if !errors.Is(err, ErrCrashed) {
				l.t.Fatal(err)
			}
		}
		return done
	}
	whole := newLab(t, 7)
	if done := run(whole); done != 6 || whole.Steps() != 6 {
		t.Fatalf("%d operations, %d counted, want 6", done, whole.Steps())
	}
	for n := range 6 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			l := newLab(t, 7)
			l.CrashAt(n)
			if done := run(l); done != n {
				t.Errorf("%d operations were done", done)
			}
			if n == 4 && string(l.crash()["a"]) != "x" {
				t.Error("a synced file is lost")
			}
		})
	}
}

func TestSameSeedSameCrash(t *testing.T) {
	var first map[string][]byte
	for i := range 3 {
		l := newLab(t, 8)
		for _, name := range []string{"a", "b", "c", "d"} {
			l.write(l.create(name), bytes.Repeat([]byte(name), 5*sector), 0)
		}
		left := l.crash()
		if i == 0 {
			first = left
		}
		if fmt.Sprint(left) != fmt.Sprint(first) {
			t.Fatalf("run %d differs", i)
		}
	}
}
