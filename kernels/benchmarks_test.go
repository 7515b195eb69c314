package kernels_test

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/text/encoding/charmap"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	kshape "github.com/vibeflight/vibeflight/kernels/shape"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// corpus is the text that benchmarks read, and what one of them needs of it that another primitive
// finds. It is found when it is first asked for.
type corpus struct {
	*kerneltest.Rig
	text gpu.Buffer[byte]

	inside       kernels.Mask
	depth        *ktext.Depth
	keys         gpu.Buffer[int64] // of "coordinates"
	spanEnds     gpu.Buffer[int64] // of their values
	starts, ends gpu.Buffer[int64] // of all numbers outside strings
	positions    gpu.Buffer[int64] // of brackets around positions
	blanks       *kgeom.Blanks
}

func (c *corpus) bytes() int64 { return int64(c.text.Len()) }

func (c *corpus) mask(r *kerneltest.Rig) kernels.Mask {
	return kerneltest.Poisoned[uint64](r, kernels.Words(c.text.Len()))
}

// quotes gives the mask of what is inside strings.
func (c *corpus) quotes() kernels.Mask {
	if c.inside.Len() == 0 {
		c.inside = c.mask(c.Rig)
		c.OK(ktext.QuoteParity(c.Set, c.Stream, c.text, '"', ktext.QuoteEscaped, c.inside,
			gpu.Buffer[ktext.QuoteCarry]{}))
	}
	return c.inside
}

// brackets gives the depth.
func (c *corpus) brackets() *ktext.Depth {
	if c.depth == nil {
		d, err := ktext.AllocDepth(c.Stream, c.text.Len(), ktext.Brackets{Open: "{[", Close: "}]"})
		c.OK(err)
		c.Cleanup(func() { c.OK(d.Free(c.Stream)) })
		c.OK(ktext.BracketDepth(c.Set, c.Stream, c.text, c.quotes(), d, gpu.Buffer[ktext.DepthCarry]{}))
		c.depth = d
	}
	return c.depth
}

const coordinatesKey = `"coordinates":`

// values gives where the keys of coordinates are, and where their values end.
func (c *corpus) values() (keys, ends gpu.Buffer[int64]) {
	if c.keys.Len() == 0 {
		hits := c.mask(c.Rig)
		c.OK(ktext.PatternMatch(c.Set, c.Stream, c.text, []byte(coordinatesKey), c.quotes(), -1, hits))
		var err error
		c.keys, err = c.Set.AllocPositions(c.Stream, hits, 0)
		c.OK(err)
		c.Cleanup(func() { kerneltest.Freed(c.Rig, c.keys) })
		c.spanEnds = kerneltest.Poisoned[int64](c.Rig, c.keys.Len())
		c.OK(ktext.SpanBoundaries(c.Set, c.Stream, c.brackets(), c.keys, len(coordinatesKey), c.spanEnds))
	}
	return c.keys, c.spanEnds
}

// numbers gives where all numbers start and end.
func (c *corpus) numbers() (starts, ends gpu.Buffer[int64]) {
	if c.starts.Len() == 0 {
		start, end := c.mask(c.Rig), c.mask(c.Rig)
		c.OK(knumber.NumberBoundaries(c.Set, c.Stream, c.text, c.quotes(), knumber.Separators{Before: -1, Behind: -1},
			start, end))
		var err error
		c.starts, c.ends, _, err = knumber.AllocNumbers(c.Set, c.Stream, start, end, kernels.Mask{})
		c.OK(err)
		c.Cleanup(func() { kerneltest.Freed(c.Rig, c.starts); kerneltest.Freed(c.Rig, c.ends) })
	}
	return c.starts, c.ends
}

// polygons gives the coordinates, all of polygons.
func (c *corpus) polygons() kgeom.Coordinates {
	keys, ends := c.values()
	kinds := make([]kgeom.TypeKind, keys.Len())
	for i := range kinds {
		kinds[i] = kgeom.KindPolygon
	}
	return kgeom.Coordinates{Starts: keys, Ends: ends, Kinds: kerneltest.Upload(c.Rig, kinds)}
}

// brackets around positions.
func (c *corpus) points() (gpu.Buffer[int64], *kgeom.Blanks) {
	if c.positions.Len() == 0 {
		rings, err := kgeom.CountRings(c.Set, c.Stream, c.text, c.brackets(), kernels.Mask{}, c.polygons())
		c.OK(err)
		c.positions = c.listed(c.Rig, rings).Positions
		c.blanks, err = kgeom.AllocBlanks(c.Stream, c.text.Len())
		c.OK(err)
		c.Cleanup(func() { c.OK(c.blanks.Free(c.Stream)) })
		c.OK(kgeom.FindBlanks(c.Set, c.Stream, c.text, c.blanks))
	}
	return c.positions, c.blanks
}

