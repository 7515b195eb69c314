package gpu_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// point is laid out as a C struct of the same fields.
type point struct {
	X, Y  float64
	Count uint32
	Flags [4]uint8
}

func TestThereAndBack(t *testing.T) {
	d := gputest.Open(t)
	s := gputest.Stream(t, d)
	for _, n := range []int{0, 1, 31, 32, 33, 1000} {
		thereAndBack(t, s, n, func(i int) uint8 { return uint8(i) })
		thereAndBack(t, s, n, func(i int) int64 { return int64(i) << 40 })
		thereAndBack(t, s, n, func(i int) point {
			return point{float64(i), -1, uint32(i), [4]uint8{1, 2, 3, uint8(i)}}
		})
	}
}

func thereAndBack[T comparable](t *testing.T, s *gpu.Stream, n int, value func(int) T) {
	t.Helper()
	want := make([]T, n)
	for i := range want {
		want[i] = value(i)
	}
	a, err := gpu.Of(s, want)
	must(t, err)
	b, err := gpu.Alloc[T](s, n)
	must(t, err)
	must(t, gpu.Copy(s, b, a))
	got, err := gpu.Read(s, b)
	must(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("%d elements of %T: got %v, want %v", n, *new(T), got, want)
	}
	if a.Len() != n || a.Address()%16 != 0 || (a.Address() == 0) != (n == 0) {
		t.Errorf("%d elements of %T: length %d at %#x", n, *new(T), a.Len(), a.Address())
	}
	must(t, errors.Join(a.Free(s), b.Free(s)))
}

func TestViews(t *testing.T) {
	d := gputest.Open(t)
	s := gputest.Stream(t, d)
	b, err := gpu.Of(s, []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	must(t, err)
	view := b.Slice(2, 8).Slice(1, 5)
	must(t, gpu.Upload(s, view, []uint32{13, 14}))
	must(t, gpu.Fill(s, view.Slice(3, 4), 0xff))
	got, err := gpu.Read(s, b)
	must(t, err)
	if want := []uint32{0, 1, 2, 13, 14, 5, math.MaxUint32, 7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if view.Len() != 4 || view.Address() != b.Address()+3*4 {
		t.Errorf("elements [3, 7) are %d at %d bytes", view.Len(), view.Address()-b.Address())
	}
	if e := b.Slice(4, 4); e.Len() != 0 || e.Address() != 0 {
		t.Errorf("no elements have length %d and address %#x", e.Len(), e.Address())
	}
	used, _, _ := d.MemoryBytes()
	must(t, errors.Join(view.Free(s), b.Slice(0, 10).Free(s), gpu.Buffer[uint32]{}.Free(s)))
	if now, _, _ := d.MemoryBytes(); now != used {
		t.Errorf("freeing views frees %d bytes", used-now)
	}
	must(t, b.Free(s))
}

func TestViewsOutsideOfTheBuffer(t *testing.T) {
	d := gputest.Open(t)
	s := gputest.Stream(t, d)
	b, err := gpu.Alloc[uint16](s, 10)
	must(t, err)
	for _, tt := range []struct{ from, to int }{{-1, 2}, {3, 2}, {0, 11}, {11, 11}, {math.MinInt, math.MaxInt}} {
		func() {
			defer func() {
				if want := fmt.Sprintf("gpu: elements [%d, %d) of 10", tt.from, tt.to); fmt.Sprint(recover()) != want {
					t.Errorf("elements [%d, %d): no panic, or another", tt.from, tt.to)
				}
			}()
			b.Slice(tt.from, tt.to)
		}()
	}
	must(t, b.Free(s))
}

func TestCopiesThatDoNotFit(t *testing.T) {
	d := gputest.Open(t)
	s := gputest.Stream(t, d)
	small, err := gpu.Of(s, []uint64{1, 2})
	must(t, err)
	large, err := gpu.Of(s, []uint64{3, 4, 5})
	must(t, err)
	tests := []struct {
		name string
		err  error
	}{
		{"Upload", gpu.Upload(s, small, make([]uint64, 3))},
		{"Download", gpu.Download(s, make([]uint64, 3), small)},
		{"Copy", gpu.Copy(s, small, large)},
		{"Upload to none", gpu.Upload(s, gpu.Buffer[uint64]{}, make([]uint64, 1))},
		{"Download of none", gpu.Download(s, make([]uint64, 1), gpu.Buffer[uint64]{})},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s of more than there is: no error", tt.name)
		}
	}
	none := gpu.Buffer[uint64]{}
	must(t, errors.Join(gpu.Upload(s, none, nil), gpu.Download(s, nil, small), gpu.Copy(s, small, none),
		gpu.Fill(s, none, 1)))
	must(t, gpu.Copy(s, large, small))
	if got, err := gpu.Read(s, large); err != nil || !slices.Equal(got, []uint64{1, 2, 5}) {
		t.Errorf("got %v, %v", got, err)
	}
	must(t, errors.Join(small.Free(s), large.Free(s)))
}

func TestBudget(t *testing.T) {
	d := gputest.Open(t)
	s := gputest.Stream(t, d)
	_, _, budget := d.MemoryBytes()
	if budget <= 0 || budget > d.Info().MemoryBytes {
		t.Fatalf("a budget of %d bytes on a device of %d", budget, d.Info().MemoryBytes)
	}
	b, err := gpu.Alloc[point](s, 100)
	must(t, err)
	size := int64(100 * unsafe.Sizeof(point{}))
	tests := []struct {
		name   string
		alloc  func(n int) error
		n      int
		memory bool // the error is ErrMemory
	}{
		{"a byte too many", allocate[uint8](s), int(budget - size + 1), true},
		{"all that a size can be", allocate[uint8](s), math.MaxInt64 / 2, true},
		{"a size that overflows", allocate[uint64](s), math.MaxInt64 / 8, false},
		{"a size that overflows to little", allocate[uint64](s), 1<<61 + 1, false},
		{"less than none", allocate[uint8](s), -1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.alloc(tt.n); err == nil || errors.Is(err, gpu.ErrMemory) != tt.memory {
				t.Errorf("%d elements: %v, want ErrMemory: %v", tt.n, err, tt.memory)
			}
			if used, peak, _ := d.MemoryBytes(); used != size || peak != size {
				t.Errorf("%d bytes in use, %d at most, want %d", used, peak, size)
			}
		})
	}
	more, err := gpu.Alloc[uint8](s, 1001) // takes whole 16 bytes
	must(t, err)
	must(t, errors.Join(b.Free(s), s.Synchronize(), d.Trim()))
	if used, peak, _ := d.MemoryBytes(); used != 1008 || peak != size+1008 {
		t.Errorf("%d bytes in use, %d at most, want 1008 and %d", used, peak, size+1008)
	}
	must(t, more.Free(s))
}

func allocate[T any](s *gpu.Stream) func(int) error {
	return func(n int) error {
		b, err := gpu.Alloc[T](s, n)
		if !reflect.DeepEqual(b, gpu.Buffer[T]{}) {
			return fmt.Errorf("%v and the error %w", b, err)
		}
		return err
	}
}
