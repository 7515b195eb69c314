//go:build linux && cgo

package emu

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// places gives the lines of wrong.cu that are marked with the kernel's name, as messages have them.
func places(t *testing.T, kernel string) (at []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/wrong.cu")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if _, mark, ok := strings.Cut(line, "// "+kernel); ok && (mark == "" || mark[0] == ':') {
			at = append(at, fmt.Sprintf("wrong.cu:%d", i+1))
		}
	}
	if len(at) == 0 {
		t.Fatalf("no line is marked with %s", kernel)
	}
	return at
}

func TestWrongKernels(t *testing.T) {
	tests := []struct {
		name        string
		kernel      string
		grid, block int
		args        []uint64 // behind the output
		want        []string // parts of the message, next to the places
		undefined   bool     // only found where undefined behaviour is looked for
	}{
		{"deadlock", "deadlock", 1, 32, nil, []string{
			"deadlock in block 0", "thread 0 has exited",
			"threads 1-30 wait in __ballot_sync(0xffffffff)", "thread 31 waits in __syncthreads",
		}, false},
		{"masks that differ", "masks", 1, 32, nil, []string{
			"deadlock in block 0",
			"thread 0 waits in __ballot_sync(0x55555557)", "thread 1 waits in __ballot_sync(0xffffffff)",
		}, false},
		{"divergent barrier", "divergent", 1, 64, nil, []string{
			"divergent barrier in block 0",
			"in __syncthreads",
		}, false},
		{
			"lane outside of its mask", "outside", 1, 32, nil,
			[]string{"is not in the mask of its __shfl_sync(0x000000ff)"},
			false,
		},
		{"width of 12", "width", 1, 32, nil, []string{"the width of a shuffle"}, false},
		{"trap", "trap", 5, 64, nil, []string{"block 3, thread ", "__trap"}, false},
		{"shift by 32", "shift", 1, 1, []uint64{32}, []string{"block 0, thread 0: undefined behaviour: a shift"}, true},
		{"signed overflow", "overflow", 1, 1, []uint64{1<<31 - 1}, []string{"undefined behaviour: a signed sum"}, true},
		{
			"index outside of shared memory", "bounds", 1, 1,
			[]uint64{4},
			[]string{"undefined behaviour: an index"},
			true,
		},
		{"division by zero", "divide", 1, 1, []uint64{0}, []string{"undefined behaviour: a division"}, true},
	}
	for _, tt := range tests {
		for _, v := range variants() {
			if tt.undefined && !v.undefined {
				continue
			}
			t.Run(tt.name+"/"+v.name, func(t *testing.T) {
				b := newBench(t, "wrong.cu", v)
				out := b.alloc(4 * 64)
				err := b.try(tt.kernel, tt.grid, tt.block, 0, append([]uint64{uint64(out)}, tt.args...)...)
				var refused *driver.Error
				if !errors.As(err, &refused) || !strings.Contains(err.Error(),
					fmt.Sprintf("launch (%s, grid %d, block %d", tt.kernel, tt.grid, tt.block)) {
					t.Fatalf("got %v", err)
				}
				for _, part := range append(tt.want, places(t, tt.kernel)...) {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("the error lacks %q:\n%v", part, err)
					}
				}
				// The device goes on.
				b.launch("right", 3, 32, uint64(out))
				want := make([]uint32, 32)
				for i := range want {
					want[i] = 0xffffffff
				}
				equal(b, "right", download[uint32](b, uint64(out), 32), want)
			})
		}
	}
}

func TestMisalignedAddress(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{undefined: true})
	out, in := b.alloc(16), b.alloc(32)
	err := b.try("misaligned", 1, 1, 0, uint64(out), uint64(in))
	if err == nil || !strings.Contains(err.Error(), "misaligned") || !strings.Contains(err.Error(),
		places(t, "misaligned")[0]) {
		t.Errorf("got %v", err)
	}
}

// Undefined behaviour that does not happen is no error.
func TestDefinedBehaviour(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{undefined: true})
	out := b.alloc(16)
	for _, tt := range []struct {
		kernel string
		arg    uint64
		want   uint32
	}{{"shift", 31, 1 << 31}, {"overflow", 1<<31 - 2, 1<<31 - 1}, {"bounds", 3, 3}, {"divide", 1<<64 - 7, 1<<32 - 1}} {
		b.launch(tt.kernel, 1, 1, uint64(out), tt.arg)
		equal(b, tt.kernel, download[uint32](b, uint64(out), 1), []uint32{tt.want})
	}
}

// A launch of more threads than __launch_bounds__ allows is an error, as on a device.
func TestLaunchBounds(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{})
	out := b.alloc(4 * 64)
	b.launch("few", 1, 48, uint64(out))
	if err := b.try("few", 1, 49, 0, uint64(out)); err == nil || !strings.Contains(err.Error(), "1 to 48 threads") {
		t.Errorf("got %v", err)
	}
}