// listed lists rings, and frees what counted them at the end.
func (c *corpus) listed(r *kerneltest.Rig, rings *kgeom.Rings) kgeom.RingOffsets {
	r.Cleanup(func() { r.OK(rings.Free(r.Stream)) })
	out := kgeom.RingOffsets{
		Spans: kerneltest.Poisoned[int64](r, c.keys.Len()+1), Parts: kerneltest.Poisoned[int64](r, int(rings.Parts)+1),
		Rings: kerneltest.Poisoned[int64](r, int(rings.Rings)+1), Positions: kerneltest.Poisoned[int64](r,
			int(rings.Positions)),
	}
	r.OK(kgeom.ListRings(r.Set, r.Stream, rings, out))
	return out
}

// benchmarks are in the order in which a parser needs them. The first is what others are compared
// with.
var benchmarks = []benchmark{
	{"copy on the device", func(r *kerneltest.Rig, c *corpus) measurement {
		to := kerneltest.Poisoned[byte](r, c.text.Len())
		return measurement{launch: func() error { return gpu.Copy(r.Stream, to, c.text) }, moved: 2 * c.bytes()}
	}},
	{"quote parity", func(r *kerneltest.Rig, c *corpus) measurement {
		inside := c.mask(r)
		return measurement{launch: func() error {
			return ktext.QuoteParity(r.Set, r.Stream, c.text, '"', ktext.QuoteEscaped, inside,
				gpu.Buffer[ktext.QuoteCarry]{})
		}, moved: c.bytes() * 9 / 8}
	}},
	{"structure", func(r *kerneltest.Rig, c *corpus) measurement {
		x, _ := structureFor(r, c)
		return measurement{launch: func() error {
			return kjson.ParseStructure(r.Set, r.Stream, c.text, x, gpu.Buffer[kjson.StructureCarry]{})
		}, moved: c.bytes() * 11 / 8}
	}},
	{"structure and its masks", func(r *kerneltest.Rig, c *corpus) measurement {
		x, masks := structureFor(r, c)
		return measurement{launch: func() error {
			if err := kjson.ParseStructure(r.Set, r.Stream, c.text, x, gpu.Buffer[kjson.StructureCarry]{}); err != nil {
				return err
			}
			return kjson.UnpackStructure(r.Set, r.Stream, x, masks)
		}, moved: c.bytes() * 27 / 16}
	}},
	{"bracket depth", func(r *kerneltest.Rig, c *corpus) measurement {
		inside, d := c.quotes(), c.brackets()
		return measurement{launch: func() error {
			return ktext.BracketDepth(r.Set, r.Stream, c.text, inside, d, gpu.Buffer[ktext.DepthCarry]{})
		}, moved: c.bytes() * (64 + 8 + 24 + 4 + 4) / 64}
	}},
	{"pattern match, 14 bytes", func(r *kerneltest.Rig, c *corpus) measurement {
		inside, hits := c.quotes(), c.mask(r)
		return measurement{launch: func() error {
			return ktext.PatternMatch(r.Set, r.Stream, c.text, []byte(coordinatesKey), inside, -1, hits)
		}, moved: c.bytes() * 10 / 8}
	}},
	{"positions of a mask", func(r *kerneltest.Rig, c *corpus) measurement {
		hits := c.mask(r)
		r.OK(ktext.PatternMatch(r.Set, r.Stream, c.text, []byte(coordinatesKey), c.quotes(), -1, hits))
		n, err := r.Set.CountBits(r.Stream, hits)
		r.OK(err)
		out := kerneltest.Poisoned[int64](r, int(n))
		return measurement{launch: func() error {
			return r.Set.Positions(r.Stream, hits, 0, out, gpu.Buffer[int64]{})
		}, moved: c.bytes()/8 + 8*n}
	}},
	{"span boundaries", func(r *kerneltest.Rig, c *corpus) measurement {
		keys, _ := c.values()
		d, ends := c.brackets(), kerneltest.Poisoned[int64](r, keys.Len())
		return measurement{launch: func() error {
			return ktext.SpanBoundaries(r.Set, r.Stream, d, keys, len(coordinatesKey), ends)
		}, moved: 16 * int64(keys.Len()), items: int64(keys.Len())}
	}},
	{"mark spans", func(r *kerneltest.Rig, c *corpus) measurement {
		keys, ends := c.values()
		from, to, mask := kerneltest.UploadShort(r, kerneltest.Read(r, keys)), kerneltest.UploadShort(r,
			kerneltest.Read(r, ends)), c.mask(r)
		return measurement{launch: func() error {
			return ktext.MarkSpans(r.Set, r.Stream, from, to, c.text.Len(), mask)
		}, moved: 8*int64(keys.Len()) + c.bytes()/8}
	}},
	{"GeoJSON types", func(r *kerneltest.Rig, c *corpus) measurement {
		hits := c.mask(r)
		r.OK(ktext.PatternMatch(r.Set, r.Stream, c.text, []byte("Polygon"), kernels.Mask{}, -1, hits))
		names, err := r.Set.AllocPositions(r.Stream, hits, 0)
		r.OK(err)
		r.Cleanup(func() { kerneltest.Freed(r, names) })
		kinds := kerneltest.Poisoned[kgeom.TypeKind](r, names.Len())
		return measurement{launch: func() error {
			return kjson.GeoJSONTypes(r.Set, r.Stream, c.text, names, `"`, kinds)
		}, moved: 33 * int64(names.Len()), items: int64(names.Len())}
	}},
	{"rings counted and listed", func(r *kerneltest.Rig, c *corpus) measurement {
		polygons, d := c.polygons(), c.brackets()
		rings, err := kgeom.CountRings(r.Set, r.Stream, c.text, d, kernels.Mask{}, polygons)
		r.OK(err)
		out := c.listed(r, rings)
		return measurement{
			launch: func() error {
				again, err := kgeom.CountRings(r.Set, r.Stream, c.text, d, kernels.Mask{}, polygons)
				if err != nil {
					return err
				}
				if err := kgeom.ListRings(r.Set, r.Stream, again, out); err != nil {
					return err
				}
				return again.Free(r.Stream)
			}, moved: c.bytes()*5/16 + 8*(rings.Positions+rings.Rings+rings.Parts) + 25*int64(c.keys.Len()),
			items: rings.Positions,
		}
	}},
	{"blanks", func(r *kerneltest.Rig, c *corpus) measurement {
		b, err := kgeom.AllocBlanks(r.Stream, c.text.Len())
		r.OK(err)
		r.Cleanup(func() { r.OK(b.Free(r.Stream)) })
		return measurement{launch: func() error {
			return kgeom.FindBlanks(r.Set, r.Stream, c.text, b)
		}, moved: c.bytes() * 513 / 512}
	}},
	{"positions parsed", func(r *kerneltest.Rig, c *corpus) measurement {
		at, blanks := c.points()
		n := at.Len()
		to := kgeom.Ordinates{
			X: kerneltest.Poisoned[float64](r, n), Y: kerneltest.Poisoned[float64](r, n),
			Undecided: kerneltest.Poisoned[uint64](r, kernels.Words(n)),
			Found:     kerneltest.Poisoned[kgeom.PositionsFound](r, 1),
		}
		return measurement{launch: func() error {
			return kgeom.ParsePositions(r.Set, r.Stream, c.text, blanks, at, kgeom.PositionJSON, to)
		}, moved: c.bytes() + 24*int64(n), items: 2 * int64(n)}
	}},
	{"WKT, polygons of 7 positions", func(r *kerneltest.Rig, _ *corpus) measurement { return wktOf(r, 1<<20, 7) }},
	{"WKT, positions parsed", func(r *kerneltest.Rig, _ *corpus) measurement { return wktPositionsOf(r, 1<<20, 7) }},
	{"tagged dimensions", func(r *kerneltest.Rig, _ *corpus) measurement { return taggedOf(r, 1<<20, 7) }},
	{"dimensions of geometries", func(r *kerneltest.Rig, _ *corpus) measurement { return dimsOf(r, 1<<20, 7) }},
	{"WKB, polygons of 7 positions", func(r *kerneltest.Rig, _ *corpus) measurement { return wkbOf(r, 1<<20, 7) }},
	{"WKB, one polygon of 7 M positions", func(r *kerneltest.Rig, _ *corpus) measurement { return wkbOf(r, 1, 7<<20) }},
	{"arrays joined, 120 bytes", func(r *kerneltest.Rig, _ *corpus) measurement { return arraysOf(r, 1<<20, 120) }},
	{"number boundaries", func(r *kerneltest.Rig, c *corpus) measurement {
		inside, start, end := c.quotes(), c.mask(r), c.mask(r)
		return measurement{launch: func() error {
			return knumber.NumberBoundaries(r.Set, r.Stream, c.text, inside, knumber.Separators{Before: -1, Behind: -1},
				start, end)
		}, moved: c.bytes() * 11 / 8}
	}},
	{"extract numbers", func(r *kerneltest.Rig, c *corpus) measurement {
		starts, _ := c.numbers()
		n := starts.Len()
		start, end, a, b := c.mask(r), c.mask(r), kerneltest.Poisoned[int64](r, n), kerneltest.Poisoned[int64](r, n)
		r.OK(knumber.NumberBoundaries(r.Set, r.Stream, c.text, c.quotes(), knumber.Separators{Before: -1, Behind: -1},
			start, end))
		return measurement{launch: func() error {
			return knumber.ExtractNumbers(r.Set, r.Stream, start, end, kernels.Mask{}, a, b,
				gpu.Buffer[knumber.Extraction]{})
		}, moved: c.bytes()/4 + 16*int64(n), items: int64(n)}
	}},
	{"parse float64", func(r *kerneltest.Rig, c *corpus) measurement {
		starts, ends := c.numbers()
		n := starts.Len()
		to := knumber.Float64s{
			Out: kerneltest.Poisoned[float64](r, n), Valid: kerneltest.Poisoned[uint64](r, kernels.Words(n)),
			Undecided: kerneltest.Poisoned[uint64](r, kernels.Words(n)),
		}
		return measurement{launch: func() error {
			return knumber.ParseFloat64(r.Set, r.Stream, c.text, starts, ends, knumber.GrammarJSON, to)
		}, moved: c.bytes() + 24*int64(n), items: int64(n)}
	}},
	{"parse int64", func(r *kerneltest.Rig, c *corpus) measurement {
		starts, ends := c.numbers()
		n := starts.Len()
		out, valid, overflow := kerneltest.Poisoned[int64](r, n), kerneltest.Poisoned[uint64](r, kernels.Words(n)),
			kerneltest.Poisoned[uint64](r, kernels.Words(n))
		return measurement{launch: func() error {
			return knumber.ParseInt64(r.Set, r.Stream, c.text, starts, ends, knumber.GrammarJSON, out, valid, overflow)
		}, moved: c.bytes() + 24*int64(n), items: int64(n)}
	}},
	{"read scalars", func(r *kerneltest.Rig, c *corpus) measurement {
		return scalarsOf(r, c, func(_ knumber.Scalars, queue queueScalars, rows int64) measurement {
			return measurement{launch: func() error {
				return queue(nil, kernels.Mask{})
			}, moved: c.bytes() + scalarColumns*rows*37, items: scalarColumns * rows}
		})
	}},
	{"read scalars, types expected", func(r *kerneltest.Rig, c *corpus) measurement {
		return scalarsOf(r, c, func(_ knumber.Scalars, queue queueScalars, rows int64) measurement {
			to, undecided := scalarFloats(r, int(rows))
			return measurement{launch: func() error {
				return queue(to, undecided)
			}, moved: c.bytes() + scalarColumns*rows*45, items: scalarColumns * rows}
		})
	}},
	{"parse numbers", func(r *kerneltest.Rig, c *corpus) measurement {
		return scalarsOf(r, c, func(x knumber.Scalars, queue queueScalars, rows int64) measurement {
			r.OK(queue(nil, kernels.Mask{}))
			to, undecided := scalarFloats(r, int(rows))
			return measurement{launch: func() error {
				return knumber.ParseNumbers(r.Set, r.Stream, c.text, x, to, undecided)
			}, moved: c.bytes() + scalarColumns*rows*24, items: scalarColumns * rows}
		})
	}},
	{"exclusive scan of int64", func(r *kerneltest.Rig, c *corpus) measurement {
		starts, _ := c.numbers()
		out := kerneltest.Poisoned[int64](r, starts.Len())
		return measurement{launch: func() error {
			return kernels.ExclusiveScan(r.Set, r.Stream, starts, out, gpu.Buffer[int64]{})
		}, moved: 16 * int64(starts.Len()), items: int64(starts.Len())}
	}},
	{"rows and delimiters", func(r *kerneltest.Rig, c *corpus) measurement {
		inside := c.quotes()
		m := ktable.RowMasks{Ends: c.mask(r), Delimiters: c.mask(r), Stray: c.mask(r)}
		d := ktable.Dialect{Delimiter: ',', Quote: '"'}
		return measurement{launch: func() error {
			return ktable.Rows(r.Set, r.Stream, c.text, inside, d, ktable.EndOfFile, m, gpu.Buffer[ktable.RowCarry]{})
		}, moved: c.bytes() * 12 / 8}
	}},
	{"strings, 10 bytes", func(r *kerneltest.Rig, _ *corpus) measurement { return gather(r, 10, 1<<24, 'x') }},
	{"strings, 10 bytes, escapes", func(r *kerneltest.Rig, _ *corpus) measurement {
		return gather(r, 10, 1<<24, '\\')
	}},
	{"strings, one of 200 MB", func(r *kerneltest.Rig, _ *corpus) measurement {
		return gather(r, 200_000_000, 1, 'x')
	}},
	{"strings, one of 200 MB, escapes", func(r *kerneltest.Rig, _ *corpus) measurement {
		return gather(r, 200_000_000, 1, '\\')
	}},
	{"hex", func(r *kerneltest.Rig, _ *corpus) measurement {
		const spans, digits = 1 << 20, 250
		text := kerneltest.Upload(r, bytes.Repeat([]byte("0aF3c"), spans*digits/5))
		starts, ends := make([]int64, spans), make([]int64, spans)
		for i := range starts {
			starts[i], ends[i] = int64(i*digits), int64((i+1)*digits)
		}
		from, to := kerneltest.Upload(r, starts), kerneltest.Upload(r, ends)
		offsets, bad, out := kerneltest.Poisoned[int64](r, spans+1), kerneltest.Poisoned[uint64](r,
			kernels.Words(spans)),
			kerneltest.Poisoned[byte](r, spans*digits/2)
		return measurement{launch: func() error {
			if err := ktext.HexOffsets(r.Set, r.Stream, text, from, to, offsets, bad); err != nil {
				return err
			}
			return ktext.HexBytes(r.Set, r.Stream, text, from, offsets, out, bad)
		}, moved: spans*digits*3/2 + spans*24, items: spans * digits}
	}},
	{"match keys", func(r *kerneltest.Rig, _ *corpus) measurement { return membersOf(r, "match keys") }},
	{"place levels", func(r *kerneltest.Rig, _ *corpus) measurement { return membersOf(r, "place levels") }},
	{"unknown keys", func(r *kerneltest.Rig, _ *corpus) measurement { return membersOf(r, "unknown keys") }},
	{"count members", func(r *kerneltest.Rig, _ *corpus) measurement { return membersOf(r, "count members") }},
	{"tally", func(r *kerneltest.Rig, _ *corpus) measurement { return membersOf(r, "tally") }},
	{"table", func(r *kerneltest.Rig, _ *corpus) measurement { return tableBench(r, "table") }},
	{"table kinds", func(r *kerneltest.Rig, _ *corpus) measurement { return tableBench(r, "table kinds") }},
	{"parse table", func(r *kerneltest.Rig, _ *corpus) measurement { return tableBench(r, "parse table") }},
	{"table points", func(r *kerneltest.Rig, _ *corpus) measurement { return tableBench(r, "table points") }},
	{"table dates", func(r *kerneltest.Rig, _ *corpus) measurement { return tableDates(r) }},
	{"table texts", func(r *kerneltest.Rig, _ *corpus) measurement { return tableBench(r, "table texts") }},
	{"cell spans", func(r *kerneltest.Rig, _ *corpus) measurement { return tableBench(r, "cell spans") }},
	{"cell lines", func(r *kerneltest.Rig, _ *corpus) measurement { return tableBench(r, "cell lines") }},
	{"check cells", func(r *kerneltest.Rig, _ *corpus) measurement { return tableBench(r, "check cells") }},
	{"table offsets", func(r *kerneltest.Rig, _ *corpus) measurement { return tableOffsets(r) }},
	{"longest gap", func(r *kerneltest.Rig, _ *corpus) measurement { return longestGap(r) }},
	{"check values", func(r *kerneltest.Rig, _ *corpus) measurement { return nestedValues(r, "check values") }},
	{"rank", func(r *kerneltest.Rig, _ *corpus) measurement { return nestedValues(r, "rank") }},
	{"elements of lists", func(r *kerneltest.Rig, _ *corpus) measurement {
		return nestedValues(r, "elements of lists")
	}},
	{"fixed-width float64", func(r *kerneltest.Rig, _ *corpus) measurement { return fixed(r, "float64") }},
	{"fixed-width int64", func(r *kerneltest.Rig, _ *corpus) measurement { return fixed(r, "int64") }},
	{"fixed-width date", func(r *kerneltest.Rig, _ *corpus) measurement { return fixed(r, "date") }},
	{"fixed-width logical", func(r *kerneltest.Rig, _ *corpus) measurement { return fixed(r, "logical") }},
	{"fixed rows", func(r *kerneltest.Rig, _ *corpus) measurement { return fixedColumns(r, "rows") }},
	{"fixed values", func(r *kerneltest.Rig, _ *corpus) measurement { return fixedColumns(r, "values") }},
	{"fixed texts", func(r *kerneltest.Rig, _ *corpus) measurement { return fixedColumns(r, "texts") }},
	{"recode", func(r *kerneltest.Rig, _ *corpus) measurement { return recode(r) }},
	{"find shapes", func(r *kerneltest.Rig, _ *corpus) measurement { return shapes(r, "find") }},
	{"read shapes", func(r *kerneltest.Rig, _ *corpus) measurement { return shapes(r, "read") }},
	{"parts of shapes", func(r *kerneltest.Rig, _ *corpus) measurement { return shapes(r, "parts") }},
}

