package kernels_test

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/text/encoding/charmap"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// corpus is the text that benchmarks read, and what one of them needs of it that another primitive
// finds. It is found when it is first asked for.
type corpus struct {
	*rig
	text gpu.Buffer[byte]

	inside       kernels.Mask
	depth        *kernels.Depth
	keys         gpu.Buffer[int64] // of "coordinates"
	spanEnds     gpu.Buffer[int64] // of their values
	starts, ends gpu.Buffer[int64] // of all numbers outside strings
	positions    gpu.Buffer[int64] // of brackets around positions
	blanks       *kernels.Blanks
}

func (c *corpus) bytes() int64 { return int64(c.text.Len()) }

func (c *corpus) mask(r *rig) kernels.Mask { return poisoned[uint64](r, kernels.Words(c.text.Len())) }

// quotes gives the mask of what is inside strings.
func (c *corpus) quotes() kernels.Mask {
	if c.inside.Len() == 0 {
		c.inside = c.mask(c.rig)
		c.ok(c.k.QuoteParity(c.s, c.text, '"', kernels.QuoteEscaped, c.inside, gpu.Buffer[kernels.QuoteCarry]{}))
	}
	return c.inside
}

// brackets gives the depth.
func (c *corpus) brackets() *kernels.Depth {
	if c.depth == nil {
		d, err := kernels.AllocDepth(c.s, c.text.Len(), kernels.Brackets{Open: "{[", Close: "}]"})
		c.ok(err)
		c.Cleanup(func() { c.ok(d.Free(c.s)) })
		c.ok(c.k.BracketDepth(c.s, c.text, c.quotes(), d, gpu.Buffer[kernels.DepthCarry]{}))
		c.depth = d
	}
	return c.depth
}

const coordinatesKey = `"coordinates":`

// values gives where the keys of coordinates are, and where their values end.
func (c *corpus) values() (keys, ends gpu.Buffer[int64]) {
	if c.keys.Len() == 0 {
		hits := c.mask(c.rig)
		c.ok(c.k.PatternMatch(c.s, c.text, []byte(coordinatesKey), c.quotes(), -1, hits))
		var err error
		c.keys, err = c.k.AllocPositions(c.s, hits, 0)
		c.ok(err)
		c.Cleanup(func() { freed(c.rig, c.keys) })
		c.spanEnds = poisoned[int64](c.rig, c.keys.Len())
		c.ok(c.k.SpanBoundaries(c.s, c.brackets(), c.keys, len(coordinatesKey), c.spanEnds))
	}
	return c.keys, c.spanEnds
}

// numbers gives where all numbers start and end.
func (c *corpus) numbers() (starts, ends gpu.Buffer[int64]) {
	if c.starts.Len() == 0 {
		start, end := c.mask(c.rig), c.mask(c.rig)
		c.ok(c.k.NumberBoundaries(c.s, c.text, c.quotes(), kernels.Separators{Before: -1, Behind: -1}, start, end))
		var err error
		c.starts, c.ends, _, err = c.k.AllocNumbers(c.s, start, end, kernels.Mask{})
		c.ok(err)
		c.Cleanup(func() { freed(c.rig, c.starts); freed(c.rig, c.ends) })
	}
	return c.starts, c.ends
}

// polygons gives the coordinates, all of polygons.
func (c *corpus) polygons() kernels.Coordinates {
	keys, ends := c.values()
	kinds := make([]kernels.TypeKind, keys.Len())
	for i := range kinds {
		kinds[i] = kernels.KindPolygon
	}
	return kernels.Coordinates{Starts: keys, Ends: ends, Kinds: upload(c.rig, kinds)}
}

// brackets around positions.
func (c *corpus) points() (gpu.Buffer[int64], *kernels.Blanks) {
	if c.positions.Len() == 0 {
		rings, err := c.k.CountRings(c.s, c.text, c.brackets(), kernels.Mask{}, c.polygons())
		c.ok(err)
		c.positions = c.listed(c.rig, rings).Positions
		c.blanks, err = kernels.AllocBlanks(c.s, c.text.Len())
		c.ok(err)
		c.Cleanup(func() { c.ok(c.blanks.Free(c.s)) })
		c.ok(c.k.FindBlanks(c.s, c.text, c.blanks))
	}
	return c.positions, c.blanks
}

