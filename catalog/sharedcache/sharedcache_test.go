package sharedcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(n byte) Key { return Key{n, 31: 0xab} }

func random(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// buffer is an io.WriterAt in memory.
type buffer struct {
	mu sync.Mutex
	b  []byte
}

func (b *buffer) WriteAt(p []byte, off int64) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return copy(b.b[off:], p), nil
}

// mapStore is a bucket in memory.
type mapStore struct {
	mu      sync.Mutex
	objects map[string]mapObject
	version int

	cut   atomic.Int64 // bytes after which a read ends with an error; 0: never
	short atomic.Bool  // reads that end early without an error
	away  atomic.Bool  // no request is answered
}

type mapObject struct {
	content []byte
	object  remote.Object
}

func newMapStore() *mapStore { return &mapStore{objects: map[string]mapObject{}} }

var errAway = &remote.Failure{Kind: remote.Transient, Err: errors.New("connection refused")}

func (s *mapStore) List(_ context.Context, prefix string, _ remote.Place) ([]remote.Object, remote.Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away.Load() {
		return nil, nil, errAway
	}
	var all []remote.Object
	for k, o := range s.objects {
		if strings.HasPrefix(k, prefix) {
			all = append(all, o.object)
		}
	}
	return all, nil, nil
}

func (s *mapStore) Stat(_ context.Context, key string) (remote.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away.Load() {
		return remote.Object{}, errAway
	}
	o, ok := s.objects[key]
	if !ok {
		return remote.Object{}, &remote.Failure{Kind: remote.Missing, Err: errors.New("no such key")}
	}
	return o.object, nil
}

func (s *mapStore) Read(_ context.Context, o remote.Object, from, to int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, ok := s.objects[o.Key]
	switch {
	case s.away.Load():
		return nil, errAway
	case !ok || now.object.Version != o.Version:
		return nil, &remote.Failure{Kind: remote.Changed, Err: errors.New("it changed")}
	}
	var r io.Reader = bytes.NewReader(now.content[from:to])
	if n := s.cut.Load(); n > 0 && n < to-from {
		r = io.MultiReader(io.LimitReader(r, n), brokenReader{})
	} else if s.short.Load() {
		r = io.LimitReader(r, (to-from)/2)
	}
	return io.NopCloser(r), nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errAway }

func (s *mapStore) Write(_ context.Context, key string, content io.Reader, size int64, absent bool) error {
	b, err := io.ReadAll(content)
	if err != nil || int64(len(b)) != size {
		return errors.Join(err, fmt.Errorf("%d bytes of %d", len(b), size))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away.Load() {
		return errAway
	}
	if _, ok := s.objects[key]; ok && absent {
		return &remote.Failure{Kind: remote.Exists, Err: errors.New("it exists")}
	}
	s.version++
	s.objects[key] = mapObject{b, remote.Object{
		Key: key, Size: size, Modified: time.Now(), Version: source.ObjectVersion(fmt.Sprint(s.version)),
	}}
	return nil
}

func (s *mapStore) Remove(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away.Load() {
		return errAway
	}
	if _, ok := s.objects[key]; !ok {
		return &remote.Failure{Kind: remote.Missing, Err: errors.New("no such key")}
	}
	delete(s.objects, key)
	return nil
}

func (s *mapStore) Close() error { return nil }

func bucketOf(s *mapStore) Store {
	return Bucket(remote.NewRoot(s, "map://", BucketOptions(time.Second)))
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func() Store {
		s, err := Folder(filepath.Join(dir, "new"), 0)
		must(t, err)
		return s
	})
}

func TestBucketInMemory(t *testing.T) {
	m := newMapStore()
	testStore(t, func() Store { return bucketOf(m) })
}

