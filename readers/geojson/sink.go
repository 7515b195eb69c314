package geojson

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// sink holds the rows of the chunk at hand. Its slices serve one chunk after the other; a finished chunk is a copy of just the right size.
type sink struct {
	rows   int
	memory geoarrow.Arena
	geom   geoarrow.GeometryBuilder
	byID   map[geoarrow.ColumnID]*column
	order  []*column // of the chunk, in order of first appearance
	id     *column
	starts []int64    // offsets of the rows, where the chunk is lent
	start  prediction // what stands before the first property

	text    []geoarrow.ColumnID // columns to be read as text
	repeats []int64             // offsets of features that give a name twice, found in this pass
	known   map[int64]bool      // the same, of the passes before

	count   counts           // of the rows of this chunk
	saved   counts           // of the rows before the one at hand
	foreign []string         // names of the row at hand
	members map[string]int64 // foreign members of the rows before, by name
	skipped readers.Skipped
}

// counts are what a parse reports beside the rows.
type counts struct {
	shapes shapes
}

// shapes counts what is odd about geometries and kept as it is.
type shapes struct{ ignoredOrdinates, unclosedRings, shortRings, shortLines int64 }

// addTo adds the counts of a finished chunk.
func (k *sink) addTo(sum *readers.Summary) {
	sum.IgnoredOrdinates += k.count.shapes.ignoredOrdinates
	sum.UnclosedRings += k.count.shapes.unclosedRings
	sum.ShortRings += k.count.shapes.shortRings
	sum.ShortLines += k.count.shapes.shortLines
	for name, n := range k.members {
		sum.Foreign[name] += n
	}
	sum.Skipped.Count += k.skipped.Count
	room := min(len(k.skipped.First), readers.MaxSkippedOffsets-len(sum.Skipped.First))
	sum.Skipped.First = append(sum.Skipped.First, k.skipped.First[:room]...)
}

func newSink() *sink {
	k := &sink{byID: map[geoarrow.ColumnID]*column{}}
	k.geom.Memory = &k.memory
	k.reset()
	return k
}

// reset forgets the rows of the chunk, not what is known of it.
func (k *sink) reset() {
	k.rows, k.order, k.id, k.start = 0, k.order[:0], nil, prediction{}
	k.starts = k.starts[:0]
	k.geom.Reset()
	for id, c := range k.byID {
		c.forced = slices.Contains(k.text, id)
		c.reset()
	}
	k.repeats = k.repeats[:0]
	k.count, k.saved = counts{}, counts{}
	k.members = map[string]int64{}
	k.skipped = readers.Skipped{}
	k.foreign = k.foreign[:0]
}

// column finds or makes the column of a name, and puts it in order.
func (k *sink) column(role geoarrow.Role, name []byte) *column {
	c, ok := k.byID[geoarrow.ColumnID{Role: role, Name: string(name)}]
	if !ok {
		c = &column{id: geoarrow.ColumnID{Role: role, Name: string(name)}}
		c.forced = slices.Contains(k.text, c.id)
		c.reset()
		k.byID[c.id] = c
	}
	if !c.listed {
		c.listed = true
		k.order = append(k.order, c)
	}
	return c
}

// reserve makes room for a chunk of times as many rows as there are.
func (k *sink) reserve(times float64) {
	k.geom.Reserve(times)
	for _, c := range k.order {
		geoarrow.Reserve(&k.memory, &c.ints, times)
		geoarrow.Reserve(&k.memory, &c.floats, times)
		geoarrow.Reserve(&k.memory, &c.ends, times)
		geoarrow.Reserve(&k.memory, &c.textEnds, times)
		geoarrow.Reserve(&k.memory, &c.text, times)
	}
}

// sizes are how much room a sink wants.
type sizes struct {
	geom    geoarrow.Sizes
	columns []columnSizes
}

type columnSizes struct {
	id                                 geoarrow.ColumnID
	ints, floats, ends, textEnds, text int
}

