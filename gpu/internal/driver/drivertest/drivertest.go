// Package drivertest is the contract of package driver as tests: every Driver and its Compiler must
// pass Run, on a device or without one. It asks only for what driver.go promises, so it holds for
// drivers that do work at once and for those that queue it. It refuses no speed and asserts no
// time.
package drivertest

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// Run tests the driver that open gives, together with the compiler of its images. open is called
// once for each subtest, fails or skips it where there is no device, and leaves closing to Run: a
// driver that counts what is still open at Close finds leaks. One subtest allocates twice the
// device's memory in all, so where open may choose, 256 MiB are enough.
func Run(t *testing.T, open func(t *testing.T) driver.Driver, compiler driver.Compiler) {
	tests := []struct {
		name string
		run  func(*bench)
	}{
		{"info", testInfo},
		{"alloc/aligned-and-apart", testAlloc},
		{"alloc/freed-memory-is-given-again", testAllocAgain},
		{"alloc/freed-by-another-stream", testFreeElsewhere},
		{"alloc/host", testAllocHost},
		{"alloc/too-much", testAllocTooMuch},
		{"copy/pageable", testCopyPageable},
		{"copy/pinned", testCopyPinned},
		{"copy/device", testCopyDevice},
		{"copy/none", testCopyNone},
		{"fill", testFill},
		{"launch/shapes", testShapes},
		{"launch/argument-widths", testArgumentWidths},
		{"launch/many-arguments", testManyArguments},
		{"launch/struct-arguments", testStructArguments},
		{"launch/wrong-arguments", testWrongArguments},
		{"launch/static-shared-memory", testStaticShared},
		{"launch/dynamic-shared-memory", testDynamicShared},
		{"launch/in-order", testLaunchOrder},
		{"launch/refused", testLaunchRefused},
		{"module/resources", testResources},
		{"module/globals-of-each-load", testGlobals},
		{"module/no-such-function", testNoFunction},
		{"module/bad-image", testBadImage},
		{"compile/headers-and-defines", testHeaders},
		{"compile/syntax-error", testSyntaxError},
		{"stream/idle", testIdleStream},
		{"stream/concurrent", testConcurrentStreams},
		{"event/orders-streams", testEventOrder},
		{"event/elapsed", testElapsed},
	}
	image := compileKernels(t, open, compiler)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t)
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			b := &bench{T: t, Driver: d, compiler: compiler, image: image}
			b.stream = b.newStream()
			tt.run(b)
		})
	}
}

// compileKernels makes the image of the contract's kernels for the architecture that open's device
// has.
func compileKernels(t *testing.T, open func(t *testing.T) driver.Driver, compiler driver.Compiler) []byte {
	t.Helper()
	d := open(t)
	arch := d.Info().Arch
	if err := d.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	image, log, err := compiler.Compile(driver.Source{Name: "contract.cu", Text: kernels}, arch)
	if err != nil {
		t.Fatalf("compile for %s: %v", arch, err)
	}
	if log != "" {
		t.Logf("the compiler said:\n%s", log)
	}
	return image
}

// bench is one open device with a stream and the contract's kernels. What its methods give is
// closed when the subtest ends.
type bench struct {
	*testing.T
	driver.Driver
	compiler driver.Compiler
	image    []byte
	stream   driver.Stream
	module   driver.Module // 0 until a kernel is asked for
}

// must ends the subtest on an error of call.
func (b *bench) must(call string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", call, err)
	}
}

// closing looks at the error of what a cleanup closes.
func (b *bench) closing(call string, err error) {
	b.Helper()
	if err != nil {
		b.Errorf("%s: %v", call, err)
	}
}

func (b *bench) newStream() driver.Stream {
	b.Helper()
	s, err := b.NewStream()
	b.must("NewStream", err)
	b.Cleanup(func() { b.closing("CloseStream", b.CloseStream(s)) })
	return s
}

func (b *bench) newEvent() driver.Event {
	b.Helper()
	e, err := b.NewEvent()
	b.must("NewEvent", err)
	b.Cleanup(func() { b.closing("CloseEvent", b.CloseEvent(e)) })
	return e
}

// alloc returns device memory whose bytes are all 0xEE, so that a byte written by mistake shows.
func (b *bench) alloc(n int) driver.Ptr {
	b.Helper()
	p, err := b.Alloc(b.stream, int64(n))
	b.must("Alloc", err)
	b.Cleanup(func() { b.closing("Free", b.Free(b.stream, p)) })
	b.must("Fill", b.Fill(b.stream, p, untouched, int64(n)))
	return p
}

// untouched is what alloc fills memory with.
const untouched = 0xEE

// pinned returns n bytes of page-locked memory.
func (b *bench) pinned(n int) []byte {
	b.Helper()
	p, err := b.AllocHost(int64(n))
	b.must("AllocHost", err)
	b.Cleanup(func() { b.closing("FreeHost", b.FreeHost(p)) })
	return unsafe.Slice((*byte)(p), n)
}

// upload returns a copy of data on the device.
func (b *bench) upload(data []byte) driver.Ptr {
	b.Helper()
	p := b.alloc(len(data))
	b.must("ToDevice", b.ToDevice(b.stream, p, unsafe.Pointer(&data[0]), int64(len(data))))
	return p
}

// download returns n bytes from p once the work given to the bench's stream is done.
func (b *bench) download(p driver.Ptr, n int) []byte {
	b.Helper()
	out := make([]byte, n)
	b.must("ToHost", b.ToHost(b.stream, unsafe.Pointer(&out[0]), p, int64(n)))
	b.must("Synchronize", b.Synchronize(b.stream))
	return out
}

// kernel returns a function of the contract's kernels.
func (b *bench) kernel(name string) driver.Function {
	b.Helper()
	if b.module == 0 {
		b.module = b.load(b.image)
	}
	f, err := b.Function(b.module, name)
	b.must("Function "+name, err)
	return f
}

func (b *bench) load(image []byte) driver.Module {
	b.Helper()
	m, err := b.Load(image)
	b.must("Load", err)
	b.Cleanup(func() { b.closing("Unload", b.Unload(m)) })
	return m
}

// launch queues a kernel on the bench's stream.
func (b *bench) launch(f driver.Function, d driver.Dim, args ...uint64) {
	b.Helper()
	b.must("Launch", b.Launch(b.stream, f, d, driver.Words(args...)))
}

// equal compares bytes and says where they part.
func (b *bench) equal(what string, got, want []byte) {
	b.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	b.Fatalf("%s: got %d bytes, want %d, they part at byte %d: got % x, want % x",
		what, len(got), len(want), i, got[i:min(i+16, len(got))], want[i:min(i+16, len(want))])
}

// pattern returns n bytes that depend on their place and on seed.
func pattern(n, seed int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(uint32(i+seed) * 2654435761 >> 24)
	}
	return out
}
