// Package gputest gives tests a device: the emulation on this machine's processor, or a device.
//
// The environment variable VIBEFLIGHT_GPU says which: nothing asks for the emulation, "auto" for a
// device if there is one, "require" for a device or a failed test.
package gputest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/internal/driver"
	"github.com/vibeflight/vibeflight/gpu/internal/emu"
)

// compiler is made once: it asks the C++ compiler for its version. Overflows, bad shifts and
// indexes out of shared arrays are errors of the launch.
var compiler = sync.OnceValues(func() (driver.Compiler, error) {
	return emu.NewCompiler(emu.CompilerOptions{Undefined: true})
})

// order is that of blocks and threads: one that no kernel can count on.
var order = emu.Shuffled(1)

// Open returns the device for a test. The test ends with an error if memory, streams or events are
// still open then. Without a C++ compiler there is no emulation, and the test is skipped.
func Open(t testing.TB) *gpu.Device {
	t.Helper()
	return OpenWith(t, gpu.Options{CacheDir: CacheDir()})
}

// OpenWith is Open with options. NVRTC is what the environment variable VIBEFLIGHT_NVRTC names, if
// it is set: a path where there is nothing is no NVRTC.
func OpenWith(t testing.TB, o gpu.Options) *gpu.Device {
	t.Helper()
	o.NVRTC = os.Getenv("VIBEFLIGHT_NVRTC")
	switch want := os.Getenv("VIBEFLIGHT_GPU"); want {
	case "", "emulate":
		return emulated(t, o)
	case "auto", "require":
		d, err := gpu.Open(o)
		switch {
		case err == nil:
			closeAfter(t, d)
			return d
		case want == "require" || !errors.Is(err, gpu.ErrNoDevice):
			t.Fatalf("VIBEFLIGHT_GPU=%s: %v", want, err)
		}
		return emulated(t, o)
	default:
		t.Fatalf("VIBEFLIGHT_GPU=%s: want nothing, emulate, auto or require", want)
		return nil
	}
}

// emulated opens the emulation.
func emulated(t testing.TB, o gpu.Options) *gpu.Device {
	t.Helper()
	drv, c := emulation(t)
	d := gpu.New(drv, c, o)
	closeAfter(t, d)
	return d
}

// emulation is the driver and its compiler. Where there is no C++ compiler the test is skipped.
func emulation(t testing.TB) (driver.Driver, driver.Compiler) {
	t.Helper()
	c, err := compiler()
	if err != nil {
		t.Skipf("no emulation: %v", err)
	}
	drv, err := emu.Open(emu.Options{Order: order})
	if err != nil {
		t.Skipf("no emulation: %v", err)
	}
	return drv, c
}

// closeAfter closes d at the end of the test; what is still open is an error of the test.
func closeAfter(t testing.TB, d *gpu.Device) {
	t.Cleanup(func() {
		if used, _, _ := d.MemoryBytes(); used != 0 && !t.Failed() {
			t.Errorf("%d bytes of device memory are still in use", used)
		}
		if err := d.Close(); err != nil && !t.Failed() {
			t.Errorf("closing the device: %v", err)
		}
	})
}

// Stream returns a stream on d that is closed at the end of the test.
func Stream(t testing.TB, d *gpu.Device) *gpu.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !t.Failed() {
			t.Errorf("closing the stream: %v", err)
		}
	})
	return s
}

// CacheDir is where tests keep compiled kernels from run to run; empty where there is no place for
// them.
func CacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "vibeflight", "kernels")
}
