package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/internal/files/faulty"
	"github.com/vibeflight/vibeflight/readers"
)

// life simulates a server and its files: changes, faults of the disk, power losses. After each step
// its tables must match the files.
type life struct {
	random *rand.Rand
	dir    string
	fs     *faulty.FS
	ill    bool // faults are possible
	format rowsFormat
	cfg    Config

	*Catalog
	texts map[string]string // of the existing files
	held  []heldRows
	asked int
}

// heldRows is a table in use and its expected rows.
type heldRows struct {
	*TableRef
	rows []string
}

func newLife(seed uint64) (*life, error) {
	// faulty simulates the disk, so a folder in memory is sufficient.
	dir, err := os.MkdirTemp("/dev/shm", "catalog")
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 7))
	l := &life{random: random, dir: dir, texts: map[string]string{}, fs: faulty.New(files.OS{}, seed)}
	pick := func(of ...int64) int64 { return of[random.IntN(len(of))] }
	l.cfg = Config{
		Roots: []Root{{Dir: l.path("data")}}, Formats: readers.Registry{l.format.format()}, Log: zerolog.Nop(),
		CacheDir:    l.path("cache"),
		MemoryBytes: pick(-1, 2000, 20_000, 1<<20), CacheBytes: pick(15_000, 100_000, 1<<20),
		Limits: readers.Limits{BatchRows: 16, Workers: 2},
	}
	if err := os.Mkdir(l.path("data"), 0o700); err != nil {
		return nil, err
	}
	for i := range 3 {
		if err := l.write(fmt.Sprintf("%d.rows", i), l.text()); err != nil {
			return nil, err
		}
	}
	return l, l.start()
}

func (l *life) path(name string) string { return filepath.Join(l.dir, name) }

// text returns one of a few texts, so that files often have equal content.
func (l *life) text() string {
	text := textOf(1+l.random.IntN(3), []int{0, 1, 30, 30, 200}[l.random.IntN(5)])
	if l.random.IntN(4) == 0 {
		text += "late;text;1 1,2 2\n"
	}
	return text
}

func (l *life) write(name, text string) error {
	l.texts[name] = text
	return os.WriteFile(filepath.Join(l.path("data"), name), []byte(text), 0o600)
}

func (l *life) start() (err error) {
	l.Catalog, err = open(context.Background(), l.cfg, l.fs)
	return err
}

// stop closes the catalog.
func (l *life) stop() error {
	if l.random.IntN(2) == 0 {
		l.awaitSaves()
	}
	if err := l.look(0); err != nil {
		return err
	}
	if err := l.Close(); err != nil && !l.ill {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// crash simulates a power loss, and starts again with the remaining tables. The store is on a disk
// of its own.
func (l *life) crash() error {
	if err := l.stop(); err != nil {
		return err
	}
	tables, after := l.path("cache/tables"), l.path("after")
	switch err := l.fs.Crash(tables, after); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := errors.Join(os.RemoveAll(tables), os.Rename(after, tables)); err != nil {
			return err
		}
	}
	l.fs, l.ill = faulty.New(files.OS{}, l.random.Uint64()), false
	return l.start()
}

// look compares the tables in use with the expected rows, and releases them until only left are in
// use.
func (l *life) look(left int) error {
	for len(l.held) > left {
		h := l.held[0]
		l.held = l.held[1:]
		err := sameRows(context.Background(), h.TableRef, Selection{}, h.rows)
		h.Release()
		if err != nil && !l.mayFail(err) {
			return fmt.Errorf("a table in use: %w", err)
		}
	}
	return nil
}

// mayFail reports whether the disk or too small a budget may have caused an error. It is false only
// for a wrong table.
func (l *life) mayFail(err error) bool {
	var limit *readers.LimitError
	return !errors.Is(err, errWrong) && (errors.As(err, &limit) || l.ill && (errors.Is(err, syscall.EIO) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, faulty.ErrCrashed)))
}

// unexpected returns err, unless a request for a file may end with it: the file is gone, or the
// disk has faults.
func (l *life) unexpected(err error, exists bool) error {
	var missing *NotFoundError
	if errors.As(err, &missing) && !exists || l.mayFail(err) {
		return nil
	}
	return err
}

// ask requests a table and keeps it for a while.
func (l *life) ask(name string) error {
	var options map[string]any
	shift := int64(l.random.IntN(3) / 2)
	if shift > 0 {
		options = shiftBy("1")
	}
	text, exists := l.texts[name]
	if l.random.IntN(3) == 0 {
		if err := l.describe(Request{Name: name, Options: options}, rowsOfText(text, shift), exists); err != nil {
			return err
		}
	}
	h, err := l.Table(context.Background(), Request{Name: name, Options: options})
	switch {
	case err != nil:
		return l.unexpected(err, exists)
	case !exists:
		h.Release()
		return fmt.Errorf("%w: of a file that is gone", errWrong)
	}
	l.asked++
	rows := rowsOfText(text, shift)
	l.held = append(l.held, heldRows{h, rows})
	if err := sameRows(context.Background(), h, Selection{}, rows); err != nil && !l.mayFail(err) {
		return err
	}
	return l.look(l.random.IntN(4))
}

