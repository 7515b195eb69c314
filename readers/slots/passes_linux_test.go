package slots

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers/internal/bulk"
)

// BenchmarkPasses measures how fast the bytes of a file go through this host, pass by pass and all
// passes together, without a kernel: what no engine can be faster than.
//
//	page cache -> ring -> GPU      one byte per byte of text
//	GPU -> results -> table        columnsShare of it
//
// VIBEFLIGHT_BENCH_FILE names the file, which should be in the page cache; without it there is a
// short one. VIBEFLIGHT_BENCH_GPUS is the number of GPUs, 1 if it is not set. Each line has the
// median of three runs, in bytes of text for passes over the file.
func BenchmarkPasses(b *testing.B) {
	h := openHost(b)
	for _, w := range flows {
		for devices := 1; devices <= len(h.devices); devices++ {
			w.devices = devices
			b.Run(w.String(), func(b *testing.B) { report(b, h.size, func() time.Duration { return h.flow(b, w) }) })
		}
	}
	for _, threads := range []int{1, 4, 8, 16} {
		for _, m := range moves {
			b.Run(fmt.Sprintf("%s/threads=%d", m.name, threads), func(b *testing.B) {
				report(b, moveBytes, func() time.Duration { return m.run(b, threads) })
			})
		}
	}
}

const (
	columnsShare = 0.37      // bytes of columns per byte of polygons' text
	moveBytes    = 512 << 20 // of passes without a file
	chunkText    = 40 << 20  // of a chunk
	movePiece    = 3 << 20   // that a thread copies at a time: a slice of a column
	hotBytes     = 64 << 20  // that stay in a processor's cache, mostly
)

// flow is a set of passes over a file, which run side by side.
type flow struct {
	name    string
	devices int
	readers int // of each device
	buffer  int // bytes of a page-locked buffer, of which a reader has two
	read    bool
	up      bool
	copiers int // of each device, each with a chunk's results; 0: nothing comes back
	chunk   int // text of a chunk; 0: chunkText
	to      destination
	alone   bool // the host's part: the device moves nothing
}

// destination is what columns are copied to.
type destination string

const (
	nowhere   destination = "nowhere"       // they stay in page-locked memory
	used      destination = "used memory"   // which the process had before
	faulted   destination = "new memory"    // mapped in by faults
	populated destination = "populated"     // new, mapped in by a call before each copy
	huge      destination = "huge pages"    // new, mapped in by faults of huge pages
	locked    destination = "locked memory" // page-locked: the device writes there, and no one copies
)

// flows are what the engine does, in parts, and with other sizes.
var flows = []flow{
	{name: "read", readers: 10, buffer: 4 << 20, read: true},
	{name: "up", readers: 10, buffer: 4 << 20, up: true},
	{name: "read+up", readers: 10, buffer: 4 << 20, read: true, up: true},
	{name: "down", copiers: 6, to: nowhere},
	{name: "down+copy", copiers: 6, to: used},
	{name: "all", readers: 10, buffer: 4 << 20, read: true, up: true, copiers: 6, to: used},
	// what the threads of one device, two and four do
	{name: "read+copy", readers: 10, buffer: 4 << 20, read: true, copiers: 6, to: used, alone: true},
	{name: "read+copy", readers: 20, buffer: 4 << 20, read: true, copiers: 12, to: used, alone: true},
	{name: "read+copy", readers: 20, buffer: 2 << 20, read: true, copiers: 12, to: used, alone: true},
	{name: "read+copy", readers: 20, buffer: 1 << 20, read: true, copiers: 12, to: used, alone: true},
	{name: "read+copy", readers: 40, buffer: 4 << 20, read: true, copiers: 24, to: used, alone: true},
	{name: "read", readers: 20, buffer: 4 << 20, read: true},
	{name: "read", readers: 20, buffer: 1 << 20, read: true},
	{name: "read+up", readers: 20, buffer: 4 << 20, read: true, up: true},
	{name: "read+up", readers: 10, buffer: 1 << 20, read: true, up: true},
	{name: "read+up+down", readers: 10, buffer: 4 << 20, read: true, up: true, copiers: 6, to: nowhere},
	{name: "all", readers: 20, buffer: 4 << 20, read: true, up: true, copiers: 12, to: used},
	{name: "all", readers: 10, buffer: 2 << 20, read: true, up: true, copiers: 6, to: used},
	{name: "all", readers: 10, buffer: 1 << 20, read: true, up: true, copiers: 6, to: used},
	{name: "all", readers: 10, buffer: 4 << 20, read: true, up: true, copiers: 6, to: used, chunk: 8 << 20},
	{name: "all", readers: 10, buffer: 4 << 20, read: true, up: true, copiers: 6, to: locked},
	{name: "all", readers: 10, buffer: 4 << 20, read: true, up: true, copiers: 6, to: faulted},
	{name: "all", readers: 10, buffer: 4 << 20, read: true, up: true, copiers: 6, to: populated},
	{name: "all", readers: 10, buffer: 4 << 20, read: true, up: true, copiers: 6, to: huge},
}