// listed lists rings, and frees what counted them at the end.
func (c *corpus) listed(r *rig, rings *kernels.Rings) kernels.RingOffsets {
	r.Cleanup(func() { r.ok(rings.Free(r.s)) })
	out := kernels.RingOffsets{
		Spans: poisoned[int64](r, c.keys.Len()+1), Parts: poisoned[int64](r, int(rings.Parts)+1),
		Rings: poisoned[int64](r, int(rings.Rings)+1), Positions: poisoned[int64](r, int(rings.Positions)),
	}
	r.ok(r.k.ListRings(r.s, rings, out))
	return out
}

// benchmarks are in the order in which a parser needs them. The first is what others are compared
// with.
var benchmarks = []benchmark{
	{"copy on the device", func(r *rig, c *corpus) measured {
		to := poisoned[byte](r, c.text.Len())
		return measured{launch: func() error { return gpu.Copy(r.s, to, c.text) }, moved: 2 * c.bytes()}
	}},
	{"quote parity", func(r *rig, c *corpus) measured {
		inside := c.mask(r)
		return measured{launch: func() error {
			return r.k.QuoteParity(r.s, c.text, '"', kernels.QuoteEscaped, inside, gpu.Buffer[kernels.QuoteCarry]{})
		}, moved: c.bytes() * 9 / 8}
	}},
	{"structure", func(r *rig, c *corpus) measured {
		x, _ := structureFor(r, c)
		return measured{launch: func() error {
			return r.k.ParseStructure(r.s, c.text, x, gpu.Buffer[kernels.StructureCarry]{})
		}, moved: c.bytes() * 11 / 8}
	}},
	{"structure and its masks", func(r *rig, c *corpus) measured {
		x, masks := structureFor(r, c)
		return measured{launch: func() error {
			if err := r.k.ParseStructure(r.s, c.text, x, gpu.Buffer[kernels.StructureCarry]{}); err != nil {
				return err
			}
			return r.k.StructureMasks(r.s, x, masks)
		}, moved: c.bytes() * 27 / 16}
	}},
	{"bracket depth", func(r *rig, c *corpus) measured {
		inside, d := c.quotes(), c.brackets()
		return measured{launch: func() error {
			return r.k.BracketDepth(r.s, c.text, inside, d, gpu.Buffer[kernels.DepthCarry]{})
		}, moved: c.bytes() * (64 + 8 + 24 + 4 + 4) / 64}
	}},
	{"pattern match, 14 bytes", func(r *rig, c *corpus) measured {
		inside, hits := c.quotes(), c.mask(r)
		return measured{launch: func() error {
			return r.k.PatternMatch(r.s, c.text, []byte(coordinatesKey), inside, -1, hits)
		}, moved: c.bytes() * 10 / 8}
	}},
	{"positions of a mask", func(r *rig, c *corpus) measured {
		hits := c.mask(r)
		r.ok(r.k.PatternMatch(r.s, c.text, []byte(coordinatesKey), c.quotes(), -1, hits))
		n, err := r.k.CountBits(r.s, hits)
		r.ok(err)
		out := poisoned[int64](r, int(n))
		return measured{launch: func() error {
			return r.k.Positions(r.s, hits, 0, out, gpu.Buffer[int64]{})
		}, moved: c.bytes()/8 + 8*n}
	}},
	{"span boundaries", func(r *rig, c *corpus) measured {
		keys, _ := c.values()
		d, ends := c.brackets(), poisoned[int64](r, keys.Len())
		return measured{launch: func() error {
			return r.k.SpanBoundaries(r.s, d, keys, len(coordinatesKey), ends)
		}, moved: 16 * int64(keys.Len()), items: int64(keys.Len())}
	}},
	{"mark spans", func(r *rig, c *corpus) measured {
		keys, ends := c.values()
		from, to, mask := uploadShort(r, read(r, keys)), uploadShort(r, read(r, ends)), c.mask(r)
		return measured{launch: func() error {
			return r.k.MarkSpans(r.s, from, to, c.text.Len(), mask)
		}, moved: 8*int64(keys.Len()) + c.bytes()/8}
	}},
	{"GeoJSON types", func(r *rig, c *corpus) measured {
		hits := c.mask(r)
		r.ok(r.k.PatternMatch(r.s, c.text, []byte("Polygon"), kernels.Mask{}, -1, hits))
		names, err := r.k.AllocPositions(r.s, hits, 0)
		r.ok(err)
		r.Cleanup(func() { freed(r, names) })
		kinds := poisoned[kernels.TypeKind](r, names.Len())
		return measured{launch: func() error {
			return r.k.GeoJSONTypes(r.s, c.text, names, `"`, kinds)
		}, moved: 33 * int64(names.Len()), items: int64(names.Len())}
	}},
	{"rings counted and listed", func(r *rig, c *corpus) measured {
		polygons, d := c.polygons(), c.brackets()
		rings, err := r.k.CountRings(r.s, c.text, d, kernels.Mask{}, polygons)
		r.ok(err)
		out := c.listed(r, rings)
		return measured{
			launch: func() error {
				again, err := r.k.CountRings(r.s, c.text, d, kernels.Mask{}, polygons)
				if err != nil {
					return err
				}
				if err := r.k.ListRings(r.s, again, out); err != nil {
					return err
				}
				return again.Free(r.s)
			}, moved: c.bytes()*5/16 + 8*(rings.Positions+rings.Rings+rings.Parts) + 25*int64(c.keys.Len()),
			items: rings.Positions,
		}
	}},
	{"blanks", func(r *rig, c *corpus) measured {
		b, err := kernels.AllocBlanks(r.s, c.text.Len())
		r.ok(err)
		r.Cleanup(func() { r.ok(b.Free(r.s)) })
		return measured{launch: func() error { return r.k.FindBlanks(r.s, c.text, b) }, moved: c.bytes() * 513 / 512}
	}},
	{"positions parsed", func(r *rig, c *corpus) measured {
		at, blanks := c.points()
		n := at.Len()
		to := kernels.Ordinates{
			X: poisoned[float64](r, n), Y: poisoned[float64](r, n),
			Undecided: poisoned[uint64](r, kernels.Words(n)), Found: poisoned[kernels.PositionsFound](r, 1),
		}
		return measured{launch: func() error {
			return r.k.ParsePositions(r.s, c.text, blanks, at, kernels.PositionJSON, to)
		}, moved: c.bytes() + 24*int64(n), items: 2 * int64(n)}
	}},
	{"WKT, polygons of 7 positions", func(r *rig, _ *corpus) measured { return wktOf(r, 1<<20, 7) }},
	{"WKT, positions parsed", func(r *rig, _ *corpus) measured { return wktPositionsOf(r, 1<<20, 7) }},
	{"tagged dimensions", func(r *rig, _ *corpus) measured { return taggedOf(r, 1<<20, 7) }},
	{"dimensions of geometries", func(r *rig, _ *corpus) measured { return dimsOf(r, 1<<20, 7) }},
	{"WKB, polygons of 7 positions", func(r *rig, _ *corpus) measured { return wkbOf(r, 1<<20, 7) }},
	{"WKB, one polygon of 7 M positions", func(r *rig, _ *corpus) measured { return wkbOf(r, 1, 7<<20) }},
	{"arrays joined, 120 bytes", func(r *rig, _ *corpus) measured { return arraysOf(r, 1<<20, 120) }},
	{"number boundaries", func(r *rig, c *corpus) measured {
		inside, start, end := c.quotes(), c.mask(r), c.mask(r)
		return measured{launch: func() error {
			return r.k.NumberBoundaries(r.s, c.text, inside, kernels.Separators{Before: -1, Behind: -1}, start, end)
		}, moved: c.bytes() * 11 / 8}
	}},
	{"extract numbers", func(r *rig, c *corpus) measured {
		starts, _ := c.numbers()
		n := starts.Len()
		start, end, a, b := c.mask(r), c.mask(r), poisoned[int64](r, n), poisoned[int64](r, n)
		r.ok(r.k.NumberBoundaries(r.s, c.text, c.quotes(), kernels.Separators{Before: -1, Behind: -1}, start, end))
		return measured{launch: func() error {
			return r.k.ExtractNumbers(r.s, start, end, kernels.Mask{}, a, b, gpu.Buffer[kernels.Extracted]{})
		}, moved: c.bytes()/4 + 16*int64(n), items: int64(n)}
	}},
	{"parse float64", func(r *rig, c *corpus) measured {
		starts, ends := c.numbers()
		n := starts.Len()
		to := kernels.Float64s{
			Out: poisoned[float64](r, n), Valid: poisoned[uint64](r, kernels.Words(n)),
			Undecided: poisoned[uint64](r, kernels.Words(n)),
		}
		return measured{launch: func() error {
			return r.k.ParseFloat64(r.s, c.text, starts, ends, kernels.GrammarJSON, to)
		}, moved: c.bytes() + 24*int64(n), items: int64(n)}
	}},
	{"parse int64", func(r *rig, c *corpus) measured {
		starts, ends := c.numbers()
		n := starts.Len()
		out, valid, overflow := poisoned[int64](r, n), poisoned[uint64](r, kernels.Words(n)),
			poisoned[uint64](r, kernels.Words(n))
		return measured{launch: func() error {
			return r.k.ParseInt64(r.s, c.text, starts, ends, kernels.GrammarJSON, out, valid, overflow)
		}, moved: c.bytes() + 24*int64(n), items: int64(n)}
	}},
	{"read scalars", func(r *rig, c *corpus) measured {
		return scalarsOf(r, c, func(_ kernels.Scalars, queue queueScalars, rows int64) measured {
			return measured{launch: func() error {
				return queue(nil, kernels.Mask{})
			}, moved: c.bytes() + scalarColumns*rows*37, items: scalarColumns * rows}
		})
	}},
	{"read scalars, types expected", func(r *rig, c *corpus) measured {
		return scalarsOf(r, c, func(_ kernels.Scalars, queue queueScalars, rows int64) measured {
			to, undecided := scalarFloats(r, int(rows))
			return measured{launch: func() error {
				return queue(to, undecided)
			}, moved: c.bytes() + scalarColumns*rows*45, items: scalarColumns * rows}
		})
	}},
	{"parse numbers", func(r *rig, c *corpus) measured {
		return scalarsOf(r, c, func(x kernels.Scalars, queue queueScalars, rows int64) measured {
			r.ok(queue(nil, kernels.Mask{}))
			to, undecided := scalarFloats(r, int(rows))
			return measured{launch: func() error {
				return r.k.ParseNumbers(r.s, c.text, x, to, undecided)
			}, moved: c.bytes() + scalarColumns*rows*24, items: scalarColumns * rows}
		})
	}},
	{"exclusive scan of int64", func(r *rig, c *corpus) measured {
		starts, _ := c.numbers()
		out := poisoned[int64](r, starts.Len())
		return measured{launch: func() error {
			return kernels.ExclusiveScan(r.k, r.s, starts, out, gpu.Buffer[int64]{})
		}, moved: 16 * int64(starts.Len()), items: int64(starts.Len())}
	}},
	{"rows and delimiters", func(r *rig, c *corpus) measured {
		inside := c.quotes()
		m := kernels.RowMasks{Ends: c.mask(r), Delimiters: c.mask(r), Stray: c.mask(r)}
		d := kernels.Dialect{Delimiter: ',', Quote: '"'}
		return measured{launch: func() error {
			return r.k.Rows(r.s, c.text, inside, d, kernels.EndOfFile, m, gpu.Buffer[kernels.RowCarry]{})
		}, moved: c.bytes() * 12 / 8}
	}},
	{"strings, 10 bytes", func(r *rig, _ *corpus) measured { return gather(r, 10, 1<<24, 'x') }},
	{"strings, 10 bytes, escapes", func(r *rig, _ *corpus) measured { return gather(r, 10, 1<<24, '\\') }},
	{"strings, one of 200 MB", func(r *rig, _ *corpus) measured { return gather(r, 200_000_000, 1, 'x') }},
	{"strings, one of 200 MB, escapes", func(r *rig, _ *corpus) measured { return gather(r, 200_000_000, 1, '\\') }},
	{"hex", func(r *rig, _ *corpus) measured {
		const spans, digits = 1 << 20, 250
		text := upload(r, bytes.Repeat([]byte("0aF3c"), spans*digits/5))
		starts, ends := make([]int64, spans), make([]int64, spans)
		for i := range starts {
			starts[i], ends[i] = int64(i*digits), int64((i+1)*digits)
		}
		from, to := upload(r, starts), upload(r, ends)
		offsets, bad, out := poisoned[int64](r, spans+1), poisoned[uint64](r, kernels.Words(spans)),
			poisoned[byte](r, spans*digits/2)
		return measured{launch: func() error {
			if err := r.k.HexOffsets(r.s, text, from, to, offsets, bad); err != nil {
				return err
			}
			return r.k.HexBytes(r.s, text, from, offsets, out, bad)
		}, moved: spans*digits*3/2 + spans*24, items: spans * digits}
	}},
	{"match keys", func(r *rig, _ *corpus) measured { return membersOf(r, "match keys") }},
	{"place levels", func(r *rig, _ *corpus) measured { return membersOf(r, "place levels") }},
	{"unknown keys", func(r *rig, _ *corpus) measured { return membersOf(r, "unknown keys") }},
	{"count members", func(r *rig, _ *corpus) measured { return membersOf(r, "count members") }},
	{"tally", func(r *rig, _ *corpus) measured { return membersOf(r, "tally") }},
	{"table", func(r *rig, _ *corpus) measured { return tableBench(r, "table") }},
	{"table kinds", func(r *rig, _ *corpus) measured { return tableBench(r, "table kinds") }},
	{"parse table", func(r *rig, _ *corpus) measured { return tableBench(r, "parse table") }},
	{"table points", func(r *rig, _ *corpus) measured { return tableBench(r, "table points") }},
	{"table dates", func(r *rig, _ *corpus) measured { return tableDates(r) }},
	{"table texts", func(r *rig, _ *corpus) measured { return tableBench(r, "table texts") }},
	{"cell spans", func(r *rig, _ *corpus) measured { return tableBench(r, "cell spans") }},
	{"cell lines", func(r *rig, _ *corpus) measured { return tableBench(r, "cell lines") }},
	{"check cells", func(r *rig, _ *corpus) measured { return tableBench(r, "check cells") }},
	{"table offsets", func(r *rig, _ *corpus) measured { return tableOffsets(r) }},
	{"longest gap", func(r *rig, _ *corpus) measured { return longestGap(r) }},
	{"check values", func(r *rig, _ *corpus) measured { return nestedValues(r, "check values") }},
	{"rank", func(r *rig, _ *corpus) measured { return nestedValues(r, "rank") }},
	{"elements of lists", func(r *rig, _ *corpus) measured { return nestedValues(r, "elements of lists") }},
	{"fixed-width float64", func(r *rig, _ *corpus) measured { return fixed(r, "float64") }},
	{"fixed-width int64", func(r *rig, _ *corpus) measured { return fixed(r, "int64") }},
	{"fixed-width date", func(r *rig, _ *corpus) measured { return fixed(r, "date") }},
	{"fixed-width logical", func(r *rig, _ *corpus) measured { return fixed(r, "logical") }},
	{"fixed rows", func(r *rig, _ *corpus) measured { return fixedColumns(r, "rows") }},
	{"fixed values", func(r *rig, _ *corpus) measured { return fixedColumns(r, "values") }},
	{"fixed texts", func(r *rig, _ *corpus) measured { return fixedColumns(r, "texts") }},
	{"recode", func(r *rig, _ *corpus) measured { return recode(r) }},
	{"find shapes", func(r *rig, _ *corpus) measured { return shapes(r, "find") }},
	{"read shapes", func(r *rig, _ *corpus) measured { return shapes(r, "read") }},
	{"parts of shapes", func(r *rig, _ *corpus) measured { return shapes(r, "parts") }},
}