// expect is what times as many rows as there are will need, and a quarter more.
func (k *sink) expect(times float64) sizes {
	grown := func(n int) int { return int(float64(n) * times * 5 / 4) }
	s := sizes{geom: k.geom.Expect(times)}
	for _, c := range k.order {
		s.columns = append(s.columns, columnSizes{c.id, grown(len(c.ints)), grown(len(c.floats)), grown(len(c.ends)), grown(len(c.textEnds)), grown(len(c.text))})
	}
	return s
}

// prepare makes a new sink so large: growing step by step, each one would touch twice the memory that it needs.
func (k *sink) prepare(s sizes) {
	k.geom.Prepare(s.geom)
	for _, want := range s.columns {
		c := &column{id: want.id}
		c.ints, c.floats = geoarrow.Alloc[int64](&k.memory, want.ints), geoarrow.Alloc[float64](&k.memory, want.floats)
		c.ends, c.textEnds = geoarrow.Alloc[int32](&k.memory, want.ends), geoarrow.Alloc[int32](&k.memory, want.textEnds)
		c.text = geoarrow.Alloc[byte](&k.memory, want.text)
		c.reset()
		k.byID[want.id] = c
	}
}

// commit ends the row at hand, which began at an offset.
func (k *sink) commit(at int64) {
	k.rows++
	if k.memory.Lend {
		k.starts = append(k.starts, at)
	}
	for _, name := range k.foreign {
		k.members[name]++
	}
	k.foreign = k.foreign[:0]
	k.saved = k.count
}

// rollback forgets the row at hand.
func (k *sink) rollback() {
	k.geom.Undo()
	for _, c := range k.order {
		c.truncate(k.rows)
	}
	k.count = k.saved
	k.foreign = k.foreign[:0]
}

// columns is the chunk with the narrowest types that its values allow. The next one will be so much of it.
func (k *sink) columns(next float64) (*geoarrow.Columns, error) {
	k.memory.Next = next
	out := &geoarrow.Columns{Rows: k.rows}
	for _, c := range k.order {
		c.pad(k.rows)
		if c.id.Role == geoarrow.RoleFeatureID {
			out.Attributes = slices.Insert(out.Attributes, 0, c.finish(&k.memory))
			continue
		}
		out.Attributes = append(out.Attributes, c.finish(&k.memory))
	}
	var err error
	out.Geometry, err = k.geom.Finish()
	return out, err
}

// finish is the column's copy.
func (c *column) finish(mem *geoarrow.Arena) geoarrow.Column {
	out := geoarrow.Column{Name: c.id.Name, Role: c.id.Role, Nulls: c.nulls, Facts: geoarrow.Facts{Kinds: c.kinds}, Replaced: c.replaced.total}
	if c.nulls > 0 {
		out.Valid = slices.Clone(c.valid)
	}
	if c.store == storeText || c.store == storeNone {
		return c.finishText(mem, out)
	}
	res := out.Facts.Resolve(c.id.Role)
	out.Type, out.Rounded = res.Type, c.rounded.total
	switch c.store {
	case storeBool, storeInt, storeFloat:
		out.Values = c.values(mem, out.Type)
		return out
	}
	elem := out.Type.(*arrow.ListType).Elem()
	out.Offsets = geoarrow.HandOver(mem, &c.ends)
	child := geoarrow.Column{Type: elem}
	if c.store == storeTexts {
		child.Offsets, child.Values = geoarrow.HandOver(mem, &c.textEnds), geoarrow.HandOver(mem, &c.text)
	} else {
		child.Values = c.values(mem, elem)
	}
	out.Child = &child
	return out
}

// values is ints or floats in the layout of a type.
func (c *column) values(mem *geoarrow.Arena, t arrow.DataType) []byte {
	switch t.ID() {
	case arrow.BOOL:
		packed := make([]byte, (len(c.ints)+7)/8)
		for i, v := range c.ints {
			packed[i>>3] |= byte(v) << (i & 7)
		}
		return packed
	case arrow.INT32:
		narrow := geoarrow.Alloc[int32](mem, len(c.ints))[:len(c.ints)]
		for i, v := range c.ints {
			narrow[i] = int32(v)
		}
		return geoarrow.AsBytes(narrow)
	case arrow.FLOAT64:
		return geoarrow.AsBytes(geoarrow.HandOver(mem, &c.floats))
	}
	return geoarrow.AsBytes(geoarrow.HandOver(mem, &c.ints))
}