const scalarColumns = 4

// queueScalars reads columns of scalars.
type queueScalars func(expected []knumber.NumberColumn, undecided kernels.Mask) error

// scalarFloats is room for all of them as float64.
func scalarFloats(r *kerneltest.Rig, rows int) (to []knumber.NumberColumn, undecided kernels.Mask) {
	for i := range scalarColumns {
		to = append(to, knumber.NumberColumn{Column: i, Float64: kerneltest.Poisoned[float64](r, rows)})
	}
	return to, kerneltest.Poisoned[uint64](r, scalarColumns*kernels.Words(rows))
}

// scalarsOf prepares the numbers of the corpus as the values of a few columns; queue reads them.
func scalarsOf(r *kerneltest.Rig, c *corpus, use func(x knumber.Scalars, queue queueScalars,
	rows int64) measurement,
) measurement {
	from, to := c.numbers()
	starts, ends := kerneltest.UploadShort(r, kerneltest.Read(r, from)), kerneltest.UploadShort(r,
		kerneltest.Read(r, to))
	rows := starts.Len() / scalarColumns
	slots := make([]gpu.Buffer[int32], scalarColumns)
	for i := range slots {
		column := make([]int32, rows)
		for row := range column {
			column[row] = int32(row*scalarColumns + i)
		}
		slots[i] = kerneltest.Upload(r, column)
	}
	kind, words := kerneltest.Upload(r, slices.Repeat([]kjson.ValueKind{kjson.ValueNumber}, starts.Len())),
		scalarColumns*kernels.Words(rows)
	x := knumber.Scalars{
		Starts: kerneltest.Poisoned[int64](r, scalarColumns*rows), Ends: kerneltest.Poisoned[int64](r,
			scalarColumns*rows),
		Kinds: kerneltest.Poisoned[uint32](r, scalarColumns),
		Valid: kerneltest.Poisoned[uint64](r, words), Numbers: kerneltest.Poisoned[uint64](r, words),
		Trues: kerneltest.Poisoned[uint64](r, words),
	}
	return use(x, func(expected []knumber.NumberColumn, undecided kernels.Mask) error {
		_, err := kjson.ReadMembers(r.Set, r.Stream, c.text, kjson.MemberValues{Start: starts, End: ends, Kind: kind},
			kjson.ScalarColumns{Slots: slots, To: x, Expected: expected, Undecided: undecided}, nil)
		return err
	}, int64(rows))
}

