//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// actionVar says to the test binary, run as a child, which of actions to do instead of tests: what
// a process can do once only.
const actionVar = "VIBEFLIGHT_TEST_ACTION"

var actions = map[string]func() error{"open": openAtOnce, "alloc": allocWithoutPool, "fault": writeToNowhere}

func TestMain(m *testing.M) {
	action := os.Getenv(actionVar)
	if action == "" {
		os.Exit(m.Run())
	}
	if err := actions[action](); err != nil {
		fmt.Println(err)
	}
}

// child runs an action in a process of its own and gives what it prints.
func child(t *testing.T, action string, env []string) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), env...), actionVar+"="+action)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("child %s: %v\n%s", action, err, out)
	}
	return string(out)
}

// openAtOnce opens the first device from several goroutines, which must all hear the same.
func openAtOnce() error {
	errs := make([]error, 8)
	var wg sync.WaitGroup
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
	for _, err := range errs {
		if fmt.Sprint(err) != fmt.Sprint(errs[0]) {
			return fmt.Errorf("the answers differ: %w, %w", err, errs[0])
		}
	}
	fmt.Printf("none=%v %v\n", errors.Is(errs[0], driver.ErrNoDevice), errs[0])
	return nil
}

func allocWithoutPool() error {
	d, err := Open(0)
	if err != nil {
		return err
	}
	const s = driver.Stream(1)
	p, err := d.Alloc(s, 100)
	fmt.Printf("alloc %#x %v\n", uint64(p), err)
	fmt.Printf("free %v\ntrim %v\n", d.Free(s, p), d.Trim())
	_, err = d.Alloc(s, 1<<40)
	fmt.Printf("memory=%v %v\n", errors.Is(err, driver.ErrMemory), err)
	return d.Close()
}

func writeToNowhere() error {
	c, err := NVRTC(os.Getenv("VIBEFLIGHT_NVRTC"))
	if err != nil {
		return err
	}
	d, err := Open(0)
	if err != nil {
		return err
	}
	image, _, err := c.Compile(driver.Source{
		Name: "fault.cu",
		Text: `extern "C" __global__ void fault(int* p) { *p = 1; }`,
	}, d.Info().Arch)
	if err != nil {
		return err
	}
	m, err := d.Load(image)
	if err != nil {
		return err
	}
	f, err := d.Function(m, "fault")
	if err != nil {
		return err
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	if err := d.Launch(s, f, driver.Dim{Grid: 1, Block: 1}, driver.Words(8)); err != nil {
		return err
	}
	err = d.Synchronize(s)
	fmt.Printf("synchronize: lost=%v %v\n", errors.Is(err, driver.ErrLost), err)
	_, err = d.Alloc(s, 64)
	fmt.Printf("alloc: lost=%v %v\n", errors.Is(err, driver.ErrLost), err)
	return nil
}

// fakeDriver is a libcuda.so.1 of a few entry points. INIT, COUNT and CAPABILITY say what it
// answers, unless they are not defined.
const fakeDriver = `
#include <stddef.h>
#include <string.h>
#ifdef INIT
int cuInit(unsigned flags) { return INIT; }
#endif
#ifdef COUNT
int cuDeviceGetCount(int *n) { *n = COUNT; return COUNT < 0 ? 999 : 0; }
int cuGetErrorName(int code, const char **name) { *name = code == 999 ? "CUDA_ERROR_UNKNOWN" : code == 100 ? "CUDA_ERROR_NO_DEVICE" :
  code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : 0; return *name ? 0 : 1; }
#endif
#ifdef CAPABILITY
enum { SET = 42 };
static _Thread_local long current;
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int bytes, int device) { strncpy(name, "Sham 9000", bytes); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 1 << 30; return 0; }
int cuDeviceGetAttribute(int *v, int a, int device) {
  *v = a == 75 ? CAPABILITY / 10 : a == 76 ? CAPABILITY % 10 : a == 115 ? 0 /* memory pools */ : 1;
  return 0;
}
static unsigned flags;
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned f) { flags = f; return 0; }
int cuDevicePrimaryCtxRetain(long *ctx, int device) { *ctx = SET; return flags == 2 /* CU_CTX_SCHED_YIELD */ ? 0 : 1; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxSetCurrent(long ctx) { current = ctx; return 0; }
int cuMemAlloc_v2(unsigned long long *p, size_t bytes) {
  *p = 0x7000;
  return current != SET ? 201 : bytes > 1 << 30 ? 2 : 0;
}
int cuMemFree_v2(unsigned long long p) { return current != SET ? 201 : p == 0x7000 ? 0 : 1; }
int cuStreamSynchronize(void *stream) { return current != SET ? 201 : 0; }
int cuStreamQuery(void *stream) { return current != SET ? 201 : 0; }
#endif
`

// The driver's library is what these folders have, or what is not in them.
func TestDrivers(t *testing.T) {
	tests := []struct {
		name    string
		defines []string
		action  string
		want    string
	}{
		{"no GPU", []string{"INIT=100", "COUNT=0"}, "open", "none=true no GPU: cuInit: CUDA_ERROR_NO_DEVICE\n"},
		{"no GPU and no names of errors", []string{"INIT=100"}, "open", "none=true no GPU: cuInit: error 100\n"},
		{"no GPU, found later", []string{"INIT=0", "COUNT=0"}, "open", "none=true no GPU: the driver finds no GPU\n"},
		{
			"a broken driver",
			[]string{"INIT=0", "COUNT=-1"},
			"open",
			"none=true no GPU: cuDeviceGetCount: CUDA_ERROR_UNKNOWN\n",
		},
		{"nothing but cuInit", []string{"INIT=0"}, "open", "none=true no GPU: cuDeviceGetCount: error 801\n"},
		{"nothing at all", nil, "open", "none=true no GPU: cuInit: error 801\n"},
		{
			"an old GPU",
			[]string{"INIT=0", "COUNT=1", "CAPABILITY=75"},
			"open",
			"none=true no GPU: Sham 9000 has compute capability 7.5, 8.0 is the least\n",
		},
		{"a GPU", []string{"INIT=0", "COUNT=1", "CAPABILITY=90"}, "open", "none=false <nil>\n"},
		{
			"a GPU without memory pools",
			[]string{"INIT=0", "COUNT=1", "CAPABILITY=90"},
			"alloc",
			"alloc 0x7000 <nil>\nfree <nil>\ntrim <nil>\nmemory=true cuMemAllocAsync (1099511627776 bytes): " +
				"CUDA_ERROR_OUT_OF_MEMORY\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := child(t, tt.action, []string{"LD_LIBRARY_PATH=" + buildDriver(t, tt.defines)})
			if got != tt.want {
				t.Errorf("got  %swant %s", got, tt.want)
			}
		})
	}
}

// buildDriver compiles fakeDriver and gives the folder that it lies in.
func buildDriver(t *testing.T, defines []string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to make a driver with")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "driver.c")
	must(t, os.WriteFile(source, []byte(fakeDriver), 0o600))
	args := []string{"-shared", "-fPIC", "-w", "-o", filepath.Join(dir, "libcuda.so.1"), source}
	for _, d := range defines {
		args = append(args, "-D"+d)
	}
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// A file that is no library stands first on the loader's path, so there is no driver whatever the
// machine has.
func TestNoDriver(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "libcuda.so.1"), []byte("no library"), 0o600))
	got := child(t, "open", []string{"LD_LIBRARY_PATH=" + dir})
	for _, want := range []string{"none=true no GPU: no CUDA driver library: ", "libcuda.so.1: ", "file too short"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}
