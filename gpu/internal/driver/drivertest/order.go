package drivertest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

func testIdleStream(b *bench) {
	for range 3 {
		b.must("Synchronize", b.Synchronize(b.newStream()))
	}
	seen := map[driver.Stream]bool{b.stream: true}
	for range 8 {
		s := b.newStream()
		if s == 0 || seen[s] {
			b.Errorf("NewStream gives %#x again", s)
		}
		seen[s] = true
	}
	p := b.alloc(1)
	if err := b.Fill(0, p, 1, 1); err == nil {
		b.Error("the zero stream takes work")
	}
}

// Each goroutine has a stream, memory and a launch sequence of its own, all on one module.
func testConcurrentStreams(b *bench) {
	const workers, rounds, n = 4, 20, 1000
	ordinal, step := b.kernel("ordinal"), b.kernel("step")
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for r := range rounds {
				if errs[w] = concurrentRound(b.Driver, ordinal, step, n, uint64(w*rounds+r)); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for w, err := range errs {
		if err != nil {
			b.Errorf("worker %d: %v", w, err)
		}
	}
}

// concurrentRound numbers n words and steps the first two of them once, on a stream of its own.
func concurrentRound(d driver.Driver, ordinal, step driver.Function, n int, term uint64) (err error) {
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	s, e := d.NewStream()
	if e != nil {
		return e
	}
	defer func() { keep(d.CloseStream(s)) }()
	bytes := int64(4 * n)
	p, e := d.Alloc(s, bytes)
	if e != nil {
		return e
	}
	defer func() { keep(d.Free(s, p)) }()
	out := make([]byte, bytes)
	keep(d.Fill(s, p, untouched, bytes))
	keep(d.Launch(s, ordinal, driver.Dim{Grid: (n + 127) / 128, Block: 128}, driver.Words(uint64(p), uint64(n))))
	keep(d.Launch(s, step, driver.Dim{Grid: 1, Block: 1}, driver.Words(uint64(p), 5, term)))
	keep(d.ToHost(s, unsafe.Pointer(&out[0]), p, bytes))
	keep(d.Synchronize(s))
	if err != nil {
		return err
	}
	if got, want := binary.LittleEndian.Uint64(out), (2<<32+1)*5+term; got != want {
		return fmt.Errorf("the first two words are %#x, want %#x", got, want)
	}
	for i := 2; i < n; i++ {
		if got := binary.LittleEndian.Uint32(out[4*i:]); got != uint32(i)+1 {
			return fmt.Errorf("word %d is %#x, want %#x", i, got, i+1)
		}
	}
	return nil
}

// A second stream copies what a slow kernel of the first has written, then the first overwrites it
// when that copy is done:
//
//	first   slow_write ─ e1 ─────────────── wait e2 ─ fill
//	second               wait e1 ─ copy ─ e2
func testEventOrder(b *bench) {
	const n, rounds = 4096, 200_000
	second, e1, e2 := b.newStream(), b.newEvent(), b.newEvent()
	f := b.kernel("slow_write")
	from, to := b.alloc(n), b.alloc(n)
	for value := byte(1); value < 4; value++ { // an event may be recorded again
		b.launch(f, driver.Dim{Grid: 1, Block: 1}, uint64(from), n, rounds, uint64(value))
		b.must("Record", b.Record(e1, b.stream))
		b.must("Wait", b.Wait(second, e1))
		b.must("Copy", b.Copy(second, to, from, n))
		b.must("Record", b.Record(e2, second))
		b.must("Wait", b.Wait(b.stream, e2))
		b.must("Fill", b.Fill(b.stream, from, 0, n))
		b.must("Await", b.Await(e2))
		b.equal("what the second stream copied", b.download(to, n), bytes.Repeat([]byte{value}, n))
		b.equal("what the first stream filled", b.download(from, n), make([]byte, n))
	}
}

func testElapsed(b *bench) {
	from, to := b.newEvent(), b.newEvent()
	p := b.alloc(1)
	b.must("Record", b.Record(from, b.stream))
	b.launch(b.kernel("slow_write"), driver.Dim{Grid: 1, Block: 1}, uint64(p), 1, 100_000, 1)
	b.must("Record", b.Record(to, b.stream))
	b.must("Await", b.Await(to))
	d, err := b.Elapsed(from, to)
	b.must("Elapsed", err)
	if d < 0 {
		b.Errorf("%v passed between an event and a later one", d)
	}
}
