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

// A graph of a copy from the host, a fill, two launches and a copy to the host. Nothing happens
// while it is recorded.
func testReplay(b *bench) {
	in, out := b.pinned(8), b.pinned(16)
	value, flags := b.alloc(8), b.alloc(8)
	step := b.kernel("step")
	b.must("Synchronize", b.Synchronize(b.stream))
	b.must("Capture", b.Capture(b.stream))
	b.must("ToDevice", b.ToDevice(b.stream, value, unsafe.Pointer(&in[0]), 8))
	b.must("Fill", b.Fill(b.stream, flags, 0x11, 8))
	b.launch(step, driver.Dim{Grid: 1, Block: 1}, uint64(value), 10, 3)
	b.launch(step, driver.Dim{Grid: 1, Block: 1}, uint64(value), 100, 4)
	b.must("ToHost", b.ToHost(b.stream, unsafe.Pointer(&out[0]), value, 8))
	b.must("ToHost", b.ToHost(b.stream, unsafe.Pointer(&out[8]), flags, 8))
	g, err := b.EndCapture(b.stream)
	b.must("EndCapture", err)
	b.Cleanup(func() { b.closing("CloseGraph", b.CloseGraph(g)) })

	b.equal("memory before the first replay", b.download(value, 8), bytes.Repeat([]byte{untouched}, 8))
	other := b.newStream() // a graph may be replayed on any stream
	for i, s := range []driver.Stream{b.stream, other, b.stream} {
		binary.LittleEndian.PutUint64(in, uint64(i))
		b.must("Replay", b.Replay(s, g))
		b.must("Synchronize", b.Synchronize(s))
		got := words64(out)
		if want := (uint64(i)*10+3)*100 + 4; got[0] != want || got[1] != 0x1111111111111111 {
			b.Errorf("replay %d gives %d and %#x, want %d", i, got[0], got[1], want)
		}
	}
}

// A recorded launch keeps its arguments, whatever happens to the caller's slice.
func testReplayArguments(b *bench) {
	p := b.upload(make([]byte, 8))
	args := driver.Words(uint64(p), 1, 5)
	step := b.kernel("step")
	b.must("Synchronize", b.Synchronize(b.stream))
	b.must("Capture", b.Capture(b.stream))
	b.must("Launch", b.Launch(b.stream, step, driver.Dim{Grid: 1, Block: 1}, args))
	g, err := b.EndCapture(b.stream)
	b.must("EndCapture", err)
	clear(args.Words)
	for range 4 {
		b.must("Replay", b.Replay(b.stream, g))
	}
	b.must("Synchronize", b.Synchronize(b.stream))
	b.must("CloseGraph", b.CloseGraph(g))
	if got := words64(b.download(p, 8))[0]; got != 20 {
		b.Errorf("four replays give %d, want 20", got)
	}
}
