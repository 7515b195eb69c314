package gpu

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/internal/system/systemtest"
)

func TestCacheOutlivesTheProcess(t *testing.T) {
	l := newLab(t)
	l.dir = filepath.Join(l.dir, "not", "there", "yet")
	l.wantFrom(text(1), FromCompiler)
	l.wantFrom(text(1), FromCache)
	l.wantFrom(text(2), FromCompiler)
	if info, err := os.Stat(l.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(l.dir)
	must(t, err)
	if len(files) != 2 {
		t.Errorf("the folder has %v, want two images and nothing else", files)
	}

	l.compiler.version = "counter 2"
	l.wantFrom(text(1), FromCompiler)
	l.drv.arch = "sm_80"
	l.wantFrom(text(1), FromCompiler)
	l.wantFrom(text(1), FromCache)
	l.dir = ""
	l.wantFrom(text(1), FromCompiler)
	l.wantFrom(text(1), FromCompiler)
}

// TestCacheHeals puts something else in the place of an image. It is compiled again, once, and then
// it is there.
func TestCacheHeals(t *testing.T) {
	src, other := text(1), text(2)
	l := newLab(t)
	l.wantFrom(src, FromCompiler)
	l.wantFrom(other, FromCompiler)
	path := l.path(src)
	whole, err := os.ReadFile(path)
	must(t, err)
	foreign, err := os.ReadFile(l.path(other))
	must(t, err)

	file := func(b []byte) func() error { return func() error { return os.WriteFile(path, b, 0o600) } }
	type place struct {
		name string
		put  func() error
	}
	places := []place{
		{"nothing", func() error { return nil }},
		{"a folder", func() error { return os.Mkdir(path, 0o700) }},
		{"a link", func() error { return os.Symlink(l.path(other), path) }},
		{"a link to nothing", func() error { return os.Symlink("nothing", path) }},
		{"a pipe", func() error { return systemtest.Mkfifo(path) }},
		{"another source's file", file(foreign)},
		{"a byte too many", file(append(bytes.Clone(whole), 0))},
		{"a sparse file of 1 TB", func() error { return errors.Join(file(whole)(), os.Truncate(path, 1<<40)) }},
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= byte(1 + i%255)
		places = append(places, place{"a byte flipped", file(damaged)}, place{"cut off", file(whole[:i])})
	}
	for _, p := range places {
		must(t, errors.Join(os.Remove(path), p.put()))
		l.compiler.calls = 0
		l.wantFrom(src, FromCompiler)
		l.wantFrom(src, FromCache)
		if healed, err := os.ReadFile(path); l.compiler.calls != 1 || err != nil || !bytes.Equal(healed, whole) {
			t.Fatalf("%s: %d compilations, then the file is\n%q, %v, want\n%q", p.name, l.compiler.calls,
				healed, err, whole)
		}
	}
	l.wantFrom(other, FromCache)
}

// TestRefusedImageIsCompiledAgain lets a driver refuse what the cache has, as after a change of
// driver that no version tells.
func TestRefusedImageIsCompiledAgain(t *testing.T) {
	src := text(1)
	l := newLab(t)
	l.wantFrom(src, FromCompiler)
	entry, err := l.open().programs.cache.lock(l.key(src))
	must(t, err)
	must(t, entry.commit([]byte("of another driver")))
	entry.release()

	l.compiler.calls = 0
	l.drv.refuse = func(image []byte) error {
		if string(image) == "of another driver" {
			return errors.New("no binary for this GPU")
		}
		return nil
	}
	if info := l.program(src); info.Origin != FromCompiler || info.Warning == nil ||
		!strings.Contains(info.Warning.Error(), "no binary for this GPU") {
		t.Errorf("%+v, want what the compiler made, and a warning", info)
	}
	l.wantFrom(src, FromCache)
	if l.compiler.calls != 1 {
		t.Errorf("%d compilations", l.compiler.calls)
	}

	l.drv.refuse = func([]byte) error { return errors.New("refuses all") }
	if _, err := l.open().Program(src); err == nil || l.compiler.calls != 2 {
		t.Errorf("a driver that refuses everything: %v after %d compilations, want an error after one more",
			err, l.compiler.calls)
	}
}

// TestCacheThatCannotBeUsed has programs all the same, and says what is wrong.
func TestCacheThatCannotBeUsed(t *testing.T) {
	src := text(1)
	tests := []struct {
		name    string
		prepare func(l *lab) error
		warning string
	}{
		{"a file in the folder's place", func(l *lab) error {
			return errors.Join(os.Remove(l.dir), os.WriteFile(l.dir, nil, 0o600))
		}, "not a directory"},
		{"a folder that cannot be made", func(l *lab) error {
			l.dir = "/proc/self/kernels"
			return nil
		}, "/proc/self/kernels"},
		{"a folder with files in an image's place", func(l *lab) error {
			return os.MkdirAll(filepath.Join(l.path(src), "somebody's"), 0o700)
		}, "rename"},
		{"a folder in the lock's place", func(l *lab) error {
			return os.Mkdir(strings.TrimSuffix(l.path(src), imageSuffix)+partialSuffix, 0o700)
		}, "is a directory"},
		{"a link in the lock's place", func(l *lab) error {
			return os.Symlink("elsewhere", strings.TrimSuffix(l.path(src), imageSuffix)+partialSuffix)
		}, "too many levels of symbolic links"},
		{"less room than the image takes", func(l *lab) error {
			l.maxBytes = int64(cacheHeader)
			return nil
		}, "more than the cache takes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t)
			must(t, tt.prepare(l))
			for want := 1; want <= 2; want++ {
				info := l.program(src)
				if info.Origin != FromCompiler || l.compiler.calls != want {
					t.Errorf("from %q after %d compilations", info.Origin, l.compiler.calls)
				}
				if info.Warning == nil || !strings.Contains(info.Warning.Error(), tt.warning) {
					t.Errorf("warning %v, want %q", info.Warning, tt.warning)
				}
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	l := newLab(t)
	l.wantFrom(text(1), FromCompiler)
	must(t, os.Chmod(l.dir, 0o500))
	l.wantFrom(text(1), FromCache)
	if info := l.program(text(2)); !errors.Is(info.Warning, os.ErrPermission) {
		t.Errorf("warning %v, want no permission", info.Warning)
	}
	must(t, os.Chmod(l.dir, 0))
	if info := l.program(text(1)); info.Origin != FromCompiler || !errors.Is(info.Warning, os.ErrPermission) {
		t.Errorf("%+v, want it compiled, and no permission", info)
	}
	must(t, os.Chmod(l.dir, 0o700))
}

func TestEviction(t *testing.T) {
	l := newLab(t)
	l.maxBytes = 1 << 20
	sizeOf := int64(cacheHeader + len(imageOf("counter 1", "sm_90", text(0))))
	foreign := []string{
		"README", "0123.kernel", strings.Repeat("x", 64) + imageSuffix,
		strings.Repeat("0", 64) + ".txt",
	}
	for _, name := range foreign {
		must(t, os.WriteFile(filepath.Join(l.dir, name), make([]byte, 10_000), 0o600))
	}
	now := time.Now()
	for i := range 6 {
		l.wantFrom(text(i), FromCompiler)
		must(t, os.Chtimes(l.path(text(i)), time.Time{}, now.Add(-10*touchInterval+time.Duration(i)*time.Minute)))
	}
	l.wantFrom(text(0), FromCache) // now it is the one used last
	l.maxBytes = 4 * sizeOf
	l.wantFrom(text(6), FromCompiler)
	for i, want := range []bool{true, false, false, false, true, true, true} {
		if _, err := os.Stat(l.path(text(i))); (err == nil) != want {
			t.Errorf("image %d: %v, want it there: %v", i, err, want)
		}
	}
	for _, name := range foreign {
		if _, err := os.Stat(filepath.Join(l.dir, name)); err != nil {
			t.Errorf("a file that is not the cache's: %v", err)
		}
	}

	l.maxBytes = sizeOf
	l.wantFrom(text(7), FromCompiler)
	l.wantFrom(text(7), FromCache)
	if files, err := os.ReadDir(l.dir); err != nil || len(files) != len(foreign)+1 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

func TestUseIsNoted(t *testing.T) {
	l := newLab(t)
	l.wantFrom(text(1), FromCompiler)
	for _, tt := range []struct {
		name    string
		age     time.Duration
		touched bool
	}{
		{"a while ago", touchInterval / 2, false},
		{"long ago", 2 * touchInterval, true},
		{"in the future", -2 * touchInterval, true},
	} {
		before := time.Now().Add(-tt.age)
		must(t, os.Chtimes(l.path(text(1)), time.Time{}, before))
		l.wantFrom(text(1), FromCache)
		info, err := os.Stat(l.path(text(1)))
		must(t, err)
		if touched := !info.ModTime().Equal(before); touched != tt.touched {
			t.Errorf("used %s: noted %v, want %v", tt.name, touched, tt.touched)
		}
	}
}
