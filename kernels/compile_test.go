package kernels

import (
	"errors"
	"os"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/compile"
)

// maxFrameBytes is what spilled registers may take of a thread's stack frame: a compiler's choice,
// and not the same with each. An array that is indexed at run time takes more, and is memory where
// a kernel should have registers.
const maxFrameBytes = 64

// TestCompilesForEveryArchitecture compiles every .cu file as a release does. A warning is an
// error, and so is a large stack frame.
func TestCompilesForEveryArchitecture(t *testing.T) {
	path := os.Getenv("VIBEFLIGHT_NVRTC")
	compiler, err := compile.NVRTC(path)
	if err != nil {
		if path != "" && !errors.Is(err, gpu.ErrNoDevice) {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	sources, err := Sources()
	if err != nil {
		t.Fatal(err)
	}
	archs, kernels, spills := compile.Release(), 0, 0
	if testing.Short() {
		archs = []string{"sm_80", "sm_90", "sm_100", "sm_120"} // one of each generation
	}
	for _, r := range compiler.All(t.Context(), sources, archs) {
		switch {
		case r.Err != nil:
			t.Error(r.Err)
		case r.Log != "":
			t.Errorf("%s for %s:\n%s", r.Source.Name, r.Arch, r.Log)
		case !r.IsPTX():
			found, spilled := checkResources(t, r)
			kernels, spills = kernels+found, spills+spilled
		}
	}
	t.Logf("%s: %d sources for %d architectures: %d kernels, %d of them with a stack frame", compiler.Version(),
		len(sources), len(archs), kernels, spills)
}

// checkResources says what each kernel of a CUBIN takes. They are those that the source declares.
func checkResources(t *testing.T, r compile.Result) (kernels, spills int) {
	t.Helper()
	found, err := compile.Kernels(r.Image)
	if err != nil {
		t.Errorf("%s for %s: %v", r.Source.Name, r.Arch, err)
	}
	if want := entries(r.Source.Text); len(found) != len(want) {
		t.Errorf("%s for %s has %d kernels, want %q", r.Source.Name, r.Arch, len(found), want)
	}
	for _, k := range found {
		t.Logf("%-8s %-24s %3d registers, frame of %d bytes", r.Arch, k.Name, k.Registers, k.FrameBytes)
		if k.FrameBytes > maxFrameBytes {
			t.Errorf("%s for %s has a stack frame of %d bytes", k.Name, r.Arch, k.FrameBytes)
		}
		if k.FrameBytes > 0 {
			spills++
		}
	}
	return len(found), spills
}