// gather prepares a column of equal strings, every fifth byte of which is mark: a byte like others,
// or with the one after it an escape.
func gather(r *kerneltest.Rig, length, strings int, mark byte) measurement {
	text := bytes.Repeat([]byte{'n', 'n', 'n', mark, 'n'}, length*strings/5)
	starts, ends := make([]int64, strings), make([]int64, strings)
	for i := range starts {
		starts[i], ends[i] = int64(i*length), int64((i+1)*length)
	}
	t, from, to := kerneltest.Upload(r, text), kerneltest.Upload(r, starts), kerneltest.Upload(r, ends)
	offsets, out := kerneltest.Poisoned[int64](r, strings+1), kerneltest.Poisoned[byte](r, len(text))
	return measurement{launch: func() error {
		x, err := ktext.MeasureStrings(r.Set, r.Stream, t, from, to, ktext.StringsJSON, offsets)
		if err != nil {
			return err
		}
		if err := ktext.GatherStrings(r.Set, r.Stream, x, out, gpu.Buffer[int32]{}); err != nil {
			return err
		}
		return x.Free(r.Stream)
	}, moved: 2*int64(len(text)) + 24*int64(strings), items: int64(len(text))}
}

// nestedValues prepares arrays of small objects, or of numbers, that all of a text but a seventh is
// made of.
func nestedValues(r *kerneltest.Rig, which string) measurement {
	value := `[1, 2, {"b": null, "name" : "x y"}, 12.5]`
	if which == "elements of lists" {
		value = `[1, 23456, 7.25, -1e3, 12.5, 99, 1234567]`
	}
	row, rows := `{"p":{"a":`+value+`}},`, 1<<21
	starts, ends := make([]int64, rows), make([]int64, rows)
	for i := range starts {
		starts[i] = int64(i*len(row) + len(`{"p":{"a":`))
		ends[i] = starts[i] + int64(len(value))
	}
	text, from := kerneltest.Upload(r, bytes.Repeat([]byte(row), rows)), kerneltest.UploadShort(r, starts)
	n := text.Len()
	x, err := kjson.AllocStructure(r.Stream, n)
	r.OK(err)
	r.Cleanup(func() { r.OK(x.Free(r.Stream)) })
	r.OK(kjson.ParseStructure(r.Set, r.Stream, text, x, gpu.Buffer[kjson.StructureCarry]{}))
	within, solid, fault := kerneltest.Poisoned[uint64](r, kernels.Words(n)), kerneltest.Poisoned[uint64](r,
		kernels.Words(n)),
		kerneltest.Poisoned[int64](r, 1)
	r.OK(ktext.MarkSpans(r.Set, r.Stream, from, kerneltest.UploadShort(r, ends), n, within))
	switch which {
	case "check values":
		return measurement{launch: func() error {
			return kjson.CheckValues(r.Set, r.Stream, text, x, within, 64, solid, fault)
		}, moved: int64(n) * 13 / 8, items: int64(n)}
	case "rank":
		return measurement{launch: func() error {
			ranks, err := klist.Rank(r.Set, r.Stream, within)
			if err != nil {
				return err
			}
			return ranks.Free(r.Stream)
		}, moved: int64(n) / 4, items: int64(n)}
	}
	return measurement{launch: func() error {
		l, err := klist.FindElements(r.Set, r.Stream, text, x, within, 3, from)
		if err != nil {
			return err
		}
		if err := klist.ReadElements(r.Set, r.Stream, l, int64(7*rows)); err != nil {
			return err
		}
		return l.Free(r.Stream)
	}, moved: int64(n)*14/8 + 7*16*int64(rows), items: int64(n)}
}