const scalarColumns = 4

// queueScalars reads columns of scalars.
type queueScalars func(expected []kernels.NumberColumn, undecided kernels.Mask) error

// scalarFloats is room for all of them as float64.
func scalarFloats(r *rig, rows int) (to []kernels.NumberColumn, undecided kernels.Mask) {
	for i := range scalarColumns {
		to = append(to, kernels.NumberColumn{Column: i, Float64: poisoned[float64](r, rows)})
	}
	return to, poisoned[uint64](r, scalarColumns*kernels.Words(rows))
}

// scalarsOf prepares the numbers of the corpus as the values of a few columns; queue reads them.
func scalarsOf(r *rig, c *corpus, use func(x kernels.Scalars, queue queueScalars, rows int64) measured) measured {
	from, to := c.numbers()
	starts, ends := uploadShort(r, read(r, from)), uploadShort(r, read(r, to))
	rows := starts.Len() / scalarColumns
	slots := make([]gpu.Buffer[int32], scalarColumns)
	for i := range slots {
		column := make([]int32, rows)
		for row := range column {
			column[row] = int32(row*scalarColumns + i)
		}
		slots[i] = upload(r, column)
	}
	kind, words := upload(r, slices.Repeat([]kernels.ValueKind{kernels.ValueNumber}, starts.Len())),
		scalarColumns*kernels.Words(rows)
	x := kernels.Scalars{
		Starts: poisoned[int64](r, scalarColumns*rows), Ends: poisoned[int64](r, scalarColumns*rows),
		Kinds: poisoned[uint32](r, scalarColumns),
		Valid: poisoned[uint64](r, words), Numbers: poisoned[uint64](r, words), Trues: poisoned[uint64](r, words),
	}
	return use(x, func(expected []kernels.NumberColumn, undecided kernels.Mask) error {
		_, err := r.k.ReadMembers(r.s, c.text, kernels.MemberValues{Start: starts, End: ends, Kind: kind},
			kernels.ScalarColumns{Slots: slots, To: x, Expected: expected, Undecided: undecided}, nil)
		return err
	}, int64(rows))
}

