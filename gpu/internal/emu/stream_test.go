//go:build linux && cgo

package emu

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

func TestHandles(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{})
	s, err := b.NewStream()
	b.must(err)
	e, err := b.NewEvent()
	b.must(err)
	m, err := b.Load(compiled(t, "warp.cu", false))
	b.must(err)
	f, err := b.Function(m, "votes")
	b.must(err)
	for _, first := range []bool{true, false} {
		for call, err := range map[string]error{
			"CloseStream": b.CloseStream(s), "CloseEvent": b.CloseEvent(e), "Unload": b.Unload(m),
		} {
			if (err == nil) != first {
				t.Errorf("%s, the first time: %v: %v", call, first, err)
			}
		}
	}
	for call, err := range map[string]error{
		"Synchronize": b.Synchronize(s),
		"Record":      b.Record(e, b.stream),
		"Wait":        b.Wait(b.stream, e),
		"Await":       b.Await(e),
		"Launch":      b.Launch(b.stream, f, driver.Dim{Grid: 1, Block: 1}, driver.Args{}),
		"zero stream": b.Launch(0, f, driver.Dim{Grid: 1, Block: 1}, driver.Args{}),
	} {
		if err == nil {
			t.Errorf("%s on what was closed gives no error", call)
		}
	}
	_, err = b.Function(m, "votes")
	if err == nil {
		t.Error("Function of a module that was unloaded gives no error")
	}
}

func TestElapsedOfEventsThatWereNotRecorded(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{})
	e, err := b.NewEvent()
	b.must(err)
	b.must(b.Await(e))
	if _, err := b.Elapsed(e, e); err == nil {
		t.Error("no error")
	}
	b.must(b.CloseEvent(e))
}

func TestStreamUsedTwiceAtOnce(t *testing.T) {
	d, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	err = d.(*device).do(s, "outer", func() error { return d.Synchronize(s) })
	if err == nil || !strings.Contains(err.Error(), "at the same time") {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(d.CloseStream(s), d.Close()); err != nil {
		t.Error(err)
	}
}

func TestCloseNamesWhatIsOpen(t *testing.T) {
	d, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err1 := d.NewStream()
	_, err2 := d.NewEvent()
	_, err3 := d.Alloc(s, 1<<20)
	_, err4 := d.Load(compiled(t, "warp.cu", false))
	_, err5 := d.AllocHost(5)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	err = d.Close()
	for _, part := range []string{
		"1 streams", "1 events", "1 modules",
		"1 allocations of device memory, 1 MiB", "1 allocations of page-locked memory, 5 bytes",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
	_, err = d.NewStream()
	_, herr := d.AllocHost(1)
	for call, err := range map[string]error{"Close": d.Close(), "NewStream": err, "AllocHost": herr} {
		if !errors.Is(err, driver.ErrLost) {
			t.Errorf("%s of a closed device gives %v", call, err)
		}
	}
}

// Modules leave no mapping behind.
func TestUnloadUnmaps(t *testing.T) {
	count := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skipf("no /proc/self/maps: %v", err)
		}
		return strings.Count(string(maps), "kernel.so")
	}
	b := newBench(t, "block.cu", variant{})
	before := count()
	out := b.alloc(4 * 96)
	for range 20 {
		m, err := b.Load(compiled(t, "block.cu", true))
		b.must(err)
		f, err := b.Function(m, "block_sum")
		b.must(err)
		b.must(b.Launch(b.stream, f, driver.Dim{Grid: 3, Block: 32},
			driver.Words(upload(b, make([]uint32, 96)), uint64(out))))
		b.must(b.Unload(m))
	}
	if after := count(); after != before {
		t.Errorf("%d mappings of kernels before, %d after", before, after)
	}
}
