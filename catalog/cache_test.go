package catalog

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// kept returns the names of the tables in memory.
func (l *lab) kept() []string {
	var names []string
	for _, e := range l.List("", "") {
		if _, _, ok := l.Peek(context.Background(), e.Name); ok {
			names = append(names, e.Name)
		}
	}
	return names
}

func (l *lab) wantKept(want ...string) {
	l.t.Helper()
	if got := l.kept(); !slices.Equal(got, want) {
		l.t.Errorf("kept %q, want %q", got, want)
	}
}

// budget opens a lab with files a to f of 10 bytes, huge.fake of 100 bytes, and a memory limit.
func budget(t *testing.T, bytes int64) *lab {
	l := newLab(t, "", sized, func(c *Config) { c.MemoryBytes = bytes })
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		l.write(name+".fake", strings.Repeat("x", 10))
	}
	l.write("huge.fake", strings.Repeat("x", 100))
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestEvictsTheTableUsedLongestAgo(t *testing.T) {
	l := budget(t, 30)
	l.parse("a.fake")
	l.parse("b.fake")
	l.parse("c.fake")
	l.wantKept("a.fake", "b.fake", "c.fake")
	l.parse("a.fake")
	l.parse("d.fake")
	l.wantKept("a.fake", "c.fake", "d.fake")
	l.parse("e.fake")
	l.wantKept("a.fake", "d.fake", "e.fake")
	s := l.Stats()
	if s.Evictions != 2 || s.Bytes != 30 || s.Tables != 3 || s.Hits != 1 || s.Misses != 5 || s.BudgetBytes != 30 ||
		s.HeldTables != 0 {
		t.Errorf("stats %+v, want 2 evictions, 3 tables of 30 bytes, 1 hit, 5 misses", s)
	}
}

func TestHeldTablesAreNotEvicted(t *testing.T) {
	l := budget(t, 20)
	a := l.table("a.fake")
	b := l.table("b.fake")
	c := l.table("c.fake")
	l.wantKept("a.fake", "b.fake", "c.fake")
	if s := l.Stats(); s.HeldTables != 3 || s.HeldBytes != 30 {
		t.Errorf("held %d tables of %d bytes, want 3 of 30", s.HeldTables, s.HeldBytes)
	}
	b.Release()
	b.Release()
	l.wantKept("a.fake", "c.fake")
	a.Release()
	c.Release()
	l.wantKept("a.fake", "c.fake")
	l.parse("d.fake")
	l.wantKept("c.fake", "d.fake")
}

func TestTableBeyondTheBudget(t *testing.T) {
	l := budget(t, 20)
	l.parse("a.fake")
	h := l.table("huge.fake")
	other := l.table("huge.fake")
	if !other.Cached || other.Table != h.Table {
		t.Error("a held table beyond the budget is parsed twice")
	}
	l.wantKept("a.fake", "huge.fake")
	h.Release()
	h.Release()
	l.wantKept("a.fake", "huge.fake")
	other.Release()
	l.wantKept("a.fake")
	if s := l.Stats(); s.Bytes != 10 || s.Evictions != 0 {
		t.Errorf("stats %+v, want 10 bytes and no eviction", s)
	}
}

func TestNoBudget(t *testing.T) {
	l := budget(t, -1)
	l.parse("a.fake")
	l.wantKept()
}

func TestEvict(t *testing.T) {
	l := budget(t, 1000)
	h := l.table("a.fake")
	blue, err := l.Table(t.Context(), Request{Name: "a.fake", Options: map[string]any{"colour": "blue"}})
	if err != nil {
		t.Fatal(err)
	}
	l.parse("b.fake")
	if h.Version == blue.Version {
		t.Errorf("version %s for two values of an option", h.Version)
	}
	if n := l.evict("a.fake"); n != 2 {
		t.Errorf("Evict dropped %d tables, want 2", n)
	}
	if n := l.evict("a.fake"); n != 0 {
		t.Errorf("Evict dropped %d tables of none", n)
	}
	l.wantKept("b.fake")
	h.Release()
	blue.Release()
	l.wantKept("b.fake")
	if s := l.Stats(); s.Bytes != 10 || s.HeldTables != 0 {
		t.Errorf("stats %+v, want 10 bytes, none held", s)
	}
}

func TestChangedFileDropsItsTable(t *testing.T) {
	l := budget(t, 1000)
	l.parse("a.fake")
	l.write("a.fake", "y")
	eventually(t, "table dropped", func() error {
		if s := l.Stats(); s.Tables != 0 {
			return errText("still kept")
		}
		return nil
	})
}

type errText string

func (e errText) Error() string { return string(e) }