// describe requests the description of a table without its rows.
func (l *life) describe(req Request, rows []string, exists bool) error {
	h, s, err := l.Describe(context.Background(), req, Selection{}, l.random.IntN(2) == 0)
	if err != nil {
		return l.unexpected(err, exists)
	}
	defer h.Release()
	n, err := s.Rows(context.Background())
	if err != nil {
		return l.unexpected(err, exists)
	}
	if n != int64(len(rows)) || !exists || s.Bytes() != h.Table.Bytes {
		return fmt.Errorf("%w: described with %d rows, want %d; %d bytes, and %d", errWrong, n, len(rows),
			s.Bytes(), h.Table.Bytes)
	}
	return nil
}

// change changes a file.
func (l *life) change(name string) error {
	path := filepath.Join(l.path("data"), name)
	text, exists := l.texts[name]
	switch l.random.IntN(6) {
	case 0:
		if exists {
			return os.Chtimes(path, time.Time{}, time.Unix(l.random.Int64N(2e9), 0))
		}
	case 1:
		return l.write(name, text+textOf(9, 20))
	case 2:
		delete(l.texts, name)
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	case 3: // replaced
		if err := l.write("new", text); err != nil {
			return err
		}
		delete(l.texts, "new")
		l.texts[name] = text
		return os.Rename(filepath.Join(l.path("data"), "new"), path)
	}
	return l.write(name, l.text())
}

// sicken adds faults to the disk.
func (l *life) sicken() {
	l.ill = true
	errs := []error{syscall.ENOSPC, syscall.EIO}
	switch l.random.IntN(3) {
	case 0:
		l.fs.CrashAt(l.fs.Steps() + l.random.IntN(60))
	default:
		l.fs.Inject(faulty.Fault{
			Ops: faulty.Op(l.random.Uint32()) & faulty.All, Probability: 0.5 * l.random.Float64(),
			Err: errs[l.random.IntN(2)], Short: true,
		})
	}
}

func (l *life) step() error {
	name := fmt.Sprintf("%d.rows", l.random.IntN(3))
	switch l.random.IntN(16) {
	default:
		return l.ask(name)
	case 0, 1, 2:
		return l.change(name)
	case 3:
		_, err := l.Evict(context.Background(), name)
		if err != nil && !l.mayFail(err) && !errors.As(err, new(*NotFoundError)) {
			return err
		}
	case 4:
		l.sicken()
	case 5:
		l.fs.Heal()
	case 6:
		return l.crash()
	case 7:
		if err := l.stop(); err != nil {
			return err
		}
		return l.start()
	}
	return nil
}

// names compares the entries with the files.
func (l *life) names() error {
	if err := l.Refresh(context.Background()); err != nil {
		return err
	}
	var got, want []string
	for _, e := range l.List(context.Background(), "", "") {
		got = append(got, e.Name)
	}
	for name := range l.texts {
		want = append(want, name)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("%w: entries %q, want %q", errWrong, got, want)
	}
	return nil
}

// runLife runs a life. At the end it checks that a catalog on a healthy disk serves all remaining
// files.
func runLife(seed uint64, steps int) (asked int, err error) {
	l, err := newLife(seed)
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(l.dir) }()
	for i := range steps {
		if err := errors.Join(l.step(), l.names()); err != nil {
			return 0, fmt.Errorf("step %d: %w", i, err)
		}
	}
	if err := l.crash(); err != nil {
		return 0, err
	}
	for name, text := range l.texts {
		_, err := ask(context.Background(), l.Catalog, Request{Name: name}, text)
		if err != nil && !l.mayFail(err) {
			return 0, fmt.Errorf("at the end: %w", err)
		}
	}
	l.awaitSaves()
	if err := l.stop(); err != nil {
		return 0, err
	}
	temps, err := filepath.Glob(l.path("cache/tables/.tmp-*"))
	if len(temps) > 0 {
		err = fmt.Errorf("temporary files %q are left", temps)
	}
	return l.asked, err
}

// TestFaults runs random lives.
func TestFaults(t *testing.T) {
	lives, steps := 10_000, 12
	if testing.Short() {
		lives = 60
	}
	var next, tables atomic.Int64
	var wg sync.WaitGroup
	for range 6 { // they mostly wait for the clock of the file system
		wg.Go(func() {
			for seed := next.Add(1); seed <= int64(lives) && !t.Failed(); seed = next.Add(1) {
				asked, err := runLife(uint64(seed), steps)
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				tables.Add(int64(asked))
			}
		})
	}
	wg.Wait()
	t.Logf("%d lives of %d steps, %d tables were asked for", lives, steps, tables.Load())
	if tables.Load() < int64(2*lives) && !t.Failed() {
		t.Error("too few tables to see anything")
	}
	(&world{t: t}).wantTidy()
}
