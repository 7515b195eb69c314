package device_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// lines is a format whose rows are lines: the frame's tests need no more of one. A device reads no
// line that has one of the words below.
type lines struct {
	probe device.Probe
	kept  []*freeCounter // what Keep gave, by chunk
}

// What lines make a device do.
const (
	odd    = "odd"    // refuses
	late   = "late"   // refuses when all results are there
	broken = "broken" // fails
	lost   = "lost"   // is lost
	panics = "panics"
)

var errBroken = errors.New("broken")

func newLines(text string) *lines {
	return &lines{probe: device.Probe{
		Src: strings.NewReader(text), End: int64(len(text)), Back: 1,
		First: func(text []byte) int { return behind(bytes.IndexByte(text[:len(text)-1], '\n')) },
		Last:  func(text []byte) int { return behind(bytes.LastIndexByte(text[:len(text)-1], '\n')) },
	}}
}

// after returns the index after a line feed, or -1.
func behind(at int) int {
	if at < 0 {
		return -1
	}
	return at + 1
}

func (l *lines) Bounds(from, stop int64) (start, end int64, why string) {
	start, end, err := l.probe.Chunk(from, stop)
	if err != nil {
		return 0, 0, err.Error()
	}
	return start, end, ""
}

func (l *lines) Read(w *device.Work, part *readers.Part) {
	l.kept = append(l.kept, device.Keep[freeCounter](w))
	text := device.Result(w, w.Text)
	w.Await()
	if w.Stopped() {
		return
	}
	has := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	w.Accept(!has(odd), "an odd line")
	if has(panics) {
		panic("of the parser")
	}
	if has(broken) {
		w.Try(errBroken)
	}
	if has(lost) {
		w.Try(fmt.Errorf("%w: injected", gpu.ErrLost))
	}
	ends := device.Alloc[int64](w, 1)
	if w.Stopped() {
		return
	}
	w.Try(gpu.Fill(w.S, ends, 0))
	zero := device.Result(w, ends)
	for at := range text {
		if at == 0 || text[at-1] == '\n' {
			part.Starts = append(part.Starts, int64(at))
		}
	}
	part.Rows = int64(len(part.Starts))
	part.Columns = &geoarrow.Columns{Rows: len(part.Starts)}
	w.After(func() { part.To = zero[0] + int64(len(bytes.TrimRight(text, "\n"))) })
	w.After(func() { w.Accept(!has(late) || part.To == 0, "a line that is odd after all") })
}

// freeCounter counts how often it is freed, and what is next to it.
type freeCounter struct{ freed, others int }

func (k *freeCounter) Free(*gpu.Stream) error {
	k.freed++
	return nil
}

// parser is the CPU engine's reader: it takes down what it is asked.
type parser struct{ guesses []int64 }

func (c *parser) Guess(from, _ int64) readers.Part {
	c.guesses = append(c.guesses, from)
	return readers.Part{Start: from, Rows: 100}
}

func (c *parser) Read(from, stop, _ int64) (readers.Part, error) {
	return readers.Part{Start: from, Next: stop}, nil
}

// rig is an engine for lines on one device, and the faults that it reported.
type rig struct {
	pool   *slots.Pool
	engine *device.Engine
	cpu    *parser
	told   []string
}

const chunkBytes = 64

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{cpu: &parser{}}
	var err error
	r.pool, err = slots.Open([]*kernels.Set{readertest.Kernels(t)}, slots.Config{
		Fault: func(_ string, err error) { r.told = append(r.told, err.Error()) },
		Plan:  slots.Plan{ChunkBytes: chunkBytes, Slots: 2, Work: 1, ArenaBytes: 1 << 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.pool.Close(); err != nil {
			t.Error(err)
		}
	})
	r.engine = device.New(r.pool, nil)
	return r
}

func (r *rig) reader(t *testing.T, l *lines) readers.PartReader {
	return r.engine.File(t.Context(), l.probe.Src).Reader(r.cpu, l)
}

