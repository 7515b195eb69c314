//go:build linux && cgo

package emu

import (
	"errors"
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// BenchmarkThread says what a CUDA thread costs on one OS thread, in nanoseconds, next to what it
// computes.
func BenchmarkThread(b *testing.B) {
	for _, v := range []variant{
		{name: "switch"},
		{name: "portable", options: Options{portable: true}},
		{name: "undefined", undefined: true},
	} {
		for _, kernel := range []string{"empty", "shuffle", "barrier"} {
			b.Run(v.name+"/"+kernel, func(b *testing.B) { benchmarkThread(b, v, kernel) })
		}
	}
}

func benchmarkThread(b *testing.B, v variant, name string) {
	const grid, block = 256, 256
	v.options.Threads = 1
	d, err := Open(v.options)
	if err != nil {
		b.Fatal(err)
	}
	s, err1 := d.NewStream()
	m, err2 := d.Load(compiled(b, "cost.cu", v.undefined))
	f, err3 := d.Function(m, name)
	p, err4 := d.Alloc(s, 4)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := d.Launch(s, f, driver.Dim{Grid: grid, Block: block}, driver.Words(uint64(p))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(grid*block), "ns/thread")
	if err := errors.Join(d.Free(s, p), d.Unload(m), d.CloseStream(s), d.Close()); err != nil {
		b.Fatal(err)
	}
}
