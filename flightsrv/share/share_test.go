package share

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// open starts a Desk on a socket, and stops it at the end of the test.
func open(t *testing.T, change ...func(*Desk)) (*Desk, string) {
	t.Helper()
	d := New()
	for _, c := range change {
		c(d)
	}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.Serve(l) }()
	t.Cleanup(func() {
		_ = l.Close()
		d.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if n := d.Shares(); n != 0 {
			t.Errorf("%d shares after Close", n)
		}
	})
	return d, socket
}

func file(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("table"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// TestExpiry waits for the end of an offer that nobody takes, and of a lease.
func TestExpiry(t *testing.T) {
	d, socket := open(t, func(d *Desk) { d.offerTime, d.leaseTime = time.Millisecond, time.Millisecond })
	var released atomic.Int64
	release := func() { released.Add(1) }
	key, err := d.Offer(File(file(t)), release)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the offer has ended", func() bool { return released.Load() == 1 && d.Shares() == 0 })
	if _, _, err := Take(socket, key); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("an offer that has ended: %v", err)
	}
	d.offerTime = time.Hour
	if key, err = d.Offer(File(file(t)), release); err != nil {
		t.Fatal(err)
	}
	f, lease, err := Take(socket, key)
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Close()
	defer f.Close()
	until(t, "the lease has ended", func() bool { return released.Load() == 2 && d.Shares() == 0 })
	if b, err := io.ReadAll(f); err != nil || string(b) != "table" {
		t.Errorf("read %q, %v after the lease", b, err)
	}
}

// TestLimits offers more files than there may be, and offers after Close.
func TestLimits(t *testing.T) {
	d := New()
	var released atomic.Int64
	for range MaxShares {
		if _, err := d.Offer(File(file(t)), func() { released.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Offer(File(file(t)), func() { released.Add(1) }); !errors.Is(err, ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	d.Close()
	if _, err := d.Offer(File(file(t)), func() { released.Add(1) }); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if n := released.Load(); n != MaxShares+2 {
		t.Errorf("%d of %d files were released", n, MaxShares+2)
	}
}

// TestManyClients takes files with leases that are cut, keys that are wrong or half sent, and clients
// that leave, side by side. Every file is released.
func TestManyClients(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	d, socket := open(t)
	var released atomic.Int64
	var wg sync.WaitGroup
	turns := make(chan int)
	for range 16 {
		wg.Go(func() {
			for i := range turns {
				key, err := d.Offer(File(file(t)), func() { released.Add(1) })
				if err != nil {
					t.Error(err)
					continue
				}
				client(t, d, socket, key, i)
			}
		})
	}
	for i := range rounds {
		turns <- i
	}
	close(turns)
	wg.Wait()
	until(t, "every file is released", func() bool { return released.Load() == int64(rounds) && d.Shares() == 0 })
}

// client takes an offer in one of several ways; i chooses it.
func client(t *testing.T, d *Desk, socket, key string, i int) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	switch i % 4 {
	case 0: // does not read the answer
		_, _ = conn.Write([]byte(key + "\n"))
	case 1:
		_, _ = conn.Write([]byte(key[:7]))
		d.end(d.take(key))
	case 2:
		_, _ = conn.Write([]byte("wrong\nand more"))
		fallthrough
	default:
		f, lease, err := Take(socket, key)
		if err != nil {
			t.Error(err)
			return
		}
		if b, err := io.ReadAll(f); err != nil || string(b) != "table" {
			t.Errorf("read %q, %v", b, err)
		}
		_, _ = f.Close(), lease.Close()
	}
}
