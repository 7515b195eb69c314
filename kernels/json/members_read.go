package json

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// MemberValues are the values of members, as Records has them: quotes and brackets included.
type MemberValues struct {
	Start, End gpu.Buffer[uint32]
	Kind       gpu.Buffer[ValueKind]
}

// ScalarColumns are columns whose single values are to be read.
//
//	Slots      of each column: the member that is the value of each row, or -1
//	To         overwritten
//	Expected   columns whose type one knows already, as of the rows before; in the order of Column
//	Undecided  Words(rows) words for each Float64, overwritten, as ParseNumbers has them
//	Texts      columns whose single values are measured as texts, ascending: as MeasureShortStrings does it
//	           with StringsJSON
//	Offsets    rows + 1 elements for each of Texts, overwritten. They are for GatherStrings and
//	           MeasureLongStrings; what these need not know is left out until then
//
// The values of expected columns are made in passing. They are those of ParseNumbers, bit for bit,
// if Kinds then says that their type holds all numbers; if it does not, they are overwritten with
// what means nothing.
//
//	text     {"a":"x y"} {"a":1} {"a":null} {"a":true} {"a":[2]}
//	Starts        6          16  0              38         0
//	Ends          9          17  0              42         0
//	Valid         1          1   .              1          1
//	Numbers       .          1   .              .          .
//	Trues         .          .   .              1          .
//	Kinds    Int32
type ScalarColumns struct {
	Slots     []gpu.Buffer[int32]
	To        knumber.Scalars
	Expected  []knumber.NumberColumn
	Undecided kernels.Mask
	Texts     []int
	Offsets   gpu.Buffer[int64]
}

// GeometryMembers are the members that say what geometries are: of each row a member, or -1.
//
//	Record       its value names the record's own type: Feature; or no element
//	Type         its value names the type, as GeoJSONTypes has it
//	Geometry     the record's member whose value the geometry is; or no element: every row has a geometry
//	Coordinates  arrays
//	Geometries   likewise
//	Base         where the empty span of a row without coordinates lies
type GeometryMembers struct {
	Record, Type, Geometry, Coordinates, Geometries gpu.Buffer[int32]
	Base                                            gpu.Buffer[int64]
}

// GeometryRows are rows whose geometries' types are to be read, where coordinates are checked to
// stand with the types that have them.
//
//	To      overwritten: of the coordinates of each row, and what its type names, whether it has a geometry or not
//	Kinds   an element a row, overwritten: none has GeometryZ
//	Valid   a bit a row, overwritten: it has a geometry
//	Report  one element, overwritten
//
//	text      {"geometry":{"type":"Point","coordinates":[1,2]}} {"geometry":null}
//	To.Kinds  Point                                             unknown
//	Kinds     Point                                             0
//	Valid     1                                                 .
type GeometryRows struct {
	GeometryMembers

	To     kgeom.Coordinates
	Kinds  gpu.Buffer[kgeom.GeometryKind]
	Valid  kernels.Mask
	Report gpu.Buffer[kgeom.GeometryReport]
}

// The structs of members_read.cu.
type (
	scalarColumnArgs struct {
		starts, ends          gpu.Pointer[int64]
		valid, numbers, trues gpu.Pointer[uint64]
		kinds                 gpu.Pointer[uint32]
		out                   [kernels.ColumnsAtOnce]gpu.Pointer[struct{}]
		undecided             gpu.Pointer[uint64]
		types, texts          uint32
		text                  ktext.StringColumn
	}
	geometryColumnArgs struct {
		begins, stops gpu.Pointer[int64]
		types         gpu.Pointer[kgeom.TypeKind]
		geometries    gpu.Pointer[kgeom.GeometryKind]
		present       gpu.Pointer[uint64]
		report        gpu.Pointer[kgeom.GeometryReport]
	}
	membersReadArgs struct {
		n, members, rows, columns int64
		slots                     [kernels.ColumnsAtOnce]gpu.Pointer[int32]
		scalars                   scalarColumnArgs
		geometries                geometryColumnArgs
	}
)