// fixed prepares a field of the records of a DBF table: N 12.3, N 10, D, L.
func fixed(r *kerneltest.Rig, field string) measurement {
	const records, stride = 1 << 23, 32
	row := []byte(" 12345678.123123456789020260228T")
	text := kerneltest.Upload(r, bytes.Repeat(row[:stride], records))
	mask := func() kernels.Mask { return kerneltest.Poisoned[uint64](r, kernels.Words(records)) }
	f := kfixed.FixedField{Stride: stride, Records: records}
	valid, malformed := mask(), mask()
	m := measurement{items: records}
	switch field {
	case "float64":
		f.Offset, f.Width = 1, 12
		to := knumber.Float64s{Out: kerneltest.Poisoned[float64](r, records), Valid: valid, Undecided: mask()}
		m.launch, m.moved = func() error {
			return kfixed.FixedFloat64(r.Set, r.Stream, text, f, to, malformed)
		}, records*(stride+8)
	case "int64":
		f.Offset, f.Width = 13, 10
		to := kfixed.FixedInt64s{
			Out: kerneltest.Poisoned[int64](r, records), Valid: valid, Malformed: malformed,
			Overflow: mask(), Fraction: mask(),
		}
		m.launch, m.moved = func() error { return kfixed.FixedInt64(r.Set, r.Stream, text, f, to) }, records*(stride+8)
	case "date":
		f.Offset, f.Width = 23, 8
		days := kerneltest.Poisoned[int32](r, records)
		m.launch, m.moved = func() error {
			return kfixed.FixedDate(r.Set, r.Stream, text, f, days, valid, malformed)
		}, records*(stride+4)
	case "logical":
		f.Offset, f.Width = 31, 1
		out := mask()
		m.launch, m.moved = func() error {
			return kfixed.FixedLogical(r.Set, r.Stream, text, f, out, valid, malformed)
		}, records*stride
	default:
		panic(fmt.Sprintf("no field %q", field))
	}
	return m
}