// testStore is the contract of a store. open opens the same empty store again.
func testStore(t *testing.T, open func() Store) {
	ctx := t.Context()
	a, b := open(), open()
	defer func() { must(t, errors.Join(a.Close(), b.Close())) }()
	small, large := random(100), random(3<<20+17)
	if _, err := a.Open(ctx, key(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of an absent table: %v", err)
	}
	must(t, a.Remove(ctx, key(1)))
	must(t, a.Put(ctx, key(1), bytes.NewReader(small), int64(len(small))))
	must(t, a.Put(ctx, key(2), bytes.NewReader(large), int64(len(large))))
	if err := b.Put(ctx, key(1), bytes.NewReader(large), int64(len(large))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second Put: %v", err)
	}
	for _, want := range [][]byte{small, large} {
		k := key(1)
		if len(want) == len(large) {
			k = key(2)
		}
		o, err := b.Open(ctx, k)
		must(t, err)
		if o.Size() != int64(len(want)) {
			t.Errorf("size %d, want %d", o.Size(), len(want))
		}
		for _, r := range [][2]int64{{0, o.Size()}, {0, 1}, {o.Size() - 1, o.Size()}, {7, 90}, {50, 50}} {
			got := &buffer{b: make([]byte, len(want))}
			must(t, o.Fetch(ctx, got, r[0], r[1]))
			if !bytes.Equal(got.b[r[0]:r[1]], want[r[0]:r[1]]) {
				t.Errorf("bytes %v are wrong", r)
			}
			if rest := got.b[r[1]:]; len(bytes.Trim(rest, "\x00")) > 0 {
				t.Errorf("bytes after %v were written", r)
			}
		}
		must(t, o.Close())
	}
	listed := func() map[Key]Info {
		all := map[Key]Info{}
		must(t, b.List(ctx, func(i Info) error { all[i.Key] = i; return nil }))
		return all
	}
	all := listed()
	if len(all) != 2 || all[key(1)].Bytes != int64(len(small)) || all[key(2)].Bytes != int64(len(large)) {
		t.Errorf("listed %v", all)
	}
	stop := errors.New("stop")
	if err := b.List(ctx, func(Info) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("List gives %v, want the error of yield", err)
	}
	time.Sleep(1100 * time.Millisecond) // stores know seconds
	must(t, a.Touch(ctx, key(1)))
	now := listed()
	if !now[key(1)].Used.After(all[key(1)].Used) || !now[key(2)].Used.Equal(all[key(2)].Used) {
		t.Errorf("after a use of the first one: %v, before %v", now, all)
	}
	must(t, a.Sweep(ctx))
	if n := len(listed()); n != 2 {
		t.Errorf("%d tables after Sweep", n)
	}

	// many writers of one table: it is one of theirs
	var running sync.WaitGroup
	var stored atomic.Int64
	for i := range 8 {
		running.Go(func() {
			content := bytes.Repeat([]byte{byte(i)}, 200_000)
			switch err := open().Put(ctx, key(3), bytes.NewReader(content), int64(len(content))); {
			case err == nil:
				stored.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("Put: %v", err)
			}
		})
	}
	running.Wait()
	o, err := a.Open(ctx, key(3))
	must(t, err)
	got := &buffer{b: make([]byte, o.Size())}
	must(t, o.Fetch(ctx, got, 0, o.Size()))
	if n := stored.Load(); n != 1 || len(got.b) != 200_000 || len(bytes.Trim(got.b, string(got.b[:1]))) > 0 {
		t.Errorf("%d of 8 writers stored %d bytes", n, len(got.b))
	}

	// a removed table, and then another one of the same key: never bytes of the other one
	must(t, b.Remove(ctx, key(3)))
	must(t, b.Put(ctx, key(3), bytes.NewReader(large[:200_000]), 200_000))
	again := &buffer{b: make([]byte, o.Size())}
	err = o.Fetch(ctx, again, 0, o.Size())
	if err == nil && !bytes.Equal(again.b, got.b) {
		t.Error("an open table has the bytes of another one")
	}
	if err != nil && !changed(err) {
		t.Errorf("Fetch of a replaced table: %v", err)
	}
	must(t, o.Close())
	for n := range byte(4) {
		must(t, a.Remove(ctx, key(n)))
	}
	if n := len(listed()); n != 0 {
		t.Errorf("%d tables are left", n)
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := a.Put(ended, key(4), bytes.NewReader(large), int64(len(large))); err == nil {
		t.Error("Put with an ended context: no error")
	}
	short := bytes.NewReader(large[:1000])
	if err := a.Put(ctx, key(4), short, int64(len(large))); err == nil {
		t.Error("Put of too few bytes: no error")
	}
	if n := len(listed()); n != 0 {
		t.Errorf("%d tables of failed writes", n)
	}
}

// TestReads breaks off and shortens the answers of a bucket.
func TestReads(t *testing.T) {
	m := newMapStore()
	c := New(bucketOf(m), "map", Config{Timeout: time.Second, Log: zerolog.Nop()})
	defer c.Close()
	content := random(1 << 20)
	must(t, c.Put(t.Context(), key(1), bytes.NewReader(content), int64(len(content))))
	o, err := c.Open(t.Context(), key(1))
	must(t, err)
	for _, cut := range []int64{1, 1000, 64 << 10, 400_000, 1<<20 - 1} {
		m.cut.Store(cut)
		got := &buffer{b: make([]byte, len(content))}
		if cut < 1000 { // a byte for each request takes too long
			m.cut.Store(0)
		}
		must(t, o.Fetch(t.Context(), got, 0, o.Size()))
		if !bytes.Equal(got.b, content) {
			t.Errorf("answers of %d bytes: wrong bytes", cut)
		}
	}
	m.cut.Store(0)
	m.short.Store(true)
	got := &buffer{b: make([]byte, len(content))}
	if err := o.Fetch(t.Context(), got, 0, o.Size()); err == nil && !bytes.Equal(got.b, content) {
		t.Error("short answers: wrong bytes")
	}
	m.short.Store(false)
	if err := c.Remove(t.Context(), key(1)); err != nil && !errors.Is(err, ErrAway) {
		t.Error(err)
	}
}

// fullDisk is a disk without space.
type fullDisk struct{}

func (fullDisk) WriteAt([]byte, int64) (int, error) { return 0, errors.New("no space left") }

// TestBreaker expects one slow request of an outage, and that an error of the local disk is none.
func TestBreaker(t *testing.T) {
	m := newMapStore()
	c := New(bucketOf(m), "map", Config{Timeout: 300 * time.Millisecond, Log: zerolog.Nop()})
	defer c.Close()
	must(t, c.Put(t.Context(), key(1), bytes.NewReader(random(1000)), 1000))
	o, err := c.Open(t.Context(), key(1))
	must(t, err)
	if err := o.Fetch(t.Context(), fullDisk{}, 0, 1000); err == nil || c.Away() {
		t.Errorf("a full disk: error %v, away %v", err, c.Away())
	}
	if _, err := c.Open(t.Context(), key(2)); !errors.Is(err, fs.ErrNotExist) || c.Away() {
		t.Errorf("no such table: error %v, away %v", err, c.Away())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Open(ended, key(1)); err == nil || c.Away() {
		t.Errorf("an ended call: error %v, away %v", err, c.Away())
	}
	m.away.Store(true)
	began := time.Now()
	for range 1000 {
		if _, err := c.Open(t.Context(), key(1)); err == nil {
			t.Fatal("an answer of a store that is away")
		}
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("1,000 calls took %v", took)
	}
	if s := c.Stats(); !s.Away || s.Skipped < 990 {
		t.Errorf("stats %+v", s)
	}
	m.away.Store(false)
	for end := time.Now().Add(10 * time.Second); c.Away(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("still away")
		}
	}
	_, err = c.Open(t.Context(), key(1))
	must(t, err)
}

// closingWriter closes a table while it is fetched.
type closingWriter struct{ *Table }

func (w closingWriter) WriteAt(p []byte, _ int64) (int, error) { return len(p), w.Close() }

// TestCloseWhileFetching expects that the end of a fetch by Close is no outage.
func TestCloseWhileFetching(t *testing.T) {
	store, err := Folder(t.TempDir(), 0)
	must(t, err)
	c := New(store, "folder", Config{Log: zerolog.Nop()})
	defer c.Close()
	content := random(3 << 20)
	must(t, c.Put(t.Context(), key(1), bytes.NewReader(content), int64(len(content))))
	o, err := c.Open(t.Context(), key(1))
	must(t, err)
	if err := o.Fetch(t.Context(), closingWriter{o}, 0, o.Size()); err == nil || c.Away() {
		t.Errorf("error %v, away %v", err, c.Away())
	}
}

func TestBreakerWaits(t *testing.T) {
	var b breaker
	var waits []time.Duration
	for range 8 {
		wait, _ := b.fail()
		waits = append(waits, wait/time.Second)
	}
	if want := []time.Duration{1, 2, 4, 8, 16, 30, 30, 30}; !slices.Equal(waits, want) {
		t.Errorf("waits %v s, want %v s", waits, want)
	}
	b.succeed()
	if wait, first := b.fail(); wait != time.Second || !first {
		t.Errorf("after an answer: %v, %v", wait, first)
	}
}

// TestHangingFolder expects an answer although an operation of the folder does not end.
func TestHangingFolder(t *testing.T) {
	f := &folder{path: t.TempDir(), timeout: 50 * time.Millisecond, now: time.Now}
	block := make(chan struct{})
	defer close(block)
	began := time.Now()
	err := f.within(t.Context(), func() error { <-block; return nil })
	if err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("error %v after %v", err, time.Since(began))
	}
}

// TestExpiry removes tables by age and by budget, and never one of the last hour.
func TestExpiry(t *testing.T) {
	for _, tt := range []struct {
		name   string
		bytes  int64
		expiry time.Duration
		want   []int // hours since the last use
	}{
		{"no limits", 0, 0, []int{0, 2, 5, 10, 48}},
		{"age", 0, 6 * time.Hour, []int{0, 2, 5}},
		{"budget", 250, 0, []int{0, 2}},
		{"budget of one byte", 1, 0, []int{0}},
		{"age of a second", 0, time.Second, []int{0}},
		{"both", 450, 9 * time.Hour, []int{0, 2, 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			store, err := Folder(dir, 0)
			must(t, err)
			c := New(store, dir, Config{Bytes: tt.bytes, Expiry: tt.expiry, Log: zerolog.Nop()})
			defer c.Close()
			for i, hours := range []int{0, 2, 5, 10, 48} {
				k := key(byte(i))
				must(t, store.Put(t.Context(), k, bytes.NewReader(random(100)), 100))
				at := time.Now().Add(-time.Duration(hours) * time.Hour)
				must(t, os.Chtimes(filepath.Join(dir, tablesFolder, tableName(k)), at, at))
			}
			must(t, c.Expire(t.Context()))
			var left []int
			must(t, c.List(t.Context(), func(i Info) error {
				left = append(left, int(time.Since(i.Used).Hours()))
				return nil
			}))
			if slices.Sort(left); !slices.Equal(left, tt.want) {
				t.Errorf("tables of %v hours are left, want %v", left, tt.want)
			}
		})
	}
}

// oneLease gives the lease to one owner.
type oneLease struct {
	fleet.Leases
	mu    sync.Mutex
	owner string
	taken int
}

func (l *oneLease) Acquire(_ context.Context, k fleet.WorkKey, owner, _ string) (fleet.Lease, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner != "" {
		return fleet.Lease{Key: k, Owner: l.owner}, false, nil
	}
	l.owner = owner
	l.taken++
	return fleet.Lease{Key: k, Owner: owner}, true, nil
}

func (l *oneLease) Release(context.Context, fleet.Lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner = ""
	return nil
}

// TestExpiryWhileReading lets several servers expire while others read: a table in use stays, and
// readers of a removed one get its bytes or an error.
func TestExpiryWhileReading(t *testing.T) {
	dir := t.TempDir()
	leases := &oneLease{}
	open := func(owner string) *Cache {
		store, err := Folder(dir, 0)
		must(t, err)
		return New(store, dir, Config{Bytes: 1, Leases: leases, Owner: owner, Log: zerolog.Nop()})
	}
	content := random(200_000)
	writer := open("writer")
	defer writer.Close()
	const tables = 20
	put := func(i int) {
		must(t, writer.Put(t.Context(), key(byte(i)), bytes.NewReader(content), int64(len(content))))
	}
	old := time.Now().Add(-2 * time.Hour)
	for i := range tables {
		put(i)
	}
	time.Sleep(50 * time.Millisecond) // the uses are recorded
	for i := range tables {
		if i%2 == 0 {
			must(t, os.Chtimes(filepath.Join(dir, tablesFolder, tableName(key(byte(i)))), old, old))
		}
	}
	var running sync.WaitGroup
	for n := range 3 {
		c := open(fmt.Sprint(n))
		running.Go(func() {
			defer c.Close()
			for range 5 {
				if err := c.Expire(t.Context()); err != nil {
					t.Errorf("Expire: %v", err)
				}
			}
		})
		running.Go(func() {
			for i := range tables {
				o, err := writer.Open(t.Context(), key(byte(i)))
				if errors.Is(err, fs.ErrNotExist) && i%2 == 0 {
					continue
				}
				must(t, err)
				got := &buffer{b: make([]byte, len(content))}
				must(t, o.Fetch(t.Context(), got, 0, o.Size()))
				if !bytes.Equal(got.b, content) {
					t.Errorf("table %d: wrong bytes", i)
				}
				must(t, o.Close())
			}
		})
	}
	running.Wait()
	n := 0
	must(t, writer.List(t.Context(), func(i Info) error {
		if i.Key[0]%2 == 1 {
			n++
		}
		return nil
	}))
	if n != tables/2 || leases.taken == 0 {
		t.Errorf("%d of %d tables in use are left; %d leases", n, tables/2, leases.taken)
	}
}

// TestUses records a use at most once in touchInterval.
func TestUses(t *testing.T) {
	m := newMapStore()
	c := New(bucketOf(m), "map", Config{Log: zerolog.Nop()})
	defer c.Close()
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	c.now = func() time.Time { return time.Unix(0, now.Load()) }
	version := func() string {
		m.mu.Lock()
		defer m.mu.Unlock()
		return string(m.objects[marker(key(1))].object.Version)
	}
	wait := func(last string) string {
		for range 500 {
			if v := version(); v != last {
				return v
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal("no use is recorded")
		return ""
	}
	c.Use(key(1))
	first := wait("")
	for range 100 {
		c.Use(key(1))
	}
	time.Sleep(50 * time.Millisecond)
	if v := version(); v != first {
		t.Error("uses in a row are recorded several times")
	}
	now.Add(int64(touchInterval))
	c.Use(key(1))
	wait(first)
}

// TestKilledWriter kills processes while they store a table. No table is there in part, and Sweep
// removes the rest.
func TestKilledWriter(t *testing.T) {
	if dir := os.Getenv("SHAREDCACHE_WRITER"); dir != "" {
		store, err := Folder(dir, 0)
		must(t, err)
		content := random(8 << 20)
		for i := 0; ; i++ {
			_ = store.Put(t.Context(), key(byte(i)), bytes.NewReader(content), int64(len(content)))
			_ = store.Remove(t.Context(), key(byte(i-4)))
		}
	}
	dir := t.TempDir()
	content := random(8 << 20)
	for n := range 8 {
		temps := func() int {
			found, err := filepath.Glob(filepath.Join(dir, tablesFolder, tempPrefix+"*"))
			must(t, err)
			return len(found)
		}
		before := temps()
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledWriter$")
		cmd.Env = append(os.Environ(), "SHAREDCACHE_WRITER="+dir)
		must(t, cmd.Start())
		for range 1000 { // until it has begun
			if temps() > before {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Duration(13*n) * time.Millisecond)
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	store, err := Folder(dir, 0)
	must(t, err)
	tables := 0
	must(t, store.List(t.Context(), func(i Info) error {
		tables++
		b, err := os.ReadFile(filepath.Join(dir, tablesFolder, tableName(i.Key)))
		if !bytes.Equal(b, content) {
			t.Errorf("a table of %d bytes, %v", len(b), err)
		}
		return nil
	}))
	if tables == 0 {
		t.Error("no process stored a table")
	}
	store.(*folder).now = func() time.Time { return time.Now().Add(2 * tempAge) }
	must(t, store.Sweep(t.Context()))
	temps, err := filepath.Glob(filepath.Join(dir, tablesFolder, tempPrefix+"*"))
	if err != nil || len(temps) > 0 {
		t.Errorf("%q, %v are left", temps, err)
	}
}
