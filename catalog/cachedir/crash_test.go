package cachedir

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/internal/files/faulty"
)

const crashBudget = 6000 // two or three tables

// life simulates the life of a server on a failing disk. It records what it was promised.
type life struct {
	fs        *faulty.FS
	dir       string
	path      string
	committed map[Key]bool // the last Commit returned no error
	dropped   map[Key]bool // Drop or Clear was called afterwards
}

func newLife(t *testing.T, seed uint64) *life {
	// faulty simulates the disk, so a folder in memory is sufficient and faster.
	dir, err := os.MkdirTemp("/dev/shm", "cachedir")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &life{
		fs: faulty.New(&disk{files.OS{}, 1 << 40}, seed), dir: dir, path: filepath.Join(dir, "cache"),
		committed: map[Key]bool{}, dropped: map[Key]bool{},
	}
}

// do executes n random operations. It ignores errors of the disk. It returns an error if a table
// differs from the committed one.
func (l *life) do(random *rand.Rand, n int) error {
	d, err := Open(l.fs, l.path, crashBudget, zerolog.Nop())
	if err != nil {
		return nil
	}
	var held []*TableFile
	for range n {
		k := number(random.IntN(8))
		switch random.IntN(10) {
		default:
			h, err := put(d, k, content(k))
			l.committed[k] = err == nil
			if err == nil {
				delete(l.dropped, k)
				held = append(held, h)
			}
		case 0, 1, 2:
			if h, ok, _ := d.Get(k); ok {
				held = append(held, h)
			}
		case 3:
			if temp, err := d.Create(100); err == nil {
				_, _ = temp.WriteAt(make([]byte, 3000), 0)
				_ = temp.Abort()
			}
		case 4:
			l.dropped[k] = true
			_ = d.Drop(k)
		}
		for len(held) > 1 {
			if err := whole(held[0], content(held[0].key)); errors.Is(err, errTorn) {
				return err
			}
			held[0].Release()
			held = held[1:]
		}
	}
	for _, h := range held {
		h.Release()
	}
	_ = d.Close()
	return nil
}

// names returns the tables in a folder.
func names(path string) (map[Key]bool, error) {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	keys := map[Key]bool{}
	for _, e := range entries {
		if k, ok := tableKey(e.Name()); ok {
			keys[k] = true
		}
	}
	return keys, nil
}

// lose simulates a power loss, and starts again with the remaining files.
func (l *life) lose() error {
	to := filepath.Join(l.dir, "after")
	defer func() { _ = os.RemoveAll(to) }() // there may be more losses
	if err := l.fs.Crash(l.path, to); errors.Is(err, fs.ErrNotExist) {
		return nil // the folder did not exist yet
	} else if err != nil {
		return err
	}
	here, err := names(l.path)
	if err != nil {
		return err
	}
	left, err := names(to)
	if err != nil {
		return err
	}
	for k := range here {
		if l.committed[k] && !l.dropped[k] && !left[k] {
			return fmt.Errorf("the committed table %v is lost", k)
		}
	}
	return sound(to)
}

// sound opens a folder and checks its contents.
func sound(path string) error {
	d, err := Open(files.OS{}, path, crashBudget, zerolog.Nop())
	if err != nil {
		return err
	}
	var bytes int64
	for _, info := range d.List() {
		bytes += info.Bytes
		h, ok, err := d.Get(info.Key)
		if err != nil || !ok {
			return fmt.Errorf("the listed table %v: %v, %w", info.Key, ok, err)
		}
		if err := whole(h, content(info.Key)); err != nil {
			return err
		}
		h.Release()
	}
	if bytes > crashBudget {
		return fmt.Errorf("%d bytes are beyond the budget", bytes)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			return fmt.Errorf("%s survives", e.Name())
		}
	}
	return d.Close()
}

func TestCrashAtEachOperation(t *testing.T) {
	run := func(n int) *life {
		l := newLife(t, uint64(n))
		if n >= 0 {
			l.fs.CrashAt(n)
		}
		if err := l.do(rand.New(rand.NewPCG(1, 1)), 25); err != nil {
			t.Fatalf("crash at %d: %v", n, err)
		}
		return l
	}
	whole := run(-1)
	steps := whole.fs.Steps()
	if len(whole.committed) < 4 || steps < 150 {
		t.Fatalf("%d tables are committed in %d operations: too few to see anything", len(whole.committed), steps)
	}
	for n := range steps {
		l := run(n)
		for range 2 {
			if err := l.lose(); err != nil {
				t.Errorf("crash at %d: %v", n, err)
			}
		}
	}
}

// TestFaultsThenCrash runs random lives with random faults, and then simulates a power loss.
func TestFaultsThenCrash(t *testing.T) {
	lives := 10_000
	if testing.Short() {
		lives = 1_000
	}
	errs := []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS}
	tables := 0
	for seed := range uint64(lives) {
		random := rand.New(rand.NewPCG(seed, 1))
		l := newLife(t, seed)
		for range random.IntN(3) {
			l.fs.Inject(faulty.Fault{
				Ops: faulty.Op(random.Uint32()) & faulty.All, Probability: 0.3 * random.Float64(),
				Err: errs[random.IntN(3)], Short: true,
			})
		}
		if random.IntN(2) == 0 {
			l.fs.CrashAt(random.IntN(100))
		}
		if err := l.do(random, 10); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := l.lose(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := os.RemoveAll(l.dir); err != nil {
			t.Fatal(err)
		}
		tables += len(l.committed)
	}
	if tables < lives {
		t.Errorf("%d tables in %d lives: too few to see anything", tables, lives)
	}
}
