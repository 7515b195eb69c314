package rows

import (
	"slices"
	"strconv"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Pool lends sinks whose memory is reused from part to part: a part's columns are copied into
// batches before the next part fills the sink. Several goroutines may use it.
type Pool[S Rows] struct {
	New func() S // makes an empty sink

	mu   sync.Mutex
	free []S
	text []geoarrow.ColumnID        // columns that are known to be text
	has  map[geoarrow.ColumnID]bool // the same
	want Sizes                      // of a new one
}

// Take returns an empty sink for one part. Its Columns are valid until Give.
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

// Give returns a sink that is no longer read to the pool.
func (l *Pool[S]) Give(k S) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, k)
}

// Part returns the part of a sink's rows: those of chunk, between start and next. The sink is in
// use until the part is released. A chunk without columns becomes a part without rows, and the sink
// is returned at once.
func (l *Pool[S]) Part(k S, chunk readers.Chunk, start, next int64) readers.Part {
	part := readers.Part{Start: start, To: start, Next: next, Release: func() {}}
	if chunk.Columns == nil {
		l.Give(k)
		return part
	}
	part.Columns, part.Starts = chunk.Columns, k.base().Starts
	if bytes := k.base().SiblingBytes; len(bytes) > 0 {
		part.SiblingBytes = bytes
	}
	part.To, part.State, part.Text = chunk.Span.To, chunk.Span.State, chunk.Span.Text
	part.Release = func() { l.Give(k) }
	return part
}

// Refuse returns the error for a part that contradicts earlier parts, which were unknown when it
// was guessed. r reads it again.
func Refuse(r readers.PartReader, p readers.Part, row int64) error {
	p.Release()
	again, err := r.Read(p.Start, p.Next, row)
	if err == nil {
		again.Release()
		panic("rows: the part at byte " + strconv.FormatInt(p.Start, 10) + " goes with those before, and does not")
	}
	return err
}

// Expect sets the size of future sinks.
func (l *Pool[S]) Expect(s Sizes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.want = s
}

// Learn keeps the columns that became text in a part, so that later parts need not be read twice.
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

// pooledCells bounds a part's rows times columns: a row of few bytes may have very many columns.
const pooledCells = 1 << 22

// Full reports whether the rows so far have enough cells to end the current chunk. A part
// is full early; a batch is full beyond the limits, for which Emit returns an error.
func (k *Sink) Full(limits *readers.Limits) bool { return k.full(limits, k.Rows) }

// FullWith is Full after n rows more.
func (k *Sink) FullWith(limits *readers.Limits, more int) bool { return k.full(limits, k.Rows+more) }

func (k *Sink) full(limits *readers.Limits, rows int) bool {
	if k.memory.Lend {
		return rows > 0 && rows*len(k.Order) >= pooledCells
	}
	return !limits.Fits(rows, len(k.Order))
}

// Reserve allocates memory for a chunk of a multiple of the present rows.
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

// Sizes are the capacities of a sink.
type Sizes struct {
	geom    geoarrow.Sizes
	columns []columnSizes
}

type columnSizes struct {
	id                                 geoarrow.ColumnID
	ints, floats, ends, textEnds, text int
}

// Expect returns the sizes for a multiple of the present rows, and a quarter more.
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

// prepare allocates a new sink with these sizes: growing step by step would touch twice the memory.
func (k *Sink) prepare(s Sizes) {
	k.Geom.Prepare(s.geom)
	for _, want := range s.columns {
		c, declared := k.byID[want.id]
		if !declared {
			c = k.add(want.id)
		}
		c.Ints, c.Floats = geoarrow.Alloc[int64](&k.memory, want.ints), geoarrow.Alloc[float64](&k.memory, want.floats)
		c.Ends = geoarrow.Alloc[int32](&k.memory, want.ends)
		c.TextEnds = geoarrow.Alloc[int32](&k.memory, want.textEnds)
		c.Text = geoarrow.Alloc[byte](&k.memory, want.text)
		c.reset()
	}
}