// gather prepares a column of equal strings, every fifth byte of which is mark: a byte like others,
// or with the one behind it an escape.
func gather(r *rig, length, strings int, mark byte) measured {
	text := bytes.Repeat([]byte{'n', 'n', 'n', mark, 'n'}, length*strings/5)
	starts, ends := make([]int64, strings), make([]int64, strings)
	for i := range starts {
		starts[i], ends[i] = int64(i*length), int64((i+1)*length)
	}
	t, from, to := upload(r, text), upload(r, starts), upload(r, ends)
	offsets, out := poisoned[int64](r, strings+1), poisoned[byte](r, len(text))
	return measured{launch: func() error {
		x, err := r.k.MeasureStrings(r.s, t, from, to, kernels.StringsJSON, offsets)
		if err != nil {
			return err
		}
		if err := r.k.GatherStrings(r.s, x, out, gpu.Buffer[int32]{}); err != nil {
			return err
		}
		return x.Free(r.s)
	}, moved: 2*int64(len(text)) + 24*int64(strings), items: int64(len(text))}
}

// nestedValues prepares arrays of small objects, or of numbers, that all of a text but a seventh is
// made of.
func nestedValues(r *rig, which string) measured {
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
	text, from := upload(r, bytes.Repeat([]byte(row), rows)), uploadShort(r, starts)
	n := text.Len()
	x, err := kernels.AllocStructure(r.s, n)
	r.ok(err)
	r.Cleanup(func() { r.ok(x.Free(r.s)) })
	r.ok(r.k.ParseStructure(r.s, text, x, gpu.Buffer[kernels.StructureCarry]{}))
	within, solid, fault := poisoned[uint64](r, kernels.Words(n)), poisoned[uint64](r, kernels.Words(n)),
		poisoned[int64](r, 1)
	r.ok(r.k.MarkSpans(r.s, from, uploadShort(r, ends), n, within))
	switch which {
	case "check values":
		return measured{launch: func() error {
			return r.k.CheckValues(r.s, text, x, within, 64, solid, fault)
		}, moved: int64(n) * 13 / 8, items: int64(n)}
	case "rank":
		return measured{launch: func() error {
			ranks, err := r.k.Rank(r.s, within)
			if err != nil {
				return err
			}
			return ranks.Free(r.s)
		}, moved: int64(n) / 4, items: int64(n)}
	}
	return measured{launch: func() error {
		l, err := r.k.FindElements(r.s, text, x, within, 3, from)
		if err != nil {
			return err
		}
		if err := r.k.ReadElements(r.s, l, int64(7*rows)); err != nil {
			return err
		}
		return l.Free(r.s)
	}, moved: int64(n)*14/8 + 7*16*int64(rows), items: int64(n)}
}

