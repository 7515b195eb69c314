package cachedir

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// TestLeastRecentlyUsed compares random uses of one Dir with an ordered list.
func TestLeastRecentlyUsed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	l := newLab(t, 1000)
	type table struct{ i, n int }
	var want []table // most recently used first
	held := map[int]*TableFile{}
	for step := range 600 {
		i := random.IntN(12)
		at := slices.IndexFunc(want, func(t table) bool { return t.i == i })
		switch random.IntN(6) {
		case 0, 1:
			n := 50 + random.IntN(200)
			inUse := 0
			for _, t := range want {
				if held[t.i] != nil {
					inUse += t.n
				}
			}
			if inUse+n > 1000 || at >= 0 {
				continue
			}
			l.add(l.Dir, i, n)
			want = slices.Insert(want, 0, table{i, n})
			for sum, k := total(want, func(t table) int { return t.n }), len(want)-1; sum > 1000; k-- {
				if held[want[k].i] == nil {
					sum -= want[k].n
					want = slices.Delete(want, k, k+1)
				}
			}
		case 2, 3:
			if ok := l.use(l.Dir, i); ok != (at >= 0) {
				t.Fatalf("step %d: Get gives %v", step, ok)
			} else if ok {
				moved := want[at]
				want = slices.Insert(slices.Delete(want, at, at+1), 0, moved)
			}
		case 4:
			if at >= 0 && held[i] == nil {
				h, _, err := l.Get(number(i))
				l.must(err)
				held[i] = h
				moved := want[at]
				want = slices.Insert(slices.Delete(want, at, at+1), 0, moved)
			}
		case 5:
			if held[i] != nil {
				held[i].Release()
				delete(held, i)
			}
		}
		var got []Key
		for _, info := range l.List() {
			got = append(got, info.Key)
		}
		if !slices.EqualFunc(got, want, func(k Key, t table) bool { return k == number(t.i) }) {
			t.Fatalf("step %d: the order is %v, want %v", step, got, want)
		}
	}
}

func total[T any](list []T, of func(T) int) (sum int) {
	for _, x := range list {
		sum += of(x)
	}
	return sum
}

// serve executes n random operations as one of several servers of a folder, and checks the results.
// It calls done after each.
func serve(d *Dir, random *rand.Rand, n int, done func(i int)) error {
	for i := range n {
		k := number(random.IntN(12))
		h, ok, err := d.Get(k)
		if err == nil && !ok {
			h, err = put(d, k, content(k))
		}
		var full *FullError
		switch {
		case errors.As(err, &full): // the other servers use the space
		case err != nil:
			return fmt.Errorf("step %d: %w", i, err)
		default:
			if err := whole(h, content(k)); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
			h.Release()
		}
		switch random.IntN(20) {
		case 0:
			err = d.Drop(k)
		case 1:
			_, _, err = d.Clear()
		case 2:
			_ = d.List()
			_ = d.Stats()
		case 3:
			if temp, err := d.Create(10); err == nil {
				_ = temp.Abort()
			}
		}
		if err != nil && !errors.As(err, &full) {
			return fmt.Errorf("step %d: %w", i, err)
		}
		done(i)
	}
	return nil
}

// noSyncFS is a file system that does not wait for the disk.
type noSyncFS struct{ files.FS }

func (noSyncFS) SyncDir(string) error { return nil }

func TestServersAndGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	var dirs []*Dir
	for range 3 {
		d, err := Open(noSyncFS{files.OS{}}, path, crashBudget, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, d)
	}
	var wg sync.WaitGroup
	for i := range 9 {
		wg.Go(func() {
			if err := serve(dirs[i%3], rand.New(rand.NewPCG(3, uint64(i))), 100, func(int) {}); err != nil {
				t.Errorf("goroutine %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	for _, d := range dirs {
		if s := d.Stats(); s.HeldTables != 0 || s.HeldBytes != 0 || s.Writing != 0 {
			t.Errorf("stats %+v", s)
		}
		for k, e := range d.index {
			if e.holds != 0 || e.missing || e.evicting {
				t.Errorf("the index has %v: %+v", k, e)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := sound(path); err != nil {
		t.Error(err)
	}
}

// TestCloseWhileOthersWork closes a Dir that goroutines use, and expects that none of their files
// remains.
func TestCloseWhileOthersWork(t *testing.T) {
	for round := range 20 {
		path := filepath.Join(t.TempDir(), "cache")
		d, err := Open(noSyncFS{files.OS{}}, path, crashBudget, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		begun := make(chan struct{}, 4)
		for i := range 4 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(round), uint64(i)))
				for j := 0; ; j++ {
					k := number(random.IntN(1000))
					h, err := put(d, k, content(k))
					var full *FullError
					switch {
					case err == nil:
						h.Release()
					case errors.Is(err, ErrClosed), errors.Is(err, fs.ErrClosed):
						return
					case !errors.As(err, &full): // the other goroutines use the space
						t.Errorf("round %d: %v", round, err)
					}
					if j == 2 {
						begun <- struct{}{}
					}
				}
			})
		}
		for range 4 {
			<-begun
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if s := d.Stats(); s.Writing != 0 || s.HeldTables != 0 {
			t.Errorf("stats %+v", s)
		}
		if left, _ := filepath.Glob(filepath.Join(path, tempPrefix+"*")); len(left) > 0 {
			t.Errorf("left are %q", left)
		}
	}
}

// If this variable is set to a folder, the test binary is a server of that folder.
const (
	serverEnv = "CACHEDIR_TEST_SERVER"
	seedEnv   = "CACHEDIR_TEST_SEED"
)

// TestServerProcess is not a test but the other process of TestServerProcesses.
func TestServerProcess(t *testing.T) {
	path := os.Getenv(serverEnv)
	if path == "" {
		t.Skip("this is what the processes of TestServerProcesses run")
	}
	seed, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(files.OS{}, path, crashBudget, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if err := serve(d, rand.New(rand.NewPCG(4, seed)), 60, func(i int) { fmt.Println("done", i) }); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestServerProcesses runs several servers of a folder and kills some of them at work.
func TestServerProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	var wg sync.WaitGroup
	for seed := range 8 {
		killAfter := 0 // in lines
		if seed%2 == 0 {
			killAfter = 5 + 7*seed
		}
		wg.Go(func() {
			if err := runServer(path, seed, killAfter); err != nil {
				t.Errorf("server %d: %v", seed, err)
			}
		})
	}
	wg.Wait()
	if err := sound(path); err != nil {
		t.Error(err)
	}
}

// runServer runs a server process, and kills it after killAfter lines unless that is 0.
func runServer(path string, seed, killAfter int) error {
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerProcess$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), serverEnv+"="+path, seedEnv+"="+strconv.Itoa(seed))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var text []byte
	lines := bufio.NewScanner(out)
	for n := 1; lines.Scan(); n++ {
		text = append(append(text, lines.Bytes()...), '\n')
		if n == killAfter {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); killAfter == 0 && err != nil {
		return fmt.Errorf("%w:\n%s", err, text)
	}
	return nil
}

// TestListWhileHeld expects List to show which tables are in use.
func TestListWhileHeld(t *testing.T) {
	l := newLab(t, 1000)
	h := l.hold(l.Dir, 1, 10)
	l.add(l.Dir, 2, 10)
	infos := l.List()
	slices.SortFunc(infos, func(a, b Info) int { return cmp.Compare(a.Used.UnixNano(), b.Used.UnixNano()) })
	if len(infos) != 2 || !infos[0].InUse || infos[1].InUse || infos[1].Used.Sub(infos[0].Used) < time.Minute {
		t.Errorf("list %+v", infos)
	}
	h.Release()
}