// structureFor takes the memory of a structure and its masks for the benchmark's text.
func structureFor(r *kerneltest.Rig, c *corpus) (*kjson.Structure, *kjson.StructureMasks) {
	x, err := kjson.AllocStructure(r.Stream, c.text.Len())
	r.OK(err)
	r.Cleanup(func() { r.OK(x.Free(r.Stream)) })
	masks, err := kjson.AllocStructureMasks(r.Stream, c.text.Len())
	r.OK(err)
	r.Cleanup(func() { r.OK(masks.Free(r.Stream)) })
	return x, masks
}

// fixedColumns prepares the records of a DBF table: N 12.3, N 10, D and L, and the first two as
// texts.
func fixedColumns(r *kerneltest.Rig, what string) measurement {
	const records, stride = 1 << 22, 32
	text, odd := kerneltest.Upload(r, bytes.Repeat([]byte(" 12345678.123123456789020260228T"), records)),
		kerneltest.Upload(r, []uint32{0})
	x := &kfixed.FixedRecords{
		Length: stride, Records: records, Rows: kerneltest.Poisoned[int64](r, records),
		Live: kerneltest.Poisoned[int64](r, 1),
	}
	r.OK(kfixed.FixedRows(r.Set, r.Stream, text, x, false, odd))
	column := func(kind kfixed.FixedType, offset, width int) kfixed.FixedColumn {
		return kfixed.FixedColumn{
			Type: kind, Offset: offset, Width: width, Null: kfixed.FixedNoFlag,
			Size: kfixed.FixedNoFlag,
		}
	}
	switch what {
	case "rows":
		return measurement{launch: func() error {
			return kfixed.FixedRows(r.Set, r.Stream, text, x, false, odd)
		}, moved: records * (stride + 8), items: records}
	case "values":
		columns := []kfixed.FixedColumn{
			column(kfixed.FixedAsFloat64, 1, 12), column(kfixed.FixedAsInt64, 13, 10),
			column(kfixed.FixedAsDate, 23, 8), column(kfixed.FixedAsLogical, 31, 1),
		}
		words := 0
		for _, c := range columns {
			words += c.Type.Words(records)
		}
		values, valid := kerneltest.Poisoned[uint64](r, words), kerneltest.Poisoned[uint64](r,
			len(columns)*kernels.Words(records))
		return measurement{launch: func() error {
			return kfixed.FixedValues(r.Set, r.Stream, text, x, columns, values, valid, odd)
		}, moved: records * (stride + 8 + 20), items: records}
	case "texts":
		columns := []kfixed.FixedColumn{column(kfixed.FixedText, 1, 12), column(kfixed.FixedText, 13, 10)}
		starts, ends, valid := kerneltest.Poisoned[int64](r, 2*records), kerneltest.Poisoned[int64](r, 2*records),
			kerneltest.Poisoned[uint64](r, 2*kernels.Words(records))
		return measurement{launch: func() error {
			return kfixed.FixedTexts(r.Set, r.Stream, text, x, columns, true, starts, ends, valid, odd)
		}, moved: records * (stride + 8 + 32), items: records}
	}
	panic(fmt.Sprintf("no kernel %q", what))
}