func (w flow) String() string {
	s := fmt.Sprintf("%s/devices=%d", w.name, w.devices)
	if w.readers > 0 {
		s += fmt.Sprintf("/readers=%d/buffer=%dKiB", w.readers, w.buffer>>10)
	}
	if w.copiers > 0 {
		s += fmt.Sprintf("/copiers=%d/chunk=%dMiB/to=%s", w.copiers, cmp.Or(w.chunk, chunkText)>>20, w.to)
	}
	return s
}

// host is a file and the devices.
type host struct {
	devices []*gpu.Device
	file    *os.File
	size    int64
}

func openHost(b *testing.B) *host {
	h := &host{}
	name := os.Getenv("VIBEFLIGHT_BENCH_FILE")
	if name == "" {
		name = b.TempDir() + "/text"
		if err := os.WriteFile(name, make([]byte, 20<<20), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var err error
	if h.file, err = os.Open(name); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.file.Close() })
	info, err := h.file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	h.size = info.Size()
	devices, _ := strconv.Atoi(cmp.Or(os.Getenv("VIBEFLIGHT_BENCH_GPUS"), "1"))
	for i := range devices {
		d := gputest.OpenWith(b, gpu.Options{Ordinal: i})
		h.devices = append(h.devices, d)
	}
	return h
}

// report runs f three times, and reports the median.
func report(b *testing.B, bytes int64, f func() time.Duration) {
	var times []time.Duration
	for range 3 {
		times = append(times, f())
	}
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(times[1].Seconds()*1e3, "ms")
	b.ReportMetric(times[0].Seconds()*1e3, "ms-best")
	b.ReportMetric(float64(bytes)/1e9/times[1].Seconds(), "GB/s")
}

// must ends the benchmark at an error, which another goroutine may have.
func must(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Error(err)
	}
}

// flow moves the file once.
func (h *host) flow(b *testing.B, w flow) time.Duration {
	w.chunk = cmp.Or(w.chunk, chunkText)
	f := &transfer{flow: w, host: h, tokens: make(chan int, h.size/int64(w.chunk)+2)}
	f.piece = cmp.Or(w.buffer, 4<<20)
	f.pieces = (h.size + int64(f.piece) - 1) / int64(f.piece)
	f.columns = int(float64(w.chunk)*columnsShare) &^ 63
	chunks := int((h.size + int64(w.chunk) - 1) / int64(w.chunk))
	f.open(b, chunks)
	defer f.close(b)
	if w.readers == 0 { // nothing to wait for
		for i := range chunks {
			f.tokens <- i
		}
		close(f.tokens)
	}
	var readers, all sync.WaitGroup
	start := time.Now()
	for _, c := range f.on {
		for _, r := range c.readers {
			readers.Go(func() { f.readPieces(b, r) })
		}
		for _, s := range c.copiers {
			all.Go(func() { f.copyColumns(b, c, s) })
		}
	}
	readers.Wait()
	if w.readers > 0 {
		close(f.tokens)
	}
	all.Wait()
	return time.Since(start)
}

