package cachedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

func TestCommitThenGet(t *testing.T) {
	l := newLab(t, 1000)
	if _, ok, err := l.Get(number(1)); ok || err != nil {
		t.Fatalf("Get of nothing: %v, %v", ok, err)
	}
	h := l.hold(l.Dir, 1, 100)
	if want := filepath.Join(l.path, number(1).String()+".arrow"); h.Name() != want {
		t.Errorf("name %s, want %s", h.Name(), want)
	}
	l.must(whole(h, sized(number(1), 100)))
	got, ok, err := l.Get(number(1))
	if !ok || err != nil {
		t.Fatalf("Get: %v, %v", ok, err)
	}
	l.must(whole(got, sized(number(1), 100)))
	got.Release()
	got.Release()
	if s := l.Stats(); s.HeldTables != 1 || s.HeldBytes != 100 || s.Tables != 1 || s.Bytes != 100 ||
		s.Hits != 1 || s.Misses != 1 || s.Commits != 1 || s.Writing != 0 {
		t.Errorf("stats %+v", s)
	}
	h.Release()
	if info, err := os.Stat(l.path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	infos := l.List()
	if len(infos) != 1 || infos[0].Key != number(1) || infos[0].Bytes != 100 || infos[0].InUse {
		t.Errorf("list %+v", infos)
	}
	l.wantTemps(0)
}

func TestEvictsWhatWasUsedLongestAgo(t *testing.T) {
	l := newLab(t, 300)
	l.add(l.Dir, 1, 100)
	l.add(l.Dir, 2, 100)
	l.add(l.Dir, 3, 100)
	l.use(l.Dir, 1)
	l.add(l.Dir, 4, 100)
	l.wantTables(1, 3, 4)
	l.add(l.Dir, 5, 150)
	l.wantTables(4, 5)
	if s := l.Stats(); s.Evictions != 3 || s.EvictedBytes != 300 || s.Bytes != 250 || s.BudgetBytes != 300 {
		t.Errorf("stats %+v", s)
	}
}

func TestOrderOutlivesARestart(t *testing.T) {
	l := newLab(t, 1000)
	for i := range 4 {
		l.add(l.Dir, i, 100)
	}
	l.use(l.Dir, 0)
	l.use(l.Dir, 2)
	l.must(l.Close())
	d := l.open(l.path, 400)
	var order []Key
	for _, info := range d.List() {
		order = append(order, info.Key)
	}
	if want := []Key{number(2), number(0), number(3), number(1)}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	l.open(l.path, 250)
	l.wantTables(0, 2)
}

func TestUsesTouchTheFileOnceAMinute(t *testing.T) {
	l := newLab(t, 1000)
	h := l.hold(l.Dir, 1, 10)
	h.Release()
	mtime := func() time.Time {
		info, err := os.Stat(h.Name())
		l.must(err)
		return info.ModTime()
	}
	before := mtime()
	l.clock.at = before.Add(touchInterval - time.Second)
	l.use(l.Dir, 1)
	if got := mtime(); !got.Equal(before) {
		t.Errorf("touched %v after it was", got.Sub(before))
	}
	l.use(l.Dir, 1)
	if got := mtime(); got.Sub(before) < touchInterval {
		t.Errorf("touched %v after it was, want more than a minute", got.Sub(before))
	}
}

func TestClockSetBack(t *testing.T) {
	l := newLab(t, 300)
	l.add(l.Dir, 1, 100)
	l.add(l.Dir, 2, 100)
	l.clock.at = l.clock.at.Add(-1000 * time.Hour)
	l.add(l.Dir, 3, 100)
	l.use(l.Dir, 1)
	l.add(l.Dir, 4, 100)
	l.wantTables(1, 3, 4)

	d := l.open(l.path, 300) // its clock is still set back, so all uses are in the future
	l.later(time.Hour)
	l.add(d, 5, 200)
	l.wantTables(4, 5)
}

func TestFilesFromTheFuture(t *testing.T) {
	l := newLab(t, 300)
	l.add(l.Dir, 1, 100)
	l.add(l.Dir, 2, 100)
	for i, hours := range []time.Duration{200, 100} {
		l.must(os.Chtimes(l.tablePath(number(i+1)), time.Time{}, l.clock.at.Add(hours*time.Hour)))
	}
	d := l.open(l.path, 300)
	for i := 1; i <= 2; i++ {
		info, err := os.Stat(l.tablePath(number(i)))
		l.must(err)
		if info.ModTime().After(l.clock.at.Add(time.Second)) {
			t.Errorf("table %d is still in the future", i)
		}
	}
	l.later(time.Minute)
	l.add(d, 3, 100)
	l.add(d, 4, 100)
	l.wantTables(1, 3, 4)
	l.add(d, 5, 100)
	l.wantTables(3, 4, 5)
}

func TestHeldTablesAreNotEvicted(t *testing.T) {
	l := newLab(t, 300)
	one, two := l.hold(l.Dir, 1, 100), l.hold(l.Dir, 2, 100)
	l.add(l.Dir, 3, 100)
	var full *FullError
	if _, err := l.Create(101); !errors.As(err, &full) || full.Need != 101 || full.InUse != 200 || full.Budget != 300 {
		t.Errorf("Create: %v, %+v", err, full)
	}
	l.wantTables(1, 2, 3)
	l.add(l.Dir, 4, 100)
	l.wantTables(1, 2, 4)
	if n, bytes, err := l.Clear(); n != 1 || bytes != 100 || err != nil {
		t.Errorf("Clear gives %d, %d, %v", n, bytes, err)
	}
	l.wantTables(1, 2)
	one.Release()
	two.Release()
	l.add(l.Dir, 5, 300)
	l.wantTables(5)
}

func TestBudgetCountsWhatIsBeingWritten(t *testing.T) {
	l := newLab(t, 300)
	l.add(l.Dir, 1, 100)
	temp, err := l.Create(150)
	l.must(err)
	l.wantTables(1)
	l.must(temp.Reserve(200))
	l.wantTables(1)
	if _, err := temp.WriteAt([]byte("x"), 200); err != nil {
		t.Fatal(err)
	}
	l.wantTables()
	var full *FullError
	if _, err := l.Create(100); !errors.As(err, &full) || full.InUse != 201 {
		t.Errorf("Create: %v", err)
	}
	if _, err := temp.WriteAt([]byte("x"), 300); !errors.As(err, &full) || full.Need != 301 {
		t.Errorf("WriteAt beyond the budget: %v", err)
	}
	if err := temp.Truncate(301); !errors.As(err, &full) {
		t.Errorf("Truncate beyond the budget: %v", err)
	}
	if s := l.Stats(); s.Writing != 1 || s.WritingBytes != 201 {
		t.Errorf("stats %+v", s)
	}
	l.must(temp.Truncate(10))
	h, err := temp.Commit(number(2))
	l.must(err)
	h.Release()
	if s := l.Stats(); s.Writing != 0 || s.WritingBytes != 0 || s.Bytes != 10 {
		t.Errorf("stats %+v", s)
	}
}

func TestDiskCountsToo(t *testing.T) {
	l := newLab(t, 1<<50)
	l.add(l.Dir, 1, 100)
	l.add(l.Dir, 2, 100)
	l.disk.free = diskReserve + 50
	var full *FullError
	if _, err := l.Create(251); !errors.As(err, &full) || full.Free != 50 {
		t.Errorf("Create: %v, %+v", err, full)
	}
	l.wantTables(1, 2)
	first, err := l.Create(50)
	l.must(err)
	l.wantTables(1, 2)
	// Evictions do not free space here, as if another server had the files open.
	if _, err := l.Create(50); !errors.As(err, &full) || full.Free != 50 {
		t.Errorf("Create: %v, %+v", err, full)
	}
	l.wantTables()
	if _, err := first.WriteAt(make([]byte, 50), 0); err != nil {
		t.Fatal(err)
	}
	second, err := l.Create(50) // the promised bytes are written
	l.must(err)
	l.disk.free = 0
	if err := second.Reserve(51); !errors.As(err, &full) || full.Free != 0 {
		t.Errorf("Reserve: %v", err)
	}
	l.must(second.Reserve(50))
}

func TestHugeNeeds(t *testing.T) {
	for _, budget := range []int64{-5, 0, 1000, 1<<63 - 1} {
		l := newLab(t, budget)
		var full *FullError
		if _, err := l.Create(1<<63 - 1); !errors.As(err, &full) || !strings.Contains(err.Error(),
			"9223372036854775807") {
			t.Errorf("budget %d: Create: %v", budget, err)
		}
		temp, err := l.Create(-1)
		l.must(err)
		if err := temp.Reserve(1<<63 - 1); !errors.As(err, &full) {
			t.Errorf("budget %d: Reserve: %v", budget, err)
		}
		if _, err := temp.WriteAt([]byte("xy"), 1<<63-1); err == nil {
			t.Errorf("budget %d: wrote beyond the end of all files", budget)
		}
		if _, err := temp.WriteAt(nil, -1); err == nil {
			t.Errorf("budget %d: wrote before the start", budget)
		}
	}
}

func TestAbort(t *testing.T) {
	l := newLab(t, 1000)
	temp, err := l.Create(10)
	l.must(err)
	l.wantTemps(1)
	l.must(temp.Abort())
	l.must(temp.Abort())
	l.wantTemps(0)
	if _, err := temp.Commit(number(1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Commit after Abort: %v", err)
	}
	if _, err := temp.WriteAt([]byte("x"), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("WriteAt after Abort: %v", err)
	}

	temp, err = l.Create(10)
	l.must(err)
	h, err := temp.Commit(number(1))
	l.must(err)
	l.must(temp.Abort())
	l.must(temp.Close())
	if _, err := temp.WriteAt([]byte("x"), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("WriteAt after Commit: %v", err)
	}
	l.wantTables(1)
	l.must(whole(h, nil))
	h.Release()
}

func TestCommitOfATableThatIsThere(t *testing.T) {
	l := newLab(t, 1000)
	d := l.open(l.path, 1000)
	temp, err := l.Create(100)
	l.must(err)
	theirs := l.hold(d, 1, 100)
	ours, err := temp.Commit(number(1))
	l.must(err)
	l.must(whole(ours, sized(number(1), 100)))
	l.wantTemps(0)
	l.wantTables(1)
	if s := l.Stats(); s.Commits != 0 || s.Tables != 1 || s.HeldTables != 1 || s.Bytes != 100 || s.WritingBytes != 0 {
		t.Errorf("stats %+v", s)
	}
	ours.Release()
	theirs.Release()
}

func TestDrop(t *testing.T) {
	l := newLab(t, 250)
	l.must(l.Drop(number(1)))
	h := l.hold(l.Dir, 1, 100)
	l.must(l.Drop(number(1)))
	l.wantTables()
	l.must(whole(h, sized(number(1), 100)))
	if l.use(l.Dir, 1) {
		t.Error("a dropped table is there")
	}
	if s := l.Stats(); s.Tables != 0 || s.HeldTables != 1 || s.HeldBytes != 100 || len(l.List()) != 0 {
		t.Errorf("stats %+v", s)
	}
	var full *FullError
	if _, err := l.Create(151); !errors.As(err, &full) {
		t.Errorf("Create: %v: the dropped table still takes its bytes", err)
	}
	l.add(l.Dir, 1, 100)
	l.wantTables(1)
	h.Release()
	l.add(l.Dir, 2, 250)
	l.wantTables(2)
}

func TestAnotherServerEvicts(t *testing.T) {
	l := newLab(t, 1000)
	d := l.open(l.path, 100)
	h := l.hold(l.Dir, 1, 80)
	l.add(l.Dir, 2, 80)
	l.add(d, 3, 100)
	l.wantTables(3)
	l.must(whole(h, sized(number(1), 80)))
	if l.use(l.Dir, 1) || l.use(l.Dir, 2) || !l.use(l.Dir, 3) {
		t.Error("Get gives what was evicted, or not what is there")
	}
	h.Release()
	if s := l.Stats(); s.Tables != 1 || s.Bytes != 100 || s.HeldTables != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestUsesOfAnotherServerCount(t *testing.T) {
	l := newLab(t, 300)
	l.add(l.Dir, 1, 100)
	l.add(l.Dir, 2, 100)
	d := l.open(l.path, 300)
	l.add(l.Dir, 3, 100)
	l.later(time.Hour)
	l.use(d, 1)
	l.add(l.Dir, 4, 100)
	l.wantTables(1, 3, 4)
}

func TestTemporaryFilesOfOthers(t *testing.T) {
	l := newLab(t, 300)
	d := l.open(l.path, 300)
	temp, err := d.Create(0)
	l.must(err)
	if _, err := temp.WriteAt(make([]byte, 200), 0); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(l.path, ".tmp-1-0123456789abcdef")
	l.must(os.WriteFile(dead, make([]byte, 300), 0o600))
	l.later(time.Minute)
	var full *FullError
	if _, err := l.Create(101); !errors.As(err, &full) || full.InUse != 200 {
		t.Errorf("Create: %v; the other server writes 200 bytes", err)
	}
	l.wantTemps(1)
	l.open(l.path, 300)
	l.wantTemps(1)
	h, err := temp.Commit(number(1))
	l.must(err)
	h.Release()
	l.wantTables(1)
	l.wantTemps(0)
}

// slowRemoveFS is a file system that calls back during Remove.
type slowRemoveFS struct {
	files.FS
	meanwhile func(name string)
}

func (f *slowRemoveFS) Remove(name string) error {
	f.meanwhile(name)
	return f.FS.Remove(name)
}

func TestGetWhileEvicting(t *testing.T) {
	l := newLab(t, 300)
	for i := range 3 {
		l.add(l.Dir, i, 100)
	}
	var held *TableFile
	removed := 0
	l.fs = &slowRemoveFS{FS: l.disk, meanwhile: func(name string) {
		removed++
		if removed > 1 {
			return
		}
		if name != l.tablePath(number(0)) || l.use(l.Dir, 0) {
			t.Errorf("Get gives a table that is being evicted, or %s is evicted first", name)
		}
		var ok bool
		var err error
		// the next table that would be evicted
		if held, ok, err = l.Get(number(1)); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}}
	l.add(l.Dir, 3, 200)
	l.wantTables(1, 3)
	held.Release()
	if s := l.Stats(); s.Evictions != 2 || s.Bytes != 300 {
		t.Errorf("stats %+v", s)
	}
}

// interferingFS is a file system where another process locks or removes the first n new files.
type interferingFS struct {
	files.FS
	times int
	take  func(name string)
}

func (f *interferingFS) Create(name string) (files.File, error) {
	made, err := f.FS.Create(name)
	if err == nil && f.times > 0 {
		f.times--
		f.take(name)
	}
	return made, err
}

func TestCreateWhileOthersSweep(t *testing.T) {
	l := newLab(t, 300)
	d := l.open(l.path, 300)
	interfering := &interferingFS{FS: l.disk}
	l.fs = interfering
	for _, tt := range []struct {
		name string
		take func(name string)
	}{
		{"swept", func(name string) { d.sweep(filepath.Base(name)) }},
		{"removed", func(name string) { l.must(os.Remove(name)) }},
		{"locked", func(name string) {
			f, err := files.OS{}.Open(name)
			l.must(err)
			t.Cleanup(func() { _ = f.Close() })
			if ok, err := f.Lock(); !ok || err != nil {
				t.Fatal(ok, err)
			}
			l.must(os.Remove(name))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			interfering.times, interfering.take = createAttempts-1, tt.take
			temp, err := l.Create(100)
			l.must(err)
			l.must(temp.Abort())
			interfering.times = createAttempts
			if _, err := l.Create(100); err == nil {
				t.Error("Create gives a file that is not its own")
			}
			l.wantTemps(0)
			if s := l.Stats(); s.Writing != 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestClose(t *testing.T) {
	l := newLab(t, 1000)
	h := l.hold(l.Dir, 1, 100)
	temp, err := l.Create(10)
	l.must(err)
	l.must(l.Close())
	l.must(l.Close())
	l.wantTemps(0)
	l.must(temp.Abort())
	l.must(whole(h, sized(number(1), 100)))
	h.Release()
	if _, err := l.Create(1); !errors.Is(err, ErrClosed) {
		t.Errorf("Create: %v", err)
	}
	if _, _, err := l.Get(number(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("Get: %v", err)
	}
	if s := l.Stats(); s.Tables != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestNames(t *testing.T) {
	hex := strings.Repeat("0a", 32)
	for _, tt := range []struct {
		name        string
		table, temp bool
	}{
		{hex + ".arrow", true, false},
		{strings.ToUpper(hex) + ".arrow", false, false},
		{hex[1:] + ".arrow", false, false},
		{hex + "0a.arrow", false, false},
		{hex[2:] + "0g.arrow", false, false},
		{hex, false, false},
		{".arrow", false, false},
		{".tmp-12-0123456789abcdef", false, true},
		{".tmp--0123456789abcdef", false, false},
		{".tmp-x-0123456789abcdef", false, false},
		{".tmp-12-0123456789abcde", false, false},
		{".tmp-12-0123456789abcdeg", false, false},
		{".tmp-12-0123456789ABCDEF", false, false},
		{".tmp-12", false, false},
		{"tmp-12-0123456789abcdef", false, false},
	} {
		if _, ok := tableKey(tt.name); ok != tt.table {
			t.Errorf("%s is a table: %v, want %v", tt.name, ok, tt.table)
		}
		if ok := isTemp(tt.name); ok != tt.temp {
			t.Errorf("%s is a temporary file: %v, want %v", tt.name, ok, tt.temp)
		}
	}
	d := &Dir{path: "/x"}
	for i := range 100 {
		if k, ok := tableKey(filepath.Base(d.tablePath(number(i)))); !ok || k != number(i) {
			t.Fatalf("the name of key %v is not read back", number(i))
		}
		if name := filepath.Base(d.tempPath(uint64(i) << 57)); !isTemp(name) {
			t.Fatalf("%s is no temporary file", name)
		}
	}
}