// shapes prepares the records of a .shp, polygons of one ring of five positions.
func shapes(r *kerneltest.Rig, what string) measurement {
	const records, points, size = 1 << 18, 5, 8 + 48 + 16*5
	f := kerneltest.Shapefile{Kind: kshape.ShapePolygon, First: 1, Base: 100}
	content := make([]byte, size-8)
	content[0], content[36], content[40] = 5, 1, points
	for range records {
		f.Add(content, kerneltest.ShapeRow{})
	}
	x, text := f.Found(r, nil), kerneltest.Upload(r, f.Text)
	r.OK(kshape.FindShapes(r.Set, r.Stream, text, x))
	rings := kerneltest.Poisoned[int64](r, records+1)
	to := kshape.ShapePositions{
		X: kerneltest.Poisoned[float64](r, records*points),
		Y: kerneltest.Poisoned[float64](r, records*points),
	}
	switch what {
	case "find":
		return measurement{launch: func() error {
			return kshape.FindShapes(r.Set, r.Stream, text, x)
		}, moved: records * (64 + 8 + 25), items: records}
	case "read":
		return measurement{launch: func() error {
			return kshape.ReadShapes(r.Set, r.Stream, text, x, to)
		}, moved: records * points * 32, items: records * points}
	case "parts":
		return measurement{launch: func() error {
			return kshape.ShapeParts(r.Set, r.Stream, text, x, rings)
		}, moved: records * (4 + 8 + 24), items: records}
	}
	panic(fmt.Sprintf("no kernel %q", what))
}

// recode prepares texts of 32 bytes in ISO-8859-1, of which one byte becomes two.
func recode(r *kerneltest.Rig) measurement {
	const texts, width = 1 << 22, 32
	text, page := kerneltest.Upload(r, bytes.Repeat([]byte("Stra\xdfe 123, 80331 Hintertupfing."), texts)),
		kerneltest.CodePage(charmap.ISO8859_1)
	table, odd := kerneltest.Upload(r, page[:]), kerneltest.Upload(r, []uint32{0})
	starts, ends := make([]int64, texts), make([]int64, texts)
	for i := range starts {
		starts[i], ends[i] = int64(i*width), int64((i+1)*width)
	}
	from, to, offsets, out := kerneltest.Upload(r, starts), kerneltest.Upload(r, ends),
		kerneltest.Poisoned[int64](r, texts+1),
		kerneltest.Poisoned[byte](r, texts*(width+1))
	return measurement{launch: func() error {
		if err := ktext.MeasureRecoded(r.Set, r.Stream, text, from, to, table, offsets, odd); err != nil {
			return err
		}
		return ktext.GatherRecoded(r.Set, r.Stream, text, from, to, table, offsets, out)
	}, moved: texts * (3*width + 1 + 16 + 8 + 24), items: texts * width}
}