// transfer is a flow in progress.
type transfer struct {
	flow
	*host
	on      []*transferDevice
	piece   int   // bytes
	pieces  int64 // of the file
	columns int   // bytes of a chunk's columns
	next    atomic.Int64
	done    atomic.Int64 // pieces
	tokens  chan int     // chunks whose text is there
	table   []byte
	free    []func() error
}

// transferDevice is a device's part.
type transferDevice struct {
	readers []flowReader
	copiers []*gpu.Stream
	columns gpu.Buffer[byte] // on the device
	results pinnedStack
}

type flowReader struct {
	ring *gpu.Ring
	s    *gpu.Stream
	text gpu.Buffer[byte]
}

func (f *transfer) later(free func() error) { f.free = append(f.free, free) }

func (f *transfer) stream(b *testing.B, d *gpu.Device) *gpu.Stream {
	s, err := d.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	f.later(s.Close)
	return s
}

func (f *transfer) alloc(b *testing.B, s *gpu.Stream, n int) gpu.Buffer[byte] {
	m, err := gpu.Alloc[byte](s, n)
	if err != nil {
		b.Fatal(err)
	}
	f.later(func() error { return m.Free(s) })
	return m
}

func (f *transfer) pinned(b *testing.B, d *gpu.Device, n int) *gpu.PinnedBuffer {
	m, err := d.AllocPinned(n)
	if err != nil {
		b.Fatal(err)
	}
	f.later(m.Free)
	return m
}

func (f *transfer) open(b *testing.B, chunks int) {
	for _, d := range f.host.devices[:f.flow.devices] {
		c := &transferDevice{}
		f.on = append(f.on, c)
		for range f.readers {
			ring, err := d.NewRing(ringBuffers, f.piece)
			if err != nil {
				b.Fatal(err)
			}
			f.later(ring.Close)
			s := f.stream(b, d)
			c.readers = append(c.readers, flowReader{ring, s, f.alloc(b, s, f.piece)})
		}
		for range f.copiers {
			c.copiers = append(c.copiers, f.stream(b, d))
		}
		if f.copiers > 0 {
			c.columns = f.alloc(b, c.copiers[0], f.columns)
			must(b, gpu.Fill(c.copiers[0], c.columns, 1))
			for range f.copiers + 1 {
				c.results.push(f.pinned(b, d, f.columns))
			}
			must(b, c.copiers[0].Synchronize())
		}
	}
	if f.copiers > 0 && f.to != nowhere {
		f.openTable(b, chunks*f.columns)
	}
}

// openTable makes room for the columns.
func (f *transfer) openTable(b *testing.B, bytes int) {
	if f.to == locked {
		f.table = f.pinned(b, f.host.devices[0], bytes).Bytes()
		return
	}
	f.table = mapped(b, bytes, f.to == huge)
	f.later(func() error { return syscall.Munmap(f.table) })
	if f.to == used {
		touch(f.table)
	}
}

// mapped returns new memory.
func mapped(b *testing.B, bytes int, huge bool) []byte {
	const madvHugePage = 14
	m, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	if huge {
		_ = syscall.Madvise(m, madvHugePage)
	}
	return m
}

// touch maps all pages in.
func touch(m []byte) {
	shared(8, len(m), 8<<20, func(from, to int) {
		system.PopulateWrite(m[from:to])
		for i := from; i < to; i += pageBytes {
			m[i] = 1
		}
	})
}

// shared has threads apply a function to n bytes, piece by piece.
func shared(threads, n, piece int, do func(from, to int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for {
				from := int(next.Add(int64(piece))) - piece
				if from >= n {
					return
				}
				do(from, min(n, from+piece))
			}
		})
	}
	all.Wait()
}

func (f *transfer) close(b *testing.B) {
	for _, free := range slices.Backward(f.free) {
		must(b, free())
	}
}