// ReadMembers reads the single values of columns, says which kinds of numbers there are and how
// long texts are, and reads the types of geometries. geometry may be nil, and there may be no
// columns; with both they are of the same rows. The caller frees the texts.
//
// One launch, another one for each 8 columns beyond the first, and beyond a million rows two for
// each column of texts. It reads 13 bytes a row of each column and up to 51 for the geometry, and
// the text under numbers, texts and names; it writes 16 bytes and three bits a column, 4 or 8 bytes
// where a type is expected, 8 bytes and 5 bits for a text, and 18 for the geometry. What columns
// and geometries both read is, most of it, fetched from memory once.
func ReadMembers(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], values MemberValues, columns ScalarColumns,
	geometry *GeometryRows,
) (*ktext.Texts, error) {
	w := k.Begin(s, "read members")
	n, members, count := w.CheckText(text), kernels.CountSpans(w, values.Start, values.End), len(columns.Slots)
	w.Need(int64(values.Kind.Len()) == members, "%d kinds for %d members", values.Kind.Len(), members)
	rows := columns.check(w)
	var ofGeometry [6]gpu.Arg
	var toGeometry geometryColumnArgs
	if geometry != nil {
		all := geometry.Kinds.Len()
		w.Need(count == 0 || all == rows, "columns of %d rows, and geometries of %d", rows, all)
		rows = all
		ofGeometry, toGeometry = geometry.args(w)
	}
	texts := columns.allocTexts(w, text, rows)
	to, expected, undecided, measured := columns.To, columns.Expected, columns.Undecided, columns.Texts
	for from := 0; (from < count || from == 0 && geometry != nil) && w.Err == nil; from += kernels.ColumnsAtOnce {
		end := min(from+kernels.ColumnsAtOnce, count)
		some, outs := to.Some(from, end, rows), knumber.NumberOutputs{Types: knumber.NoTypes}
		for len(expected) > 0 && expected[0].Column < end && w.Err == nil {
			outs.Add(w, expected[0].Column-from, &expected[0], rows)
			expected = expected[1:]
		}
		w.Need(outs.Floats <= undecided.Len(), "%d words of undecided bits, not %d", undecided.Len(), outs.Floats)
		if w.Err != nil {
			break
		}
		first, mask := len(columns.Texts)-len(measured), uint32(0)
		for ; len(measured) > 0 && measured[0] < end; measured = measured[1:] {
			mask |= 1 << (measured[0] - from)
		}
		args := membersReadArgs{
			n: n, members: members, rows: int64(rows), columns: int64(end - from),
			scalars: scalarColumnArgs{
				starts: some.Starts.Pointer(), ends: some.Ends.Pointer(),
				valid: some.Valid.Pointer(), numbers: some.Numbers.Pointer(), trues: some.Trues.Pointer(),
				kinds: some.Kinds.Pointer(), out: outs.To, undecided: undecided.Pointer(),
				types: outs.Types, texts: mask, text: texts.Column(first),
			},
			geometries: toGeometry,
		}
		for i, column := range columns.Slots[from:end] {
			args.slots[i] = column.Pointer()
		}
		parts := end - from
		if geometry != nil && from == 0 {
			parts++
		}
		if rows > 0 {
			inputs := kernels.JoinArgs([]gpu.Arg{text.Arg(), values.Start.Arg(), values.End.Arg(), values.Kind.Arg()},
				ofGeometry[:]...)
			w.Launch("members_read", kernels.Blocks(int64(rows), kernels.Block)*int64(parts), kernels.Block,
				append(inputs, gpu.Struct(&args))...)
		}
		undecided = undecided.Slice(outs.Floats, undecided.Len())
		ofGeometry, toGeometry = [len(ofGeometry)]gpu.Arg{}, geometryColumnArgs{}
	}
	w.Need(len(expected) == 0, "%d expected columns of none that there is", len(expected))
	w.Need(undecided.Len() == 0, "%d words of undecided bits too many", undecided.Len())
	texts.RebaseOffsets(w, rows)
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, texts.Free(s))
	}
	return texts, nil
}

// allocTexts allocates the columns that are measured as texts.
func (c *ScalarColumns) allocTexts(w *kernels.Call, text gpu.Buffer[byte], rows int) *ktext.Texts {
	for i, column := range c.Texts {
		w.Need(column >= 0 && column < len(c.Slots) && (i == 0 || column > c.Texts[i-1]),
			"texts in column %d of %d, or not in order", column, len(c.Slots))
	}
	return ktext.AllocTexts(w, text, c.To.Starts, c.To.Ends, c.Texts, rows, c.Offsets)
}

// check checks the columns and clears their kinds. It gives the rows that they have.
func (c *ScalarColumns) check(w *kernels.Call) (rows int) {
	columns, to := len(c.Slots), &c.To
	for i, column := range c.Slots {
		w.Need(i == 0 || column.Len() == rows, "a column of %d rows, and one of %d", rows, column.Len())
		rows = column.Len()
	}
	w.Need(to.Starts.Len() == columns*rows && to.Ends.Len() == columns*rows,
		"%d starts and %d ends for %d columns of %d rows", to.Starts.Len(), to.Ends.Len(), columns, rows)
	for _, mask := range []kernels.Mask{to.Valid, to.Numbers, to.Trues} {
		w.Need(mask.Len() == columns*kernels.Words(rows), "a mask of %d words for %d columns of %d rows", mask.Len(),
			columns, rows)
	}
	w.Need(to.Kinds.Len() == columns, "kinds of %d columns, of %d", to.Kinds.Len(), columns)
	if w.Err == nil && columns > 0 {
		w.Err = gpu.Fill(w.Stream, to.Kinds, 0)
	}
	return rows
}

// args checks the rows, clears their report, and gives them as the kernel takes them.
func (g *GeometryRows) args(w *kernels.Call) (of [6]gpu.Arg, to geometryColumnArgs) {
	count := int64(g.Kinds.Len())
	for _, slots := range []gpu.Buffer[int32]{g.Type, g.Coordinates, g.Geometries} {
		w.Need(int64(slots.Len()) == count, "members of %d rows, of %d", slots.Len(), count)
	}
	for _, slots := range []gpu.Buffer[int32]{g.Record, g.Geometry} {
		w.Need(int64(slots.Len()) == count || slots.Len() == 0, "types or geometries of %d rows, of %d",
			slots.Len(), count)
	}
	w.Need(int64(g.Base.Len()) == count && kernels.CountSpans(w, g.To.Starts, g.To.Ends) == count &&
		int64(g.To.Kinds.Len()) == count, "%d bases, %d starts and %d types for %d rows", g.Base.Len(),
		g.To.Starts.Len(), g.To.Kinds.Len(), count)
	w.CheckBits("valid", g.Valid, count)
	kgeom.ClearReport(w, g.Report)
	of = [...]gpu.Arg{
		g.Record.Arg(), g.Type.Arg(), g.Geometry.Arg(), g.Coordinates.Arg(), g.Geometries.Arg(), g.Base.Arg(),
	}
	to = geometryColumnArgs{
		begins: g.To.Starts.Pointer(), stops: g.To.Ends.Pointer(), types: g.To.Kinds.Pointer(),
		geometries: g.Kinds.Pointer(), present: g.Valid.Pointer(), report: g.Report.Pointer(),
	}
	return of, to
}
