package slots_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// openPool returns the slots of one device.
func openPool(t *testing.T, cfg slots.Config) *slots.Pool {
	t.Helper()
	k, err := kernels.Load(gputest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	p, err := slots.Open([]*kernels.Set{k}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestFill has several slots filled at once, with texts around the sizes of the ring's buffers:
// each holds its own.
func TestFill(t *testing.T) {
	p := openPool(t, slots.Config{Plan: slots.Plan{ChunkBytes: 5 << 20, Slots: 3, Work: 1}})
	text := make([]byte, 6<<20)
	for i := range text {
		text[i] = byte(rand.IntN(256))
	}
	src := bytes.NewReader(text)
	var wait sync.WaitGroup
	for _, n := range []int{0, 1, 2<<20 - 1, 2 << 20, 2<<20 + 1, 4<<20 + 3, 6<<20 - 7, 5 << 20} {
		wait.Go(func() {
			l, ok := p.Take(t.Name(), int64(n))
			if !ok {
				t.Error("no slot")
				return
			}
			defer p.Give(l, nil)
			_, filled, err := l.Fill(t.Context(), t.Name(), src, 7, n)
			if filled != nil || err != nil {
				t.Errorf("%d bytes: %v, %v", n, filled, err)
			}
			got, err := gpu.Read(l.Stream(), l.Text().Slice(0, n))
			if err != nil || !bytes.Equal(got, text[7:7+n]) {
				t.Errorf("%d bytes are not those of the file: %v", n, err)
			}
		})
	}
	wait.Wait()
}

// TestFillThatFails tells errors of the file from those of the device. The slot serves on.
func TestFillThatFails(t *testing.T) {
	p := openPool(t, slots.Config{Plan: slots.Plan{ChunkBytes: 1 << 10, Slots: 1, Work: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		n    int
		want string
	}{
		{"a file that is too short", t.Context(), 11, "EOF"},
		{"an end", ctx, 5, "context canceled"},
		{"none", t.Context(), 10, ""},
	} {
		l, _ := p.Take(t.Name(), 0)
		_, filled, err := l.Fill(tt.ctx, t.Name(), strings.NewReader("0123456789"), 0, tt.n)
		if err != nil || tt.want == "" && filled != nil || tt.want != "" &&
			(filled == nil || filled.Error() != tt.want) {
			t.Errorf("%s: %v, %v, want %q", tt.name, filled, err, tt.want)
		}
		p.Give(l, nil)
	}
}

// TestCut takes slices of a result until there is no page-locked memory left: the next ones are
// on the heap.
func TestCut(t *testing.T) {
	p := openPool(t, slots.Config{Plan: slots.Plan{ChunkBytes: 1000, Slots: 1, Work: 1}})
	l, _ := p.Take(t.Name(), 0)
	defer p.Give(l, nil)
	for range 2 { // what was given back serves again
		r := l.Result()
		var all [][]uint32
		for range 40 {
			v, _ := slots.Cut[uint32](r, 101) // 404 bytes, two in a piece
			if len(v) != 101 {
				t.Fatalf("%d elements", len(v))
			}
			for i := range v {
				v[i] = uint32(len(all))
			}
			all = append(all, v)
		}
		for i, v := range all {
			if v[0] != uint32(i) || v[100] != uint32(i) {
				t.Fatalf("slice %d shares memory with %d", i, v[0])
			}
			if at := uintptr(unsafe.Pointer(&v[0])); i < 20 && at%64 != 0 {
				t.Errorf("slice %d lies at %#x", i, at)
			}
		}
		if v, locked := slots.Cut[uint64](r, 200); len(v) != 200 || locked { // more than a piece
			t.Errorf("%d elements", len(v))
		}
		r.Give()
	}
}

// TestWorkLendsOneArena has buffers come from the device's budget only outside of Work.
func TestWorkLendsOneArena(t *testing.T) {
	p := openPool(t, slots.Config{Plan: slots.Plan{ChunkBytes: 1 << 10, Slots: 2, Work: 1, ArenaBytes: 1 << 20}})
	l, _ := p.Take(t.Name(), 0)
	defer p.Give(l, nil)
	d := l.Kernels().Device()
	before, _, _ := d.MemoryBytes()
	take := func() int64 {
		b, err := gpu.Alloc[byte](l.Stream(), 1<<19)
		if err != nil {
			t.Fatal(err)
		}
		used, _, _ := d.MemoryBytes()
		if err := errors.Join(b.Free(l.Stream()), l.Stream().Synchronize()); err != nil {
			t.Fatal(err)
		}
		return used - before
	}
	func() {
		defer func() { _ = recover() }()
		l.Work(t.Name(), 0, func() { panic("of the work") })
	}()
	l.Work(t.Name(), 0, func() {
		if n := take(); n != 0 {
			t.Errorf("%d bytes of the device's memory", n)
		}
	})
	if n := take(); n != 1<<19 {
		t.Errorf("%d bytes of the device's memory, want all", n)
	}
}

// TestOpenWithoutRoom asks for more than a device has.
func TestOpenWithoutRoom(t *testing.T) {
	k, err := kernels.Load(gputest.OpenWith(t, gpu.Options{MemoryBytes: 20 << 20, CacheDir: gputest.CacheDir()}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cfg  slots.Config
		want string
	}{
		{slots.Config{Memory: 1 << 20}, "1048576 bytes of device memory are too few; 10485760 would do"},
		{slots.Config{Memory: 64 << 20}, "memory for chunks of 4194304 bytes: "},
	} {
		p, err := slots.Open([]*kernels.Set{k}, tt.cfg)
		if p != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.cfg, err, tt.want)
		}
	}
}