// readPieces reads pieces of the file and uploads them, until none is left.
func (f *transfer) readPieces(b *testing.B, r flowReader) {
	perChunk := int64(f.chunk / f.piece)
	for {
		i := f.next.Add(1) - 1
		if i >= f.pieces {
			must(b, r.s.Synchronize())
			return
		}
		slot, err := r.ring.Take(b.Context())
		if err != nil {
			b.Error(err)
			return
		}
		at := i * int64(f.piece)
		n := int(min(int64(f.piece), f.size-at))
		if f.read {
			_, err = f.file.ReadAt(slot.Bytes[:n], at)
			must(b, err)
		}
		if f.up {
			must(b, gpu.Upload(r.s, r.text.Slice(0, n), slot.Bytes[:n]))
			must(b, slot.Give(r.s))
		} else {
			must(b, slot.Give(nil))
		}
		if done := f.done.Add(1); done%perChunk == 0 || done == f.pieces {
			f.tokens <- int((done - 1) / perChunk)
		}
	}
}

// copyColumns brings the columns of chunks back, and copies them.
func (f *transfer) copyColumns(b *testing.B, c *transferDevice, s *gpu.Stream) {
	for chunk := range f.tokens {
		at := chunk * f.columns
		if f.to == locked {
			must(b, gpu.Download(s, f.table[at:at+f.columns], c.columns))
			must(b, s.Synchronize())
			continue
		}
		m := c.results.pop()
		if !f.alone {
			must(b, gpu.Download(s, m.Bytes()[:f.columns], c.columns))
			must(b, s.Synchronize())
		}
		if f.to != nowhere {
			into := f.table[at : at+f.columns]
			if f.to == populated {
				populate(into)
			}
			for from := 0; from < len(into); from += movePiece {
				to := min(len(into), from+movePiece)
				bulk.Copy(into[from:to], m.Bytes()[from:to])
			}
		}
		c.results.push(m)
	}
}

// populate maps the whole pages of b in.
func populate(b []byte) { system.PopulateWrite(b[:len(b)&^(pageBytes-1)]) }

// move is a pass of the host alone.
type move struct {
	name string
	run  func(b *testing.B, threads int) time.Duration
}

// moves copy moveBytes, or map them in.
var moves = []move{
	{"copy through the caches", func(b *testing.B, n int) time.Duration {
		return moving(b, n, moveBytes, used, func(dst, src []byte) { copy(dst, src) })
	}},
	{"copy past the caches", func(b *testing.B, n int) time.Duration {
		return moving(b, n, moveBytes, used, bulk.Copy[byte])
	}},
	{"copy past the caches, from there", func(b *testing.B, n int) time.Duration {
		return moving(b, n, hotBytes, used, bulk.Copy[byte])
	}},
	{"copy from the caches to new memory", func(b *testing.B, n int) time.Duration {
		return moving(b, n, hotBytes, faulted, bulk.Copy[byte])
	}},
	{"copy from the caches to populated memory", func(b *testing.B, n int) time.Duration {
		return moving(b, n, hotBytes, populated, func(dst, src []byte) {
			populate(dst)
			bulk.Copy(dst, src)
		})
	}},
	{"copy from the caches to huge pages", func(b *testing.B, n int) time.Duration {
		return moving(b, n, hotBytes, huge, bulk.Copy[byte])
	}},
	{"populate", func(b *testing.B, n int) time.Duration {
		return moving(b, n, hotBytes, faulted, func(dst, _ []byte) { populate(dst) })
	}},
	{"populate huge pages", func(b *testing.B, n int) time.Duration {
		return moving(b, n, hotBytes, huge, func(dst, _ []byte) { populate(dst) })
	}},
}

// moving has threads move moveBytes from a source of n bytes, over and over, to memory of a
// kind.
func moving(b *testing.B, threads, source int, to destination, do func(dst, src []byte)) time.Duration {
	src, dst := mapped(b, source, false), mapped(b, moveBytes, to == huge)
	defer func() { must(b, errors.Join(syscall.Munmap(src), syscall.Munmap(dst))) }()
	touch(src)
	if to == used {
		touch(dst)
	}
	piece := 3 << 20
	if to == huge {
		piece = 4 << 20
	}
	start := time.Now()
	shared(threads, moveBytes, piece, func(from, to int) {
		at := from % (source - piece + 1) &^ (pageBytes - 1)
		do(dst[from:to], src[at:at+to-from])
	})
	return time.Since(start)
}
