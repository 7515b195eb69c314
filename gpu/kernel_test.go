package gpu_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
)

// scale is a kernel with an argument of each width, a define and a header.
var scale = gpu.Source{
	Name: "scale.cu",
	Text: `#include "step.cuh"
extern "C" __global__ void scale(long long* data, unsigned char count, short add, int factor, unsigned long long last) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = data[i] * factor * STEP + add + (i + 1 == count ? (long long)last : 0);
}
`,
	Headers: map[string]string{"step.cuh": "#define STEP (BASE * 2)\n"},
	Defines: []string{"BASE=5"},
}

func TestKernel(t *testing.T) {
	dir := t.TempDir()
	for _, origin := range []gpu.Origin{gpu.FromCompiler, gpu.FromCache} {
		d := gputest.OpenWith(t, gpu.Options{CacheDir: dir})
		s := gputest.Stream(t, d)
		p, err := d.Program(scale)
		must(t, err)
		info := p.Info()
		if info.Origin != origin || info.Warning != nil || info.Log != "" || info.Arch != d.Info().Arch ||
			info.ImageBytes == 0 {
			t.Errorf("%+v, want from %q", info, origin)
		}
		k, err := p.Kernel("scale")
		must(t, err)
		if r, err := k.Resources(); err != nil || r.MaxThreads < 64 || k.Name() != "scale" {
			t.Errorf("%s: resources %+v, %v", k.Name(), r, err)
		}
		data, err := gpu.Of(s, []int64{1, 2, 3, 4})
		must(t, err)
		args := []gpu.Arg{
			data.Arg(), gpu.Int(uint8(3)), gpu.Int(int16(-7)), gpu.Int(int32(-1)),
			gpu.Int(uint64(1) << 40),
		}
		must(t, k.Launch(s, gpu.Dim{Grid: 0, Block: 64}, args...)) // no block, no work
		must(t, k.Launch(s, gpu.Dim{Grid: 1, Block: 64}, args...))
		got, err := gpu.Read(s, data)
		must(t, err)
		if want := []int64{-17, -27, -37 + 1<<40, 4}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		must(t, data.Free(s))
	}
}

func TestKernelThatIsNotThere(t *testing.T) {
	d := gputest.Open(t)
	p, err := d.Program(scale)
	must(t, err)
	if _, err := p.Kernel("scala"); err == nil || !strings.Contains(err.Error(), "scale.cu") ||
		!strings.Contains(err.Error(), "scala") {
		t.Errorf("Kernel: %v, want an error with the source's name and the kernel's", err)
	}
}

func TestSourceThatDoesNotCompile(t *testing.T) {
	d := gputest.Open(t)
	_, err := d.Program(gpu.Source{
		Name: "wrong.cu",
		Text: "extern \"C\" __global__ void f() {}\nint g() { return undeclared; }\n",
	})
	if err == nil || errors.Is(err, gpu.ErrNoCompiler) || !strings.Contains(err.Error(), "wrong.cu") ||
		!strings.Contains(err.Error(), "undeclared") {
		t.Errorf("Program: %v, want what the compiler says of undeclared", err)
	}
}

func TestSharedMemory(t *testing.T) {
	d := gputest.Open(t)
	p, err := d.Program(scale)
	must(t, err)
	k, err := p.Kernel("scale")
	must(t, err)
	must(t, k.SharedMemory(d.Info().SharedBytes))
	if err := k.SharedMemory(d.Info().SharedBytes + 1<<20); err == nil {
		t.Error("more shared memory than the device has: no error")
	}
}