// fixed prepares a field of the records of a DBF table: N 12.3, N 10, D, L.
func fixed(r *rig, field string) measured {
	const records, stride = 1 << 23, 32
	row := []byte(" 12345678.123123456789020260228T")
	text := upload(r, bytes.Repeat(row[:stride], records))
	mask := func() kernels.Mask { return poisoned[uint64](r, kernels.Words(records)) }
	f := kernels.FixedField{Stride: stride, Records: records}
	valid, malformed := mask(), mask()
	m := measured{items: records}
	switch field {
	case "float64":
		f.Offset, f.Width = 1, 12
		to := kernels.Float64s{Out: poisoned[float64](r, records), Valid: valid, Undecided: mask()}
		m.launch, m.moved = func() error { return r.k.FixedFloat64(r.s, text, f, to, malformed) }, records*(stride+8)
	case "int64":
		f.Offset, f.Width = 13, 10
		to := kernels.FixedInt64s{
			Out: poisoned[int64](r, records), Valid: valid, Malformed: malformed,
			Overflow: mask(), Fraction: mask(),
		}
		m.launch, m.moved = func() error { return r.k.FixedInt64(r.s, text, f, to) }, records*(stride+8)
	case "date":
		f.Offset, f.Width = 23, 8
		days := poisoned[int32](r, records)
		m.launch, m.moved = func() error {
			return r.k.FixedDate(r.s, text, f, days, valid, malformed)
		}, records*(stride+4)
	case "logical":
		f.Offset, f.Width = 31, 1
		out := mask()
		m.launch, m.moved = func() error {
			return r.k.FixedLogical(r.s, text, f, out, valid, malformed)
		}, records*stride
	default:
		panic(fmt.Sprintf("no field %q", field))
	}
	return m
}

