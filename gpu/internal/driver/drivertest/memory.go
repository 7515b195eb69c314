package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// sizes of copies and fills in bytes: around a vector, a warp, a page, and one that is no multiple
// of anything.
var sizes = []int{1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 4095, 4096, 4097, 1<<20 + 13}

func testInfo(b *bench) {
	i := b.Info()
	switch {
	case i.Name == "", i.Arch == "":
		b.Errorf("a device without name or architecture: %+v", i)
	case i.Multiprocessors < 1, i.MemoryBytes < 1<<20:
		b.Errorf("a device without multiprocessors or memory: %+v", i)
	case i.SharedBytes < 48<<10:
		b.Errorf("%d bytes of shared memory a block, want 48 KiB at least", i.SharedBytes)
	}
	if again := b.Info(); again != i {
		b.Errorf("Info changed from %+v to %+v", i, again)
	}
}

// Each allocation is marked over its whole length, so two that overlap destroy each other's mark.
func testAlloc(b *bench) {
	ptrs := make([]driver.Ptr, len(sizes))
	for i, n := range sizes {
		ptrs[i] = b.alloc(n)
		if ptrs[i] == 0 || ptrs[i]%16 != 0 {
			b.Errorf("Alloc of %d bytes: %#x is not aligned to 16 bytes", n, uint64(ptrs[i]))
		}
		b.must("Fill", b.Fill(b.stream, ptrs[i], byte(i), int64(n)))
	}
	for i, n := range sizes {
		b.equal(fmt.Sprintf("allocation of %d bytes", n), b.download(ptrs[i], n), bytes.Repeat([]byte{byte(i)}, n))
	}
}

// Twice the device's memory in all: where Free does nothing, Alloc runs out.
func testAllocAgain(b *bench) {
	n := b.Info().MemoryBytes / 16
	for range 32 {
		p, err := b.Alloc(b.stream, n)
		b.must("Alloc", err)
		b.must("Fill", b.Fill(b.stream, p, 1, 16))
		b.must("Free", b.Free(b.stream, p))
	}
	b.must("Synchronize", b.Synchronize(b.stream))
	b.must("Trim", b.Trim())
	b.must("Trim with nothing to give back", b.Trim())
}

func testFreeElsewhere(b *bench) {
	other, e := b.newStream(), b.newEvent()
	p, err := b.Alloc(b.stream, 4096)
	b.must("Alloc", err)
	b.must("Fill", b.Fill(b.stream, p, 7, 4096))
	b.must("Record", b.Record(e, b.stream))
	b.must("Wait", b.Wait(other, e))
	b.must("Free", b.Free(other, p))
	b.must("Synchronize", b.Synchronize(other))
}

func testAllocHost(b *bench) {
	for _, n := range sizes {
		m := b.pinned(n)
		copy(m, pattern(n, 0)) // the host may write all of it
		b.equal("pinned memory", m, pattern(n, 0))
	}
}

func testAllocTooMuch(b *bench) {
	for _, n := range []int64{b.Info().MemoryBytes * 2, 1 << 50} {
		p, err := b.Alloc(b.stream, n)
		if !errors.Is(err, driver.ErrMemory) {
			b.Errorf("Alloc of %d bytes gives %#x and %v, want ErrMemory", n, uint64(p), err)
		}
	}
	// It is an answer, not a fault: the device goes on.
	p := b.upload(pattern(100, 1))
	b.equal("a copy after ErrMemory", b.download(p, 100), pattern(100, 1))
}

// Pageable memory may be changed as soon as ToDevice returns, and holds the bytes as soon as ToHost
// returns.
func testCopyPageable(b *bench) {
	for _, n := range sizes {
		want := pattern(n, n)
		text := bytes.Clone(want)
		p := b.alloc(n)
		b.must("ToDevice", b.ToDevice(b.stream, p, unsafe.Pointer(&text[0]), int64(n)))
		clear(text)
		runtime.KeepAlive(text)
		got := make([]byte, n)
		b.must("ToHost", b.ToHost(b.stream, unsafe.Pointer(&got[0]), p, int64(n)))
		b.equal(fmt.Sprintf("%d bytes there and back", n), got, want)
	}
}

func testCopyPinned(b *bench) {
	for _, n := range sizes {
		up, down := b.pinned(n), b.pinned(n)
		copy(up, pattern(n, 5))
		p := b.alloc(n)
		b.must("ToDevice", b.ToDevice(b.stream, p, unsafe.Pointer(&up[0]), int64(n)))
		b.must("ToHost", b.ToHost(b.stream, unsafe.Pointer(&down[0]), p, int64(n)))
		b.must("Synchronize", b.Synchronize(b.stream))
		b.equal(fmt.Sprintf("%d pinned bytes there and back", n), down, pattern(n, 5))
	}
}

// From and to every alignment, with untouched bytes before and after.
//
//	to  EE EE EE d0 d1 ... dn EE EE EE ...
//	    |- off -|
func testCopyDevice(b *bench) {
	const n = 300
	want := pattern(2*n, 9)
	from := b.upload(want)
	for off := range 17 {
		to := b.alloc(2 * n)
		b.must("Copy", b.Copy(b.stream, to+driver.Ptr(off), from+driver.Ptr(16-off), n))
		all := bytes.Repeat([]byte{untouched}, 2*n)
		copy(all[off:], want[16-off:][:n])
		b.equal(fmt.Sprintf("copy from offset %d to %d", 16-off, off), b.download(to, 2*n), all)
	}
}

func testCopyNone(b *bench) {
	p, q := b.alloc(16), b.alloc(16)
	host := []byte{1}
	b.must("ToDevice of 0 bytes", b.ToDevice(b.stream, p, unsafe.Pointer(&host[0]), 0))
	b.must("ToHost of 0 bytes", b.ToHost(b.stream, unsafe.Pointer(&host[0]), p, 0))
	b.must("Copy of 0 bytes", b.Copy(b.stream, q, p, 0))
	b.must("Fill of 0 bytes", b.Fill(b.stream, p, 3, 0))
	b.equal("memory after copies of nothing", b.download(p, 16), bytes.Repeat([]byte{untouched}, 16))
	b.equal("host memory after a copy of nothing", host, []byte{1})
}

func testFill(b *bench) {
	for _, n := range sizes {
		for i, value := range []byte{0, 0xff, 0x5a} {
			p := b.alloc(n + 8)
			b.must("Fill", b.Fill(b.stream, p+driver.Ptr(i), value, int64(n)))
			want := bytes.Repeat([]byte{untouched}, n+8)
			copy(want[i:], bytes.Repeat([]byte{value}, n))
			b.equal(fmt.Sprintf("%d bytes of %#x at offset %d", n, value, i), b.download(p, n+8), want)
		}
	}
}
