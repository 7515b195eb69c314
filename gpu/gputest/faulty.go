package gputest

import (
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// OpenFaulty returns an emulated device whose calls fail where fault says so: it is asked before each
// call that moves, makes or works on memory or waits, by the driver's name for it ("ToDevice"),
// maybe from several goroutines at once, and its error becomes that of the call. What it wraps
// decides what the error means: gpu.ErrMemory, gpu.ErrLost or neither. Memory that failed
// calls did not free is not an error of the test.
func OpenFaulty(t testing.TB, o gpu.Options, fault func(call string) error) *gpu.Device {
	t.Helper()
	drv, c := emulation(t)
	d := gpu.New(&faulty{Driver: drv, fault: fault}, c, o)
	t.Cleanup(func() { _ = d.Close() }) // what failed before may be open
	return d
}

// faulty is a driver whose calls fail.
type faulty struct {
	driver.Driver
	fault func(call string) error
}

func (f *faulty) Alloc(s driver.Stream, bytes int64) (driver.Ptr, error) {
	if err := f.fault("Alloc"); err != nil {
		return 0, err
	}
	return f.Driver.Alloc(s, bytes)
}

func (f *faulty) Free(s driver.Stream, p driver.Ptr) error {
	if err := f.fault("Free"); err != nil {
		return err
	}
	return f.Driver.Free(s, p)
}

func (f *faulty) AllocShared(bytes int64) (driver.Ptr, driver.Handle, error) {
	if err := f.fault("AllocShared"); err != nil {
		return 0, driver.Handle{}, err
	}
	return f.Driver.AllocShared(bytes)
}

func (f *faulty) Copy(s driver.Stream, dst, src driver.Ptr, bytes int64) error {
	if err := f.fault("Copy"); err != nil {
		return err
	}
	return f.Driver.Copy(s, dst, src, bytes)
}

func (f *faulty) ToDevice(s driver.Stream, dst driver.Ptr, src unsafe.Pointer, bytes int64) error {
	if err := f.fault("ToDevice"); err != nil {
		return err
	}
	return f.Driver.ToDevice(s, dst, src, bytes)
}

func (f *faulty) ToHost(s driver.Stream, dst unsafe.Pointer, src driver.Ptr, bytes int64) error {
	if err := f.fault("ToHost"); err != nil {
		return err
	}
	return f.Driver.ToHost(s, dst, src, bytes)
}

func (f *faulty) Fill(s driver.Stream, dst driver.Ptr, value byte, bytes int64) error {
	if err := f.fault("Fill"); err != nil {
		return err
	}
	return f.Driver.Fill(s, dst, value, bytes)
}

func (f *faulty) Launch(s driver.Stream, k driver.Function, d driver.Dim, args driver.Args) error {
	if err := f.fault("Launch"); err != nil {
		return err
	}
	return f.Driver.Launch(s, k, d, args)
}

func (f *faulty) Synchronize(s driver.Stream) error {
	if err := f.fault("Synchronize"); err != nil {
		return err
	}
	return f.Driver.Synchronize(s)
}

func (f *faulty) Record(e driver.Event, s driver.Stream) error {
	if err := f.fault("Record"); err != nil {
		return err
	}
	return f.Driver.Record(e, s)
}

func (f *faulty) Await(e driver.Event) error {
	if err := f.fault("Await"); err != nil {
		return err
	}
	return f.Driver.Await(e)
}