// TestGuess has a device read parts: all offsets are those of the file.
func TestGuess(t *testing.T) {
	r := newRig(t)
	reader := r.reader(t, newLines("head\none\ntwo\n\nthree\nfour\n"))
	part := reader.Guess(3, 12)
	if part.Start != 5 || part.Next != 13 || part.To != 12 || part.Rows != 2 || !slices.Equal(part.Starts,
		[]int64{5, 9}) || part.Failed || part.End || part.Summary.BytesRead != 8 {
		t.Fatalf("%+v, %+v", part, r.engine.Counts())
	}
	part.Release()
	part = reader.Guess(14, 100)
	if part.Start != 14 || part.Next != 20 || part.Rows != 1 {
		t.Errorf("the last line is the CPU engine's: %+v", part)
	}
	part.Release()
	if c := r.engine.Counts(); c.Chunks != 2 || c.Refused != 0 || c.Stages.ReadSeconds <= 0 ||
		c.Stages.UploadSeconds <= 0 || c.Stages.WorkSeconds <= 0 || len(r.cpu.guesses) != 0 {
		t.Errorf("%+v, the CPU engine was asked for %d", c, r.cpu.guesses)
	}
	if part := reader.Guess(20, 100); part.Rows != 100 || !slices.Equal(r.cpu.guesses, []int64{20}) {
		t.Errorf("%+v, the CPU engine was asked for %d, want the last line", part, r.cpu.guesses)
	}
	if c := r.engine.Counts(); c.Chunks != 2 || c.Refused != 0 || c.RefusedRows != 0 {
		t.Errorf("nothing was refused: %+v", c)
	}
	if part, err := reader.Read(5, 9, 1); err != nil || part.Start != 5 || part.Next != 9 {
		t.Errorf("what is known to be a row is the CPU engine's: %+v, %v", part, err)
	}
}

// TestGuessThatIsRefused has lines that a device does not read: the CPU engine does, and the next
// chunk finds all as it was.
func TestGuessThatIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name, word, reason string
		fault              string // that is told; "": none
	}{
		{"while it is read", odd, "an odd line", ""},
		{"when it is there", late, "a line that is odd after all", ""},
		{"because of the device", broken, "broken", "broken"},
		{"because it is long", strings.Repeat("x", 2<<20), "a chunk that ends in a long row", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			l := newLines("head\n" + tt.word + "\nplain\nplain\nlast\n")
			at := int64(len("head\n" + tt.word + "\n"))
			reader := r.reader(t, l)
			for range 20 { // more than there are pieces of page-locked memory, slots and arenas
				if part := reader.Guess(5, 6); part.Rows != 100 {
					t.Fatalf("%+v", part)
				}
				part := reader.Guess(at, at+1)
				if part.Start != at || part.Rows != 1 {
					t.Fatalf("%+v", part)
				}
				part.Release()
			}
			c := r.engine.Counts()
			want := readers.EngineCounts{
				Chunks: 20, Refused: 20, RefusedRows: 2000, Stages: c.Stages,
				Reason: tt.reason,
			}
			if tt.fault != "" {
				want.Faults = 20
			}
			if c != want || int64(len(r.told)) != want.Faults || len(r.told) > 0 && r.told[0] != tt.fault {
				t.Errorf("%+v, told %q, want %+v", c, r.told, want)
			}
		})
	}
}

// TestNobodyAsksForever has a device refuse all chunks of a file.
func TestNobodyAsksForever(t *testing.T) {
	r := newRig(t)
	l := newLines("head\nodd\nodd\nlast\n")
	reader := r.reader(t, l)
	for range 20 {
		reader.Guess(5, 6)
	}
	if c := r.engine.Counts(); c.Refused != 8 || len(l.kept) != 8 || c.RefusedRows != 2000 || len(r.cpu.guesses) != 20 {
		t.Errorf("%+v, asked %d times, the CPU engine %d times: want 8 and 20", c, len(l.kept), len(r.cpu.guesses))
	}
}

// TestPanicOfAParser: a panic is a fault, and is passed on to the caller that guards the guess; the
// slot stays usable.
func TestPanicOfAParser(t *testing.T) {
	r := newRig(t)
	reader := r.reader(t, newLines("head\npanics\nplain\nlast\n"))
	for range 20 {
		func() {
			defer func() {
				if p := recover(); p != "of the parser" {
					t.Errorf("recovered %v", p)
				}
			}()
			part := reader.Guess(5, 6)
			t.Errorf("%+v", part)
		}()
	}
	part := reader.Guess(12, 13)
	if c := r.engine.Counts(); part.Start != 12 || c.Faults != 20 || len(r.told) != 20 ||
		!strings.HasPrefix(r.told[0], "panic: of the parser\n") {
		t.Errorf("%+v, %+v, told %q", part, c, r.told)
	}
	part.Release()
}

