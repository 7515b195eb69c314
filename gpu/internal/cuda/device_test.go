//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
	"github.com/vibeflight/vibeflight/gpu/internal/driver/drivertest"
)

// device opens the first device, or skips the test where there is none. VIBEFLIGHT_GPU=require
// makes that a failure.
func openDevice(t testing.TB) driver.Driver {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		missing(t, err)
	}
	return d
}

// compilerOf gives NVRTC from where VIBEFLIGHT_NVRTC says, or from the usual places.
func compilerOf(t testing.TB) driver.Compiler {
	t.Helper()
	c, err := NVRTC(os.Getenv("VIBEFLIGHT_NVRTC"))
	if err != nil {
		missing(t, err)
	}
	return c
}

func missing(t testing.TB, reason error) {
	t.Helper()
	if os.Getenv("VIBEFLIGHT_GPU") == "require" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

func closeDevice(t testing.TB, d driver.Driver) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestContract(t *testing.T) {
	d := openDevice(t)
	defer closeDevice(t, d) // keeps the context from being made anew for each subtest
	t.Logf("%+v", d.Info())
	drivertest.Run(t, func(t *testing.T) driver.Driver { return openDevice(t) }, compilerOf(t))
}

// What the driver does not check itself, and would answer with a fault or with a wrong result.
func TestRefused(t *testing.T) {
	d := openDevice(t)
	defer closeDevice(t, d)
	image, _, err := compilerOf(t).Compile(driver.Source{
		Name: "two.cu",
		Text: `extern "C" __global__ void two(int a, int b) {}`,
	}, d.Info().Arch)
	must(t, err)
	m, err := d.Load(image)
	must(t, err)
	f, err := d.Function(m, "two")
	must(t, err)
	s, err := d.NewStream()
	must(t, err)
	p, err := d.Alloc(s, 8)
	must(t, err)

	one := driver.Dim{Grid: 1, Block: 1}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{
			"an argument too few", d.Launch(s, f, one, driver.Words(1)),
			"two, grid 1, block 1, 1 arguments for 2 parameters",
		},
		{"no arguments", d.Launch(s, f, one, driver.Args{}), "0 arguments for 2 parameters"},
		{"an argument too many", d.Launch(s, f, one, driver.Words(1, 2, 3)), "3 arguments for 2 parameters"},
		{"no function", d.Launch(s, 0, one, driver.Args{}), "CUDA_ERROR_INVALID_HANDLE"},
		{"a negative copy", d.Copy(s, p, p, -1), "not positive"},
	}
	for _, tt := range tests {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, tt.err, tt.want)
		}
	}
	must(t, d.Unload(m))
	if err := d.Launch(s, f, one, driver.Words(1, 2)); err == nil {
		t.Error("a function of an unloaded module is launched")
	}
	must(t, d.Free(s, p))
	must(t, d.Synchronize(s))
	must(t, d.CloseStream(s))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Several open devices of one device share its context, which lives until the last is closed.
func TestOpenTwice(t *testing.T) {
	first := openDevice(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			d, err := Open(0)
			if err == nil {
				err = d.Close()
			}
			errs[i] = err
		})
	}
	wg.Wait()
	must(t, errors.Join(errs...))
	s, err := first.NewStream() // the context outlives the others' Close
	must(t, err)
	must(t, first.Synchronize(s))
	must(t, first.CloseStream(s))
	must(t, first.Close())
	must(t, first.Close())
}

func TestPTX(t *testing.T) {
	d := openDevice(t)
	defer closeDevice(t, d)
	image, _, err := compilerOf(t).Compile(driver.Source{
		Name: "ptx.cu",
		Text: `extern "C" __global__ void from_ptx() {}`,
	}, "compute_80")
	must(t, err)
	m, err := d.Load(image)
	must(t, err)
	if _, err := d.Function(m, "from_ptx"); err != nil {
		t.Error(err)
	}
	must(t, d.Unload(m))
	broken := strings.Replace(string(image), ".entry from_ptx", ".entry nonsense $$", 1)
	if m, err := d.Load([]byte(broken)); err == nil {
		t.Errorf("broken PTX loads as %#x", m)
	} else if !strings.Contains(err.Error(), "line") {
		t.Errorf("the error has not what the PTX compiler says: %v", err)
	}
}

// TestFault has a process of its own, since its context is lost for good.
func TestFault(t *testing.T) {
	closeDevice(t, openDevice(t))
	compilerOf(t)
	out := child(t, "fault", nil)
	for _, want := range []string{
		"synchronize: lost=true cuStreamQuery: CUDA_ERROR_ILLEGAL_ADDRESS",
		"alloc: lost=true cuMemAllocAsync (64 bytes): CUDA_ERROR_ILLEGAL_ADDRESS",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant %s", out, want)
		}
	}
}
