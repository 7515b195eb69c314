//go:build linux && cgo

package emu

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

var memorySizes = []int{1, 15, 16, 17, 4095, 4096, 4097, 1 << 20}

func TestMemoryIsPoisoned(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{})
	for _, n := range memorySizes {
		for range 2 { // the second time after memory that was written was freed
			p, err := b.Alloc(b.stream, int64(n))
			b.must(err)
			if p%16 != 0 {
				t.Errorf("%d bytes begin at %#x", n, p)
			}
			equal(b, "new memory", download[byte](b, uint64(p), n), slices.Repeat([]byte{poison}, n))
			b.must(b.Fill(b.stream, p, 1, int64(n)))
			b.must(b.Free(b.stream, p))
		}
	}
	b.must(b.Trim())
}

func TestMemoryLimit(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{options: Options{MemoryBytes: 1 << 20}})
	for range 3 { // what was freed is free
		p, err := b.Alloc(b.stream, 1<<20)
		b.must(err)
		if _, err := b.Alloc(b.stream, 1); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("a byte more: %v", err)
		}
		b.must(b.Free(b.stream, p))
	}
	if _, err := b.AllocHost(1<<20 + 1); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("page-locked memory: %v", err)
	}
	for _, n := range []int64{0, -1} {
		if _, err := b.Alloc(b.stream, n); err == nil {
			t.Errorf("%d bytes were given", n)
		}
	}
}

func TestCopiesOutsideOfMemory(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{})
	p, other, host := b.alloc(100), b.alloc(100), make([]byte, 200)
	for _, tt := range []struct {
		name string
		at   driver.Ptr
		n    int64
	}{
		{"one past the end", p, 101},
		{"from the last byte", p + 99, 2},
		{"before the start", p - 1, 1},
		{"at the end", p + 100, 1},
		{"far beyond", p, 1 << 40},
		{"negative", p, -1},
		{"nowhere", 0, 1},
		{"top of the addresses", ^driver.Ptr(0), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for call, err := range map[string]error{
				"ToDevice":  b.ToDevice(b.stream, tt.at, unsafe.Pointer(&host[0]), tt.n),
				"ToHost":    b.ToHost(b.stream, unsafe.Pointer(&host[0]), tt.at, tt.n),
				"Copy from": b.Copy(b.stream, other, tt.at, tt.n),
				"Copy to":   b.Copy(b.stream, tt.at, other, tt.n),
				"Fill":      b.Fill(b.stream, tt.at, 0, tt.n),
			} {
				if err == nil {
					t.Errorf("%s was not refused", call)
				}
			}
		})
	}
	b.must(b.Fill(b.stream, p+99, 1, 1))
	b.must(b.Fill(b.stream, p+100, 1, 0))
}

func TestFreeTwiceAndElsewhere(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{})
	p, err := b.Alloc(b.stream, 64)
	b.must(err)
	if b.Free(b.stream, p+16) == nil {
		t.Error("the middle of an allocation was freed")
	}
	b.must(b.Free(b.stream, p))
	if b.Free(b.stream, p) == nil {
		t.Error("freed twice")
	}
	host, err := b.AllocHost(64)
	b.must(err)
	b.must(b.FreeHost(host))
	if b.FreeHost(host) == nil {
		t.Error("page-locked memory was freed twice")
	}
}

// A write next to an allocation that stays on its pages is found when it is freed.
func TestFreeFindsWritesOutside(t *testing.T) {
	b := newBench(t, "wrong.cu", variant{})
	for _, tt := range []struct {
		name   string
		bytes  int64
		offset int64
		want   string
	}{
		{"before", 64, -1, "before its start"},
		{"long before", 64, -2000, "before its start"},
		{"behind", 65, 65, "past its end"},
		{"at its own last byte", 65, 64, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := b.Alloc(b.stream, tt.bytes)
			b.must(err)
			b.launch("poke", 1, 1, uint64(p)+uint64(tt.offset))
			err = b.Free(b.stream, p)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// faults are launches that end the process; a child process runs them.
func faults() []struct {
	name string
	run  func(b *bench, p driver.Ptr, out uint64)
} {
	touch := func(b *bench, at driver.Ptr, out uint64) { b.launch("touch", 1, 1, uint64(at), out) }
	return []struct {
		name string
		run  func(b *bench, p driver.Ptr, out uint64)
	}{
		{"past-end", func(b *bench, p driver.Ptr, out uint64) { touch(b, p+64, out) }},
		{"before-page", func(b *bench, p driver.Ptr, out uint64) { touch(b, p+64-4096-1, out) }},
		{"after-free", func(b *bench, _ driver.Ptr, out uint64) {
			q, err := b.Alloc(b.stream, 64)
			b.must(err)
			b.must(b.Free(b.stream, q))
			touch(b, q, out)
		}},
		{"null", func(b *bench, _ driver.Ptr, out uint64) { touch(b, 0, out) }},
		{"past-shared", func(b *bench, _ driver.Ptr, out uint64) { b.must(b.try("touch_shared", 1, 1, 64, 64, out)) }},
		{"deep-stack", func(b *bench, _ driver.Ptr, out uint64) { b.launch("deep", 1, 1, out, 1000) }},
	}
}

const faultVariable = "EMU_TEST_FAULT"

func TestFaults(t *testing.T) {
	if name := os.Getenv(faultVariable); name != "" {
		b := newBench(t, "wrong.cu", variant{options: Options{Threads: 1}})
		p, out := b.alloc(64), uint64(b.alloc(4))
		for _, f := range faults() {
			if f.name == name {
				f.run(b, p, out)
			}
		}
		os.Exit(0) // no fault
	}
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			child := exec.Command(os.Args[0], "-test.run=^TestFaults$")
			child.Env = append(os.Environ(), faultVariable+"="+f.name)
			out, err := child.CombinedOutput()
			text := string(out)
			if err == nil || !strings.Contains(text, "SIGSEGV") || !strings.Contains(text, "emu.(*device).launch") {
				t.Errorf("the child ended with %v and said:\n%.2000s", err, text)
			}
		})
	}
}

// What lies just inside does not fault.
func TestNoFault(t *testing.T) {
	eachVariant(t, "wrong.cu", func(b *bench) {
		p, out := b.alloc(64), uint64(b.alloc(4))
		b.must(b.Fill(b.stream, p+63, 9, 1))
		b.launch("touch", 1, 1, uint64(p)+63, out)
		equal(b, "the last byte", download[uint32](b, out, 1), []uint32{9})
		b.must(b.try("touch_shared", 1, 1, 64, 63, out))
		equal(b, "the last byte of shared memory", download[uint32](b, out, 1), []uint32{poison})
		b.launch("deep", 4, 64, out, 20)
		equal(b, "sum of 1 to 20", download[uint32](b, out, 1), []uint32{210})
	})
}
