package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// childVar says to the test binary which of children to be instead of running tests; childDir is
// the folder of the cache it shares.
const (
	childVar = "VIBEFLIGHT_TEST_CHILD"
	childDir = "VIBEFLIGHT_TEST_DIR"
)

var children = map[string]func(dir string) error{
	"make-all":  makeAll,
	"get-stuck": getStuck,
	"disk-full": fillDisk,
	"meter":     readMeter,
}

func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := children[name](os.Getenv(childDir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is the test binary as one of children, not yet started; what it says on stderr is the
// test's.
func child(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childVar+"="+name, childDir+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// loader is a driver that loads images and nothing else.
type loader struct {
	driver.Driver
	arch string

	mu     sync.Mutex
	loads  [][]byte
	refuse func(image []byte) error // nil: none
	open   map[driver.Module]bool
	closed bool
}

func (l *loader) Info() Info { return Info{Arch: l.arch, MemoryBytes: 1 << 30} }

func (l *loader) Load(image []byte) (driver.Module, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loads = append(l.loads, bytes.Clone(image))
	if l.refuse != nil {
		if err := l.refuse(image); err != nil {
			return 0, err
		}
	}
	if l.open == nil {
		l.open = map[driver.Module]bool{}
	}
	m := driver.Module(len(l.loads))
	l.open[m] = true
	return m, nil
}

func (l *loader) Unload(m driver.Module) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open[m] {
		return fmt.Errorf("module %d is not loaded", m)
	}
	delete(l.open, m)
	return nil
}

func (l *loader) Function(driver.Module, string) (driver.Function, error) {
	return 0, errors.New("no function")
}

func (l *loader) Close() error {
	l.closed = true
	return nil
}

// counter is a compiler that counts its calls. An image is its version, the architecture, and the
// source's text.
type counter struct {
	version string
	during  func(src Source) error // of each compilation; nil: nothing happens

	mu    sync.Mutex
	calls int
}

func (c *counter) Version() string { return c.version }

func (c *counter) Compile(src Source, arch string) ([]byte, string, error) {
	c.mu.Lock()
	c.calls++
	c.mu.Unlock()
	if c.during != nil {
		if err := c.during(src); err != nil {
			return nil, "bad", err
		}
	}
	return imageOf(c.version, arch, src), "compiled " + src.Name, nil
}

func imageOf(version, arch string, src Source) []byte {
	return fmt.Appendf(nil, "%s|%s|%s|%s", version, arch, src.Text, strings.Join(src.Defines, ","))
}

// lab is a device of a loader and a counter, with a cache in a folder of the test's.
type lab struct {
	*testing.T
	dir      string
	drv      *loader
	compiler *counter
	images   Images
	maxBytes int64
}

func newLab(t *testing.T) *lab {
	return &lab{T: t, dir: t.TempDir(), drv: &loader{arch: "sm_90"}, compiler: &counter{version: "counter 1"}}
}

// open opens the device again, as a new process does.
func (l *lab) open() *Device {
	var compiler driver.Compiler
	if l.compiler != nil {
		compiler = l.compiler
	}
	return New(l.drv, compiler, Options{CacheDir: l.dir, CacheBytes: l.maxBytes, Images: l.images})
}

// program opens the device and asks for a program, which must be there.
func (l *lab) program(src Source) ProgramInfo {
	l.Helper()
	p, err := l.open().Program(src)
	must(l.T, err)
	return p.Info()
}

// wantFrom asks for a program, which must come from there and without a warning.
func (l *lab) wantFrom(src Source, from Origin) {
	l.Helper()
	if info := l.program(src); info.Origin != from || info.Warning != nil {
		l.Errorf("%s is from %q with warning %v, want from %q", src.Name, info.Origin, info.Warning, from)
	}
}

// key is the cache's key of a source.
func (l *lab) key(src Source) cacheKey {
	return (&search{programs: l.open().programs, key: SourceKey(src)}).cacheKey()
}

// path is the cache's file of a source.
func (l *lab) path(src Source) string {
	return l.open().programs.cache.path(l.key(src), imageSuffix)
}

func text(n int) Source {
	return Source{Name: fmt.Sprintf("%d.cu", n), Text: fmt.Sprintf("kernel %d", n)}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
