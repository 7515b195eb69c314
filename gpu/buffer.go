package gpu

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// A Buffer is n elements of device memory. T is a number, or a struct of numbers laid out as the
// kernels' C struct is; it holds no pointers. The zero Buffer has no elements and no address.
// Buffers are values: a copy names the same memory.
type Buffer[T any] struct {
	p    driver.Ptr
	n    int
	view bool // of another buffer's memory, which is freed there
}

// Alloc returns a buffer of n elements with undefined contents, aligned to 16 bytes at least and with
// whole 16 bytes of room, for work given to s from now on. No element gives the zero Buffer. The
// error wraps ErrMemory where the budget or the device has no room.
func Alloc[T any](s *Stream, n int) (Buffer[T], error) {
	bytes, err := sizeOf[T](n)
	if err != nil || n == 0 {
		return Buffer[T]{}, err
	}
	bytes = roomFor(bytes)
	if s.arena != nil {
		if p, ok := s.arena.take(bytes); ok {
			return Buffer[T]{p: p, n: n}, nil
		}
	}
	if err := s.d.reserve(bytes); err != nil {
		return Buffer[T]{}, err
	}
	p, err := s.d.drv.Alloc(s.h, bytes)
	if err != nil {
		s.d.used.Add(-bytes)
		return Buffer[T]{}, err
	}
	return Buffer[T]{p: p, n: n}, nil
}

// roomFor is what an allocation takes: whole 16 bytes, so that a kernel may read the aligned word
// that its last element lies in.
func roomFor(bytes int64) int64 { return (bytes + 15) &^ 15 }

// sizeOf is the size of n elements in bytes.
func sizeOf[T any](n int) (int64, error) {
	size := int64(unsafe.Sizeof(*new(T)))
	if n < 0 || size > 0 && int64(n) > math.MaxInt64/2/size {
		return 0, fmt.Errorf("gpu: a buffer of %d elements of %d bytes", n, size)
	}
	return int64(n) * size, nil
}

// Free gives the memory back once the work that s was given before is done. It does nothing for a
// view and for the zero Buffer.
func (b Buffer[T]) Free(s *Stream) error {
	if b.n == 0 || b.view {
		return nil
	}
	bytes, _ := sizeOf[T](b.n)
	bytes = roomFor(bytes)
	if s.arena != nil && s.arena.give(b.p, bytes) {
		return nil
	}
	err := s.d.drv.Free(s.h, b.p)
	s.d.used.Add(-bytes)
	return err
}

// Len is the number of elements.
func (b Buffer[T]) Len() int { return b.n }

// Slice is a view of the elements [from, to). Freeing it does nothing.
func (b Buffer[T]) Slice(from, to int) Buffer[T] {
	if from < 0 || from > to || to > b.n {
		panic(fmt.Sprintf("gpu: elements [%d, %d) of %d", from, to, b.n))
	}
	if from == to {
		return Buffer[T]{}
	}
	return Buffer[T]{p: b.p + driver.Ptr(int64(from)*int64(unsafe.Sizeof(*new(T)))), n: to - from, view: true}
}

// Arg is the buffer's address as a kernel takes it; null for the zero Buffer.
func (b Buffer[T]) Arg() Arg { return Arg{value: uint64(b.p)} }

// Pointer is the buffer's address as a field of a struct that a kernel takes; null for the zero
// Buffer.
func (b Buffer[T]) Pointer() Pointer[T] { return Pointer[T]{address: uint64(b.p)} }

// Address is where the first element lies, in bytes, to check an alignment.
func (b Buffer[T]) Address() uint64 { return uint64(b.p) }

// Upload copies src to the first len(src) elements of dst. Memory of the Go heap may be changed
// when it returns, page-locked memory once s has come that far.
func Upload[T any](s *Stream, dst Buffer[T], src []T) error {
	bytes, err := sizeOf[T](len(src))
	if err != nil || bytes == 0 {
		return err
	}
	if len(src) > dst.n {
		return fmt.Errorf("gpu: %d elements into a buffer of %d", len(src), dst.n)
	}
	return s.d.drv.ToDevice(s.h, dst.p, unsafe.Pointer(unsafe.SliceData(src)), bytes)
}

// Download copies the first len(dst) elements of src. Memory of the Go heap holds them when it
// returns, page-locked memory once s has come that far.
func Download[T any](s *Stream, dst []T, src Buffer[T]) error {
	bytes, err := sizeOf[T](len(dst))
	if err != nil || bytes == 0 {
		return err
	}
	if len(dst) > src.n {
		return fmt.Errorf("gpu: %d elements from a buffer of %d", len(dst), src.n)
	}
	return s.d.drv.ToHost(s.h, unsafe.Pointer(unsafe.SliceData(dst)), src.p, bytes)
}

// Copy copies all of src to the first elements of dst, on the device.
func Copy[T any](s *Stream, dst, src Buffer[T]) error {
	bytes, err := sizeOf[T](src.n)
	if err != nil || bytes == 0 {
		return err
	}
	if src.n > dst.n {
		return fmt.Errorf("gpu: %d elements into a buffer of %d", src.n, dst.n)
	}
	return s.d.drv.Copy(s.h, dst.p, src.p, bytes)
}

// Fill sets every byte of b.
func Fill[T any](s *Stream, b Buffer[T], value byte) error {
	bytes, err := sizeOf[T](b.n)
	if err != nil || bytes == 0 {
		return err
	}
	return s.d.drv.Fill(s.h, b.p, value, bytes)
}

// Of allocates a buffer and uploads src to it.
func Of[T any](s *Stream, src []T) (Buffer[T], error) {
	b, err := Alloc[T](s, len(src))
	if err != nil {
		return b, err
	}
	if err := Upload(s, b, src); err != nil {
		_ = b.Free(s) // the upload's error is the one to tell
		return Buffer[T]{}, err
	}
	return b, nil
}

// Read downloads all of b and waits for it.
func Read[T any](s *Stream, b Buffer[T]) ([]T, error) {
	out := make([]T, b.n)
	if err := Download(s, out, b); err != nil {
		return nil, err
	}
	return out, s.Synchronize()
}
