package compile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
)

// nvrtc is the compiler that VIBEFLIGHT_NVRTC names, or that is installed here.
func nvrtc(t *testing.T) *Compiler {
	t.Helper()
	path := os.Getenv("VIBEFLIGHT_NVRTC")
	c, err := NVRTC(path)
	if err != nil {
		if path != "" && !errors.Is(err, gpu.ErrNoDevice) {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return c
}

func TestAll(t *testing.T) {
	c := nvrtc(t)
	t.Log(c.Version())
	sources := []gpu.Source{
		{Name: "plain.cu", Text: `extern "C" __global__ void plain(int* p) { p[threadIdx.x] = threadIdx.x; }`},
		{Name: "frame.cu", Text: `#include "size.cuh"
			extern "C" __global__ void frame(int* p, int n) {
				int t[SIZE];
				for (int i = 0; i < n; i++) t[i & 63] = p[i];
				for (int i = 0; i < n; i++) p[i] = t[p[i] & 63];
			}
			extern "C" __global__ void another(int* p) { *p = 1; }`, Headers: map[string]string{"size.cuh": "#define SIZE (64 * K)"}, Defines: []string{"K=1"}},
		{Name: "wrong.cu", Text: "int f() {}\n}"},
	}
	archs := Release()
	results := c.All(t.Context(), sources, archs)
	for i, r := range results {
		if r.Source.Name != sources[i/len(archs)].Name || r.Arch != archs[i%len(archs)] {
			t.Fatalf("result %d is %s for %s", i, r.Source.Name, r.Arch)
		}
		if r.Source.Name == "wrong.cu" {
			if r.Err == nil || !strings.Contains(r.Err.Error(), "wrong.cu(2)") || r.Image != nil {
				t.Errorf("%s: %v, want the line", r.Arch, r.Err)
			}
			continue
		}
		if r.Err != nil || r.Log != "" || r.Key() != gpu.SourceKey(r.Source) || r.Duration <= 0 {
			t.Errorf("%s for %s: %v, log %q", r.Source.Name, r.Arch, r.Err, r.Log)
		}
		if r.IsPTX() {
			if !bytes.Contains(r.Image, []byte(".target sm_80")) {
				t.Errorf("PTX is %.200q", r.Image)
			}
			continue
		}
		checkKernels(t, r)
	}
}

// checkKernels compares what a CUBIN says of its kernels with what is in the source.
func checkKernels(t *testing.T, r Result) {
	t.Helper()
	kernels, err := Kernels(r.Image)
	if err != nil {
		t.Errorf("%s for %s: %v", r.Source.Name, r.Arch, err)
	}
	frames := map[string]int{}
	for _, k := range kernels {
		frames[k.Name] = k.FrameBytes
		if k.Registers < 4 || k.Registers > 255 {
			t.Errorf("%s for %s: %s takes %d registers", r.Source.Name, r.Arch, k.Name, k.Registers)
		}
	}
	want := map[string]int{"plain": 0}
	if r.Source.Name == "frame.cu" {
		want = map[string]int{"another": 0, "frame": 256}
	}
	if !reflect.DeepEqual(frames, want) {
		t.Errorf("%s for %s: frames %v, want %v", r.Source.Name, r.Arch, frames, want)
	}
}

func TestAllStops(t *testing.T) {
	c := nvrtc(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range c.All(ctx, []gpu.Source{{Text: "int i;"}}, Release()) {
		if !errors.Is(r.Err, context.Canceled) {
			t.Errorf("%s: %v", r.Arch, r.Err)
		}
	}
	if r := c.All(ctx, nil, Release()); len(r) != 0 {
		t.Errorf("no sources give %v", r)
	}
}

func TestKernelsOfWhatIsNoCubin(t *testing.T) {
	for _, image := range []string{"", "\x7fELF", "text"} {
		if _, err := Kernels([]byte(image)); err == nil {
			t.Errorf("%q: no error", image)
		}
	}
}

func TestEachAttribute(t *testing.T) {
	record := func(format, attribute byte, length uint16, value ...byte) []byte {
		return append(binary.LittleEndian.AppendUint16([]byte{format, attribute}, length), value...)
	}
	tests := []struct {
		name string
		info []byte
		want string // attributes with a value
		err  bool
	}{
		{"none", nil, "", false},
		{"a value in the length's place", record(3, 7, 0xffff), "", false},
		{"two", bytes.Join([][]byte{record(4, 'a', 2, 1, 2), record(1, 'x', 0), record(4, 'b', 0)}, nil), "ab", false},
		{"cut off in the value", record(4, 'a', 3, 1, 2), "", true},
		{"cut off before it", []byte{4, 'a', 3}, "", true},
		{"an unknown format", append(record(4, 'a', 0), record(5, 'b', 0)...), "a", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []byte
			err := eachAttribute(tt.info, func(attribute byte, _ []byte) { got = append(got, attribute) })
			if string(got) != tt.want || (err != nil) != tt.err {
				t.Errorf("% x: got %q, %v, want %q, an error: %v", tt.info, got, err, tt.want, tt.err)
			}
		})
	}
}