// structureFor takes the memory of a structure and its masks for the benchmark's text.
func structureFor(r *rig, c *corpus) (*kernels.Structure, *kernels.StructureMasks) {
	x, err := kernels.AllocStructure(r.s, c.text.Len())
	r.ok(err)
	r.Cleanup(func() { r.ok(x.Free(r.s)) })
	masks, err := kernels.AllocStructureMasks(r.s, c.text.Len())
	r.ok(err)
	r.Cleanup(func() { r.ok(masks.Free(r.s)) })
	return x, masks
}

// fixedColumns prepares the records of a DBF table: N 12.3, N 10, D and L, and the first two as
// texts.
func fixedColumns(r *rig, what string) measured {
	const records, stride = 1 << 22, 32
	text, odd := upload(r, bytes.Repeat([]byte(" 12345678.123123456789020260228T"), records)), upload(r, []uint32{0})
	x := &kernels.FixedRecords{
		Length: stride, Records: records, Rows: poisoned[int64](r, records),
		Live: poisoned[int64](r, 1),
	}
	r.ok(r.k.FixedRows(r.s, text, x, false, odd))
	column := func(kind kernels.FixedType, offset, width int) kernels.FixedColumn {
		return kernels.FixedColumn{
			Type: kind, Offset: offset, Width: width, Null: kernels.FixedNoFlag,
			Size: kernels.FixedNoFlag,
		}
	}
	switch what {
	case "rows":
		return measured{launch: func() error {
			return r.k.FixedRows(r.s, text, x, false, odd)
		}, moved: records * (stride + 8), items: records}
	case "values":
		columns := []kernels.FixedColumn{
			column(kernels.FixedAsFloat64, 1, 12), column(kernels.FixedAsInt64, 13, 10),
			column(kernels.FixedAsDate, 23, 8), column(kernels.FixedAsLogical, 31, 1),
		}
		words := 0
		for _, c := range columns {
			words += c.Type.Words(records)
		}
		values, valid := poisoned[uint64](r, words), poisoned[uint64](r, len(columns)*kernels.Words(records))
		return measured{launch: func() error {
			return r.k.FixedValues(r.s, text, x, columns, values, valid, odd)
		}, moved: records * (stride + 8 + 20), items: records}
	case "texts":
		columns := []kernels.FixedColumn{column(kernels.FixedText, 1, 12), column(kernels.FixedText, 13, 10)}
		starts, ends, valid := poisoned[int64](r, 2*records), poisoned[int64](r, 2*records),
			poisoned[uint64](r, 2*kernels.Words(records))
		return measured{launch: func() error {
			return r.k.FixedTexts(r.s, text, x, columns, true, starts, ends, valid, odd)
		}, moved: records * (stride + 8 + 32), items: records}
	}
	panic(fmt.Sprintf("no kernel %q", what))
}