// TestLostSlots loses a device with a chunk, on one slot and then on the other: no goroutine waits
// for a third.
func TestLostSlots(t *testing.T) {
	r := newRig(t)
	reader := r.reader(t, newLines("head\nlost\nplain\nlast\n"))
	limits := readers.Limits{Workers: 7, PartBytes: 9}
	for i := range 4 {
		if part := reader.Guess(5, 6); part.Rows != 100 {
			t.Errorf("%+v", part)
		}
		if want := max(0, 1-i); r.pool.Alive() != want {
			t.Errorf("%d slots, want %d", r.pool.Alive(), want)
		}
	}
	if c := r.engine.Counts(); c.Faults != 2 || c.Refused != 4 || c.Reason != gpu.ErrLost.Error() || len(r.told) != 2 {
		t.Errorf("%+v, told %q", c, r.told)
	}
	if r.engine.For(readers.Span{To: 1000}, &limits) == nil || limits.Workers != 2 || limits.PartBytes != chunkBytes {
		t.Errorf("%+v", limits)
	}
}

// TestFor asks which spans are worth a device.
func TestFor(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		name string
		span readers.Span
		want bool
	}{
		{"a file", readers.Span{To: 2*chunkBytes + 1}, true},
		{"the tail of one", readers.Span{From: 100, To: 101 + 2*chunkBytes}, true},
		{"two chunks", readers.Span{To: 2 * chunkBytes}, false},
		{"nothing", readers.Span{}, false},
		{"a batch again", readers.Span{To: 1 << 30, Inside: true}, false},
	} {
		before := readers.Limits{Workers: 7, PartBytes: 9, BatchRows: 3}
		want, got := before, before
		if tt.want {
			want.Workers, want.PartBytes = 4, chunkBytes
		}
		if ok := r.engine.For(tt.span, &got) != nil; ok != tt.want || got != want {
			t.Errorf("%s: %t, %+v, want %t, %+v", tt.name, ok, got, tt.want, want)
		}
	}
}

