package gpu_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
)

func TestPinned(t *testing.T) {
	d := gputest.Open(t)
	for _, n := range []int{0, -1} {
		if _, err := d.AllocPinned(n); err == nil {
			t.Errorf("%d bytes: no error", n)
		}
	}
	for _, tt := range []struct{ n, align int }{{1, 16}, {1000, 16}, {64, 64}, {4096 + 64, 64}} {
		m, err := d.AllocPinned(tt.n)
		must(t, err)
		if len(m.Bytes()) != tt.n || uintptr(unsafe.Pointer(&m.Bytes()[0]))%uintptr(tt.align) != 0 {
			t.Errorf("%d bytes at %p, want %d, aligned to %d", len(m.Bytes()), m.Bytes(), tt.n, tt.align)
		}
		must(t, errors.Join(m.Free(), m.Free()))
	}
}

func TestRingSizes(t *testing.T) {
	d := gputest.Open(t)
	tests := []struct {
		name             string
		slots, slotBytes int
		ok               bool
	}{
		{"one slot", 1, 64, true},
		{"some", 3, 192, true},
		{"no slot", 0, 64, false},
		{"less than none", -1, 64, false},
		{"empty slots", 1, 0, false},
		{"slots that are not aligned", 2, 100, false},
		{"overflow", math.MaxInt/64 + 1, 64, false},
		{"overflow to little", 1<<32 + 1, 1 << 32, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := d.NewRing(tt.slots, tt.slotBytes)
			if (err == nil) != tt.ok {
				t.Fatalf("%d slots of %d bytes: %v", tt.slots, tt.slotBytes, err)
			}
			if err == nil {
				must(t, r.Close())
			}
		})
	}
}

func TestRingWaitsForASlot(t *testing.T) {
	d := gputest.Open(t)
	r, err := d.NewRing(2, 128)
	must(t, err)
	a, err := r.Take(t.Context())
	must(t, err)
	b, err := r.Take(t.Context())
	must(t, err)
	if &a.Bytes[0] == &b.Bytes[0] || len(a.Bytes) != 128 || cap(a.Bytes) != 128 {
		t.Errorf("slots %p and %p of %d bytes", a.Bytes, b.Bytes, len(a.Bytes))
	}
	ctx, cancel := context.WithCancel(t.Context())
	refused := make(chan error)
	go func() {
		_, err := r.Take(ctx)
		refused <- err
	}()
	cancel()
	if err := <-refused; !errors.Is(err, context.Canceled) {
		t.Errorf("Take: %v, want that it was cancelled", err)
	}
	taken := make(chan *gpu.Slot)
	go func() {
		slot, err := r.Take(context.WithoutCancel(ctx))
		if err != nil {
			t.Error(err)
		}
		taken <- slot
	}()
	must(t, b.Give(nil))
	c := <-taken
	if &c.Bytes[0] != &b.Bytes[0] {
		t.Error("the slot taken is not the one given back")
	}
	must(t, errors.Join(a.Give(nil), c.Give(nil), r.Close()))
}

// TestRingOfManyGoroutines streams pieces through few slots, from several goroutines with a stream
// each. A slot that is lent again before the device has read it would tear a piece.
func TestRingOfManyGoroutines(t *testing.T) {
	const workers, pieces, piece = 4, 50, 4096
	d := gputest.Open(t)
	r, err := d.NewRing(3, piece)
	must(t, err)
	var all sync.WaitGroup
	for w := range workers {
		s := gputest.Stream(t, d)
		out, err := gpu.Alloc[byte](s, pieces*piece)
		must(t, err)
		all.Go(func() {
			for i := range pieces {
				if err := upload(t.Context(), r, s, out.Slice(i*piece, (i+1)*piece), byte(w*pieces+i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
		t.Cleanup(func() {
			got, err := gpu.Read(s, out)
			must(t, errors.Join(err, out.Free(s)))
			for i := range pieces {
				if want := bytes.Repeat([]byte{byte(w*pieces + i)}, piece); !bytes.Equal(got[i*piece:(i+1)*piece],
					want) {
					t.Errorf("worker %d: piece %d is torn", w, i)
				}
			}
		})
	}
	all.Wait()
	must(t, r.Close()) // which waits for the copies
}

// upload fills a slot and has the device read it.
func upload(ctx context.Context, r *gpu.Ring, s *gpu.Stream, dst gpu.Buffer[byte], value byte) error {
	slot, err := r.Take(ctx)
	if err != nil {
		return err
	}
	for i := range slot.Bytes {
		slot.Bytes[i] = value
	}
	err = gpu.Upload(s, dst, slot.Bytes)
	return errors.Join(err, slot.Give(s))
}
