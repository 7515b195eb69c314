package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/internal/system/systemtest"
)

func TestRemoveTakesNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (OS{}).Remove(path); err == nil {
		t.Error("an empty folder was removed")
	}
	if err := (OS{}).Remove(filepath.Join(path, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove of nothing: %v, want fs.ErrNotExist", err)
	}
}

func TestOpenFollowsNoLinkAndWaitsForNoPipe(t *testing.T) {
	dir := t.TempDir()
	target, link, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link),
		systemtest.Mkfifo(pipe)); err != nil {
		t.Fatal(err)
	}
	if _, err := (OS{}).Open(link); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("Open of a link: %v, want ELOOP", err)
	}
	if info, err := (OS{}).Stat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("Stat of a link gives %v, %v", info, err)
	}
	f, err := OS{}.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() {
		t.Errorf("Stat of a pipe gives %v, %v", info, err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	var sys FS = OS{}
	if err := sys.MkdirAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	f, err := sys.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sys.Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second Create: %v, want fs.ErrExist", err)
	}
	if _, err := f.WriteAt([]byte("0123456789"), 4096); err != nil {
		t.Fatal(err)
	}
	m, err := f.Map(4096, 4100)
	if err != nil || string(m) != "0123" {
		t.Errorf("Map gives %q, %v", m, err)
	}
	other, err := sys.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		file File
		want bool
	}{{"first", f, true}, {"again", f, true}, {"of another", other, false}} {
		if got, err := step.file.Lock(); got != step.want || err != nil {
			t.Errorf("Lock, %s: %v, %v, want %v", step.name, got, err, step.want)
		}
	}
	if err := errors.Join(system.Unmap(m), f.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Lock(); !got || err != nil {
		t.Errorf("Lock after Close of the other: %v, %v", got, err)
	}
	at := time.Unix(1234567890, 987654321)
	if err := errors.Join(sys.Touch(path, at), sys.SyncDir(filepath.Dir(path)), other.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := sys.Stat(path); err != nil || !info.ModTime().Equal(at) || info.Size() != 4106 {
		t.Errorf("Stat gives %v, %v", info, err)
	}
	if free, err := sys.Free(path); err != nil || free <= 0 {
		t.Errorf("Free gives %d, %v", free, err)
	}
}
