//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// session is a device, a stream and a kernel that does nothing.
func session(b *testing.B) (d driver.Driver, s driver.Stream, f driver.Function) {
	b.Helper()
	d = openDevice(b)
	image, _, err := compilerOf(b).Compile(driver.Source{
		Name: "idle.cu",
		Text: `extern "C" __global__ void idle(void* p, long long n, int k) {}`,
	}, d.Info().Arch)
	must(b, err)
	m, err := d.Load(image)
	must(b, err)
	f, err = d.Function(m, "idle")
	must(b, err)
	s, err = d.NewStream()
	must(b, err)
	b.Cleanup(func() {
		must(b, d.Synchronize(s))
		must(b, d.CloseStream(s))
		must(b, d.Unload(m))
		closeDevice(b, d)
	})
	b.ReportAllocs()
	return d, s, f
}

// What a call costs its caller; every thousandth waits, so that the queue does not fill.
func BenchmarkCalls(b *testing.B) {
	d, s, f := session(b)
	e, err := d.NewEvent()
	must(b, err)
	defer func() { must(b, d.CloseEvent(e)) }()
	p, err := d.Alloc(s, 64)
	must(b, err)
	defer func() { must(b, d.Free(s, p)) }()
	args := driver.Words(uint64(p), 1, 2)
	calls := []struct {
		name string
		call func() error
	}{
		{"Launch", func() error { return d.Launch(s, f, driver.Dim{Grid: 1, Block: 256}, args) }},
		{"Fill", func() error { return d.Fill(s, p, 0, 64) }},
		{"Record", func() error { return d.Record(e, s) }},
		{"AllocFree", func() error {
			q, err := d.Alloc(s, 1<<20)
			if err != nil {
				return err
			}
			return d.Free(s, q)
		}},
		{"LaunchSynchronize", func() error {
			if err := d.Launch(s, f, driver.Dim{Grid: 1, Block: 256}, args); err != nil {
				return err
			}
			return d.Synchronize(s)
		}},
		{"LaunchAwait", func() error {
			if err := d.Launch(s, f, driver.Dim{Grid: 1, Block: 256}, args); err != nil {
				return err
			}
			if err := d.Record(e, s); err != nil {
				return err
			}
			return d.Await(e)
		}},
	}
	for _, c := range calls {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := c.call(); err != nil {
					b.Fatal(err)
				}
				if i%1000 == 999 {
					must(b, d.Synchronize(s))
				}
			}
		})
	}
}

func BenchmarkToDevice(b *testing.B) {
	d, s, _ := session(b)
	for _, n := range []int64{256, 64 << 10, 64 << 20} {
		p, err := d.Alloc(s, n)
		must(b, err)
		pinned, err := d.AllocHost(n)
		must(b, err)
		pageable := make([]byte, n)
		for name, from := range map[string]unsafe.Pointer{"pinned": pinned, "pageable": unsafe.Pointer(&pageable[0])} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(n)
				for i := 0; b.Loop(); i++ {
					if err := d.ToDevice(s, p, from, n); err != nil {
						b.Fatal(err)
					}
					if i%100 == 99 {
						must(b, d.Synchronize(s))
					}
				}
				must(b, d.Synchronize(s))
			})
		}
		must(b, d.FreeHost(pinned))
		must(b, d.Free(s, p))
	}
}