// TestForShortSpans asks how long the chunks of a span are: as long as slots have room for, or
// less, so that there are some for everybody.
func TestForShortSpans(t *testing.T) {
	pool, err := slots.Open([]*kernels.Set{readertest.Kernels(t)},
		slots.Config{Plan: slots.Plan{ChunkBytes: 32 << 20, Slots: 1, Work: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	engine := device.New(pool, nil)
	for _, tt := range []struct{ bytes, chunk int64 }{
		{16 << 20, 0},
		{16<<20 + 1, 8 << 20},
		{192 << 20, 8 << 20},
		{480 << 20, 20 << 20},
		{768 << 20, 32 << 20},
		{1 << 40, 32 << 20},
	} {
		var limits readers.Limits
		if ok := engine.For(readers.Span{From: 7, To: 7 + tt.bytes}, &limits) != nil; ok != (tt.chunk > 0) ||
			limits.PartBytes != tt.chunk {
			t.Errorf("%d bytes: %t, chunks of %d, want %d", tt.bytes, ok, limits.PartBytes, tt.chunk)
		}
	}
}

// TestForFilesAtATime asks how long the chunks of a span are while several files are parsed: of
// several files, each has fewer and longer ones, and a short file still goes to a device.
func TestForFilesAtATime(t *testing.T) {
	pool, err := slots.Open([]*kernels.Set{readertest.Kernels(t)},
		slots.Config{Plan: slots.Plan{ChunkBytes: 32 << 20, Slots: 1, Work: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	engine := device.New(pool, nil)
	for _, tt := range []struct {
		files        int
		bytes, chunk int64
	}{
		{1, 192 << 20, 8 << 20},
		{2, 192 << 20, 16 << 20},
		{2, 1 << 30, 32 << 20},
		{3, 192 << 20, 24 << 20},
		{1, 193<<20 + 1, 193<<20/24 + 1},
		{16, 16<<20 + 1, 8 << 20},
		{16, 96 << 20, 16 << 20},
		{16, 192 << 20, 32 << 20},
		{16, 201 << 20, 201<<20/7 + 1},
	} {
		t.Run(fmt.Sprintf("%d files, %d bytes", tt.files, tt.bytes), func(t *testing.T) {
			var limits readers.Limits
			var within func(files int) parserFunc // as many parses, each in the one before
			within = func(files int) parserFunc {
				return func(req readers.Request) (readers.Summary, error) {
					if files == 0 {
						engine.For(req.Span, &limits)
						return readers.Summary{}, nil
					}
					inner := func(readers.Layout, *device.Engine) readers.Parser { return within(files - 1) }
					return device.New(pool, inner).Parser(readers.Layout{}).Parse(t.Context(), nil, req, nil)
				}
			}
			if _, err := within(tt.files)(readers.Request{Span: readers.Span{To: tt.bytes}}); err != nil {
				t.Fatal(err)
			}
			if limits.PartBytes != tt.chunk {
				t.Errorf("chunks of %d, want %d", limits.PartBytes, tt.chunk)
			}
		})
	}
}

// TestFormatsShareSlots has two engines on the slots of one device: each counts its own, and finds
// what it kept.
func TestFormatsShareSlots(t *testing.T) {
	r := newRig(t)
	other := device.New(r.pool, nil)
	a, b := newLines("head\none\ntwo\nlast\n"), newLines("head\none\ntwo\nlast\n")
	first, second := r.reader(t, a), other.File(t.Context(), b.probe.Src).Reader(&parser{}, others{b})
	for range 5 {
		for _, reader := range []readers.PartReader{first, second, second} {
			part := reader.Guess(5, 6)
			part.Release()
		}
	}
	if c, o := r.engine.Counts(), other.Counts(); c.Chunks != 5 || o.Chunks != 10 {
		t.Errorf("%+v and %+v, want 5 and 10 chunks", c, o)
	}
	seen := map[*freeCounter]bool{}
	for _, k := range append(a.kept, b.kept...) {
		seen[k] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d things kept on the slot that was used, want one", len(seen))
	}
	if err := r.pool.Close(); err != nil {
		t.Fatal(err)
	}
	if k := a.kept[0]; k.freed != 1 || k.others != 1 {
		t.Errorf("freed %d and %d times, want once each", k.freed, k.others)
	}
}

// others are lines that keep something else, too.
type others struct{ *lines }

type keptElse struct{ beside *freeCounter }

func (k *keptElse) Free(*gpu.Stream) error {
	k.beside.others++
	return nil
}

func (o others) Read(w *device.Work, part *readers.Part) {
	device.Keep[keptElse](w).beside = device.Keep[freeCounter](w)
	o.lines.Read(w, part)
}

// TestTimeline has a chunk note all that it waits for.
func TestTimeline(t *testing.T) {
	r := newRig(t)
	l := newLines("head\none\ntwo\nlast\n")
	line := timeline.New()
	reader := r.engine.File(line.With(t.Context()), l.probe.Src).Reader(r.cpu, l)
	part := reader.Guess(5, 6)
	part.Release()
	var names []string
	stages, _ := line.Stages()
	for _, s := range stages {
		names = append(names, s.Name)
	}
	want := []string{
		"look for rows", "wait for a slot", "wait for a turn", "read", "wait for a buffer", "read a piece",
		"queue a piece", "upload", "wait for an arena",
		"kernels and columns", "wait for kernels",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// TestEndOfTheContext ends a file: its chunks fail without a fault of the device.
func TestEndOfTheContext(t *testing.T) {
	r := newRig(t)
	l := newLines("head\none\ntwo\nlast\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	reader := r.engine.File(ctx, l.probe.Src).Reader(r.cpu, l)
	if part := reader.Guess(5, 6); part.Rows != 100 {
		t.Errorf("%+v", part)
	}
	if c := r.engine.Counts(); c.Refused != 1 || c.Faults != 0 || c.Reason != "context canceled" ||
		r.pool.Alive() != 2 {
		t.Errorf("%+v, %d slots", c, r.pool.Alive())
	}
}
