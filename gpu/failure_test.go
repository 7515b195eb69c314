package gpu_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
	"github.com/vibeflight/vibeflight/gpu/internal/emu"
)

// failingDriver is the emulation with a call that fails from its nth time on. Its Close says what
// is still open.
type failingDriver struct {
	driver.Driver
	call string
	nth  int
}

var errInjected = errors.New("injected")

// now reports whether this is the call to fail.
func (f *failingDriver) now(call string) bool {
	if call != f.call {
		return false
	}
	f.nth--
	return f.nth < 0
}

func (f *failingDriver) Alloc(s driver.Stream, bytes int64) (driver.Ptr, error) {
	if f.now("Alloc") {
		return 0, errInjected
	}
	return f.Driver.Alloc(s, bytes)
}

func (f *failingDriver) AllocHost(bytes int64) (unsafe.Pointer, error) {
	if f.now("AllocHost") {
		return nil, errInjected
	}
	return f.Driver.AllocHost(bytes)
}

func (f *failingDriver) ToDevice(s driver.Stream, dst driver.Ptr, src unsafe.Pointer, bytes int64) error {
	if f.now("ToDevice") {
		return errInjected
	}
	return f.Driver.ToDevice(s, dst, src, bytes)
}

func (f *failingDriver) NewStream() (driver.Stream, error) {
	if f.now("NewStream") {
		return 0, errInjected
	}
	return f.Driver.NewStream()
}

func (f *failingDriver) NewEvent() (driver.Event, error) {
	if f.now("NewEvent") {
		return 0, errInjected
	}
	return f.Driver.NewEvent()
}

func (f *failingDriver) Record(e driver.Event, s driver.Stream) error {
	if f.now("Record") {
		return errInjected
	}
	return f.Driver.Record(e, s)
}

func (f *failingDriver) Await(e driver.Event) error {
	if f.now("Await") {
		return errInjected
	}
	return f.Driver.Await(e)
}

// TestFailedCallsLeaveNothing lets one call of the driver fail: the error is told, and nothing
// stays allocated or open.
func TestFailedCallsLeaveNothing(t *testing.T) {
	stream := func(work func(s *gpu.Stream) error) func(*gpu.Device) error {
		return func(d *gpu.Device) error {
			s, err := d.NewStream()
			if err != nil {
				return err
			}
			return errors.Join(work(s), s.Close())
		}
	}
	ring := func(work func(r *gpu.Ring, s *gpu.Stream) error) func(*gpu.Device) error {
		return stream(func(s *gpu.Stream) error {
			r, err := s.Device().NewRing(2, 64)
			if err != nil {
				return err
			}
			return errors.Join(work(r, s), r.Close())
		})
	}
	tests := []struct {
		name string
		call string
		nth  int
		do   func(d *gpu.Device) error
	}{
		{"a stream", "NewStream", 0, stream(func(*gpu.Stream) error { return nil })},
		{"a buffer", "Alloc", 0, stream(func(s *gpu.Stream) error {
			_, err := gpu.Alloc[int32](s, 100)
			return err
		})},
		{"a buffer's contents", "ToDevice", 0, stream(func(s *gpu.Stream) error {
			_, err := gpu.Of(s, make([]int32, 100))
			return err
		})},
		{"a ring's memory", "AllocHost", 0, ring(nil)},
		{"a ring's first event", "NewEvent", 0, ring(nil)},
		{"a ring's second event", "NewEvent", 1, ring(nil)},
		{"a slot that is given back", "Record", 0, ring(func(r *gpu.Ring, s *gpu.Stream) error {
			slot, err := r.Take(t.Context())
			must(t, err)
			return slot.Give(s)
		})},
		{"a slot that is taken again", "Await", 0, ring(func(r *gpu.Ring, s *gpu.Stream) error {
			for range 2 {
				slot, err := r.Take(t.Context())
				must(t, err)
				must(t, slot.Give(s))
			}
			_, err := r.Take(t.Context())
			return err
		})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			drv, err := emu.Open(emu.Options{})
			if err != nil {
				t.Skip(err)
			}
			d := gpu.New(&failingDriver{drv, tt.call, tt.nth}, nil, gpu.Options{})
			if err := tt.do(d); !errors.Is(err, errInjected) {
				t.Errorf("got %v, want what %s answers", err, tt.call)
			}
			if used, _, _ := d.MemoryBytes(); used != 0 {
				t.Errorf("%d bytes count as in use", used)
			}
			if err := d.Close(); err != nil {
				t.Errorf("left behind: %v", err)
			}
		})
	}
}