// finishText turns texts to dates and times where all are, unless they are wanted as text.
func (c *column) finishText(mem *geoarrow.Arena, out geoarrow.Column) geoarrow.Column {
	var times []temporal.Value
	if c.kinds == geoarrow.FactString && c.id.Role == geoarrow.RoleAttribute {
		out.Facts, times = c.temporalFacts()
	}
	res := out.Facts.Resolve(c.id.Role)
	if _, isText := res.Type.(*arrow.StringType); isText || c.forced || c.needText {
		out.Type, out.JSON, out.Mixed = arrow.BinaryTypes.String, res.JSON, res.Mixed
		out.Offsets, out.Values = geoarrow.HandOver(mem, &c.ends), geoarrow.HandOver(mem, &c.text)
		if c.store == storeNone {
			out.Offsets = make([]int32, c.n+1)
		}
		return out
	}
	out.Type = res.Type
	out.Values = temporalValues(times, res.Type)
	return out
}

// temporalFacts looks at every text of the column, until one is no date and no time. times has a value a row, zero for a null.
func (c *column) temporalFacts() (f geoarrow.Facts, times []temporal.Value) {
	for i := range c.n {
		if c.nulls > 0 && c.valid[i>>3]>>(i&7)&1 == 0 {
			times = append(times, temporal.Value{})
			continue
		}
		v, ok := temporal.Parse(c.text[c.ends[i]:c.ends[i+1]])
		if !ok {
			return geoarrow.Facts{Kinds: geoarrow.FactString}, nil
		}
		if times == nil {
			times = make([]temporal.Value, 0, c.n)
			times = append(times, make([]temporal.Value, i)...)
		}
		times = append(times, v)
		f = f.Join(factsOf(v))
	}
	return f, times
}

// factsOf is what one date or time shows.
func factsOf(v temporal.Value) geoarrow.Facts {
	f := geoarrow.Facts{Digits: v.Digits, MinSec: v.Seconds - int64(v.Offset), MaxSec: v.Seconds - int64(v.Offset)}
	switch v.Kind {
	case temporal.Date:
		f.Kinds = geoarrow.FactDate
	case temporal.Naive:
		f.Kinds = geoarrow.FactNaive
	case temporal.Zoned:
		f.Kinds, f.Zones, f.Offset = geoarrow.FactZoned, geoarrow.OneZone, v.Offset
	default:
		f.Kinds = geoarrow.FactTime
	}
	return f
}

// temporalValues gives times in the layout of a date, a timestamp or a time of day.
func temporalValues(times []temporal.Value, t arrow.DataType) []byte {
	if t.ID() == arrow.DATE32 {
		return geoarrow.AsBytes(mapTimes(times, func(v temporal.Value) int32 { return int32(v.Seconds / 86400) }))
	}
	unit := t.(arrow.TemporalWithUnit).TimeUnit()
	perSecond := int64(1e9 / unit.Multiplier().Nanoseconds())
	at := func(v temporal.Value) int64 {
		return (v.Seconds-int64(v.Offset))*perSecond + int64(v.Fraction)/unit.Multiplier().Nanoseconds()
	}
	if t.ID() == arrow.TIME32 {
		return geoarrow.AsBytes(mapTimes(times, func(v temporal.Value) int32 { return int32(at(v)) }))
	}
	return geoarrow.AsBytes(mapTimes(times, at))
}

func mapTimes[T int32 | int64](times []temporal.Value, f func(temporal.Value) T) []T {
	out := make([]T, len(times))
	for i, v := range times {
		out[i] = f(v)
	}
	return out
}