// shapes prepares the records of a .shp, polygons of one ring of five positions.
func shapes(r *rig, what string) measured {
	const records, points, size = 1 << 18, 5, 8 + 48 + 16*5
	f := shapefile{kind: kernels.ShapePolygon, first: 1, base: 100}
	content := make([]byte, size-8)
	content[0], content[36], content[40] = 5, 1, points
	for range records {
		f.add(content, shapeRow{})
	}
	x, text := f.found(r, nil), upload(r, f.text)
	r.ok(r.k.FindShapes(r.s, text, x))
	rings := poisoned[int64](r, records+1)
	to := kernels.ShapePositions{X: poisoned[float64](r, records*points), Y: poisoned[float64](r, records*points)}
	switch what {
	case "find":
		return measured{launch: func() error {
			return r.k.FindShapes(r.s, text, x)
		}, moved: records * (64 + 8 + 25), items: records}
	case "read":
		return measured{launch: func() error {
			return r.k.ReadShapes(r.s, text, x, to)
		}, moved: records * points * 32, items: records * points}
	case "parts":
		return measured{launch: func() error {
			return r.k.ShapeParts(r.s, text, x, rings)
		}, moved: records * (4 + 8 + 24), items: records}
	}
	panic(fmt.Sprintf("no kernel %q", what))
}

// recode prepares texts of 32 bytes in ISO-8859-1, of which one byte becomes two.
func recode(r *rig) measured {
	const texts, width = 1 << 22, 32
	text, page := upload(r, bytes.Repeat([]byte("Stra\xdfe 123, 80331 Hintertupfing."), texts)),
		codePage(charmap.ISO8859_1)
	table, odd := upload(r, page[:]), upload(r, []uint32{0})
	starts, ends := make([]int64, texts), make([]int64, texts)
	for i := range starts {
		starts[i], ends[i] = int64(i*width), int64((i+1)*width)
	}
	from, to, offsets, out := upload(r, starts), upload(r, ends), poisoned[int64](r, texts+1),
		poisoned[byte](r, texts*(width+1))
	return measured{launch: func() error {
		if err := r.k.MeasureRecoded(r.s, text, from, to, table, offsets, odd); err != nil {
			return err
		}
		return r.k.GatherRecoded(r.s, text, from, to, table, offsets, out)
	}, moved: texts * (3*width + 1 + 16 + 8 + 24), items: texts * width}
}
