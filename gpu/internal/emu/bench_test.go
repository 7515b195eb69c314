//go:build linux && cgo

package emu

import (
	"os"
	"sync"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// A variant is one way to execute kernels. Results must not depend on it.
type variant struct {
	name      string
	options   Options
	undefined bool
}

func variants() []variant {
	return []variant{
		{name: "in order"},
		{name: "one OS thread", options: Options{Threads: 1}},
		{name: "many OS threads", options: Options{Threads: 7}},
		{name: "reverse", options: Options{Order: Reverse}},
		{name: "shuffled", options: Options{Order: Shuffled(1)}},
		{name: "shuffled otherwise", options: Options{Order: Shuffled(20261121), Threads: 3}},
		{name: "portable", options: Options{portable: true}},
		{name: "undefined", undefined: true},
	}
}

// eachVariant runs f with the kernels of testdata/<file> in every variant.
func eachVariant(t *testing.T, file string, f func(b *bench)) {
	t.Helper()
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) { f(newBench(t, file, v)) })
	}
}

// bench is an open device with one stream and the kernels of one file. It is closed when the test
// ends, which fails if something is left.
type bench struct {
	*testing.T
	driver.Driver
	stream driver.Stream
	module driver.Module
}

func newBench(t *testing.T, file string, v variant) *bench {
	t.Helper()
	d, err := Open(v.options)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, Driver: d}
	t.Cleanup(func() { b.must(d.Close()) })
	b.stream, err = d.NewStream()
	b.must(err)
	t.Cleanup(func() { b.must(d.CloseStream(b.stream)) })
	b.module, err = d.Load(compiled(t, file, v.undefined))
	b.must(err)
	t.Cleanup(func() { b.must(d.Unload(b.module)) })
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) kernel(name string) driver.Function {
	b.Helper()
	f, err := b.Function(b.module, name)
	b.must(err)
	return f
}

// try launches a kernel and gives its error.
func (b *bench) try(name string, grid, block, shared int, args ...uint64) error {
	b.Helper()
	d := driver.Dim{Grid: grid, Block: block, SharedBytes: shared}
	return b.Launch(b.stream, b.kernel(name), d, driver.Words(args...))
}

func (b *bench) launch(name string, grid, block int, args ...uint64) {
	b.Helper()
	b.must(b.try(name, grid, block, 0, args...))
}

// alloc gives n zero bytes of device memory until the test ends.
func (b *bench) alloc(n int) driver.Ptr {
	b.Helper()
	p, err := b.Alloc(b.stream, int64(n))
	b.must(err)
	b.Cleanup(func() { b.must(b.Free(b.stream, p)) })
	b.must(b.Fill(b.stream, p, 0, int64(n)))
	return p
}

func upload[T any](b *bench, values []T) uint64 {
	b.Helper()
	n := len(values) * int(unsafe.Sizeof(values[0]))
	p := b.alloc(n)
	b.must(b.ToDevice(b.stream, p, unsafe.Pointer(&values[0]), int64(n)))
	return uint64(p)
}

func download[T any](b *bench, p uint64, n int) []T {
	b.Helper()
	values := make([]T, n)
	b.must(b.ToHost(b.stream, unsafe.Pointer(&values[0]), driver.Ptr(p), int64(n)*int64(unsafe.Sizeof(values[0]))))
	return values
}

// equal says where got and want differ first.
func equal[T uint32 | int32 | uint64 | int64 | byte](b *bench, what string, got, want []T) {
	b.Helper()
	if len(got) != len(want) {
		b.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			b.Fatalf("%s: value %d is %#x, want %#x", what, i, got[i], want[i])
		}
	}
}

// images holds each file of testdata compiled once for all tests.
var images sync.Map

type imageKey struct {
	file      string
	undefined bool
}

func compiled(t testing.TB, file string, undefined bool) []byte {
	t.Helper()
	make := sync.OnceValues(func() ([]byte, error) {
		c, err := NewCompiler(CompilerOptions{Undefined: undefined})
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			return nil, err
		}
		image, log, err := c.Compile(driver.Source{Name: file, Text: string(text)}, Arch)
		if log != "" {
			t.Errorf("%s: the compiler said:\n%s", file, log)
		}
		return image, err
	})
	once, _ := images.LoadOrStore(imageKey{file, undefined}, make)
	image, err := once.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	return image
}
