package rows

import (
	"slices"
	"strconv"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Pool lends sinks whose memory serves one part of a file after the other: a part's columns are
// copied into batches before the next part fills the sink again. Several goroutines may use it.
type Pool[S Rows] struct {
	New func() S // makes an empty sink

	mu   sync.Mutex
	free []S
	text []geoarrow.ColumnID        // columns that are known to be text
	has  map[geoarrow.ColumnID]bool // the same
	want Sizes                      // of a new one
}

// Take returns an empty sink for one part. What its Columns gives is good until Give.
func (l *Pool[S]) Take() S {
	l.mu.Lock()
	var k S
	found := len(l.free) > 0
	if n := len(l.free); found {
		k, l.free = l.free[n-1], l.free[:n-1]
	}
	text, want := slices.Clone(l.text), l.want
	l.mu.Unlock()
	if !found {
		k = l.New()
		k.base().pooled(want)
	}
	k.base().Text, k.base().known = text, nil
	k.Reset()
	return k
}

// Give takes a sink back, of which nothing is read any more.
func (l *Pool[S]) Give(k S) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, k)
}

// Part returns what a sink of these holds, which then serves until the part is released: the rows
// of chunk, with what is between start and next. A chunk without columns is a part without
// rows, and returns the sink back.
func (l *Pool[S]) Part(k S, chunk readers.Chunk, start, next int64) readers.Part {
	part := readers.Part{Start: start, To: start, Next: next, Release: func() {}}
	if chunk.Columns == nil {
		l.Give(k)
		return part
	}
	part.Columns, part.Starts = chunk.Columns, k.base().Starts
	part.To, part.State, part.Text = chunk.Span.To, chunk.Span.State, chunk.Span.Text
	part.Release = func() { l.Give(k) }
	return part
}

// Refuse returns the error of a part that does not go with those before, which r reads again and
// knows: it was guessed before they were known.
func Refuse(r readers.PartReader, p readers.Part, row int64) error {
	p.Release()
	again, err := r.Read(p.Start, p.Next, row)
	if err == nil {
		again.Release()
		panic("rows: the part at byte " + strconv.FormatInt(p.Start, 10) + " goes with those before, and does not")
	}
	return err
}

// Expect says how large sinks will be.
func (l *Pool[S]) Expect(s Sizes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.want = s
}

// Learn keeps the columns that a part of the file showed to be text, so that the next ones need not
// be read twice.
func (l *Pool[S]) Learn(text []geoarrow.ColumnID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has == nil {
		l.has = map[geoarrow.ColumnID]bool{}
	}
	for _, id := range text {
		if !l.has[id] {
			l.has[id] = true
			l.text = append(l.text, id)
		}
	}
}

// Forced returns the columns that are known to be text.
func (l *Pool[S]) Forced() []geoarrow.ColumnID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.text)
}

// pooled makes a new sink one of a Pool, with room for chunks of the given sizes.
func (k *Sink) pooled(want Sizes) {
	k.memory.Lend = true
	k.prepare(want)
}

// Pooled reports whether the sink is one of a Pool: the chunk's memory is the sink's.
func (k *Sink) Pooled() bool { return k.memory.Lend }

// pooledCells is how many rows times columns a part has: a row of few bytes may be one of very many
// columns.
const pooledCells = 1 << 22

// Full reports whether the rows so far have n cells that no row may follow in the chunk at
// hand, wherever it was to end: a part is full early, and a batch when it is beyond the limits,
// which Emit says then.
func (k *Sink) Full(limits *readers.Limits) bool { return k.full(limits, k.Rows) }

// FullWith is Full after n rows more.
func (k *Sink) FullWith(limits *readers.Limits, more int) bool { return k.full(limits, k.Rows+more) }

func (k *Sink) full(limits *readers.Limits, rows int) bool {
	if k.memory.Lend {
		return rows > 0 && rows*len(k.Order) >= pooledCells
	}
	return !limits.Fits(rows, len(k.Order))
}

// Reserve makes room for a chunk of times as many rows as there are.
func (k *Sink) Reserve(times float64) {
	k.Geom.Reserve(times)
	for _, c := range k.Order {
		geoarrow.Reserve(&k.memory, &c.Ints, times)
		geoarrow.Reserve(&k.memory, &c.Floats, times)
		geoarrow.Reserve(&k.memory, &c.Ends, times)
		geoarrow.Reserve(&k.memory, &c.TextEnds, times)
		geoarrow.Reserve(&k.memory, &c.Text, times)
	}
}

// Sizes are how much room a sink wants.
type Sizes struct {
	geom    geoarrow.Sizes
	columns []columnSizes
}

type columnSizes struct {
	id                                 geoarrow.ColumnID
	ints, floats, ends, textEnds, text int
}

// Expect returns what times as many rows as there are will need, and a quarter more.
func (k *Sink) Expect(times float64) Sizes {
	grown := func(n int) int { return int(float64(n) * times * 5 / 4) }
	s := Sizes{geom: k.Geom.Expect(times)}
	for _, c := range k.Order {
		s.columns = append(s.columns, columnSizes{
			c.ID, grown(len(c.Ints)), grown(len(c.Floats)),
			grown(len(c.Ends)), grown(len(c.TextEnds)), grown(len(c.Text)),
		})
	}
	return s
}

// prepare makes a new sink so large: growing step by step, each one would touch twice the memory
// that it needs.
func (k *Sink) prepare(s Sizes) {
	k.Geom.Prepare(s.geom)
	for _, want := range s.columns {
		c := k.add(want.id)
		c.Ints, c.Floats = geoarrow.Alloc[int64](&k.memory, want.ints), geoarrow.Alloc[float64](&k.memory, want.floats)
		c.Ends = geoarrow.Alloc[int32](&k.memory, want.ends)
		c.TextEnds = geoarrow.Alloc[int32](&k.memory, want.textEnds)
		c.Text = geoarrow.Alloc[byte](&k.memory, want.text)
		c.reset()
	}
}
