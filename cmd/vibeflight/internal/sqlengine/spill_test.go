package sqlengine

import (
	"os"
	"path/filepath"
	"testing"
)

// Two processes have a folder each, and what a crash has left is removed by the next one.
func TestSpillDir(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "cache", "spill")
	open := func() *spillDir {
		t.Helper()
		d, err := newSpillDir(parent)
		if err != nil {
			t.Fatalf("newSpillDir(%s): %v", parent, err)
		}
		return d
	}
	first := open()
	if err := os.WriteFile(filepath.Join(first.path, "x.tmp"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	crashed := open()
	if err := crashed.lock.Close(); err != nil { // what the end of a process does
		t.Fatal(err)
	}
	second := open()
	for path, want := range map[string]bool{first.path: true, crashed.path: false, second.path: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: is there %v, want %v", path, err == nil, want)
		}
	}
	for _, d := range []*spillDir{first, second, nil} {
		if err := d.close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("%s: %v left, %v; want nothing", parent, left, err)
	}
}
