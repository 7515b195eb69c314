package wkt_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// plain gives rows of ordinary files: some of the kinds and dimensions.
type plain struct {
	r     *rand.Rand
	kinds []string
	tags  []string // "", " Z", "M", …; "?" is none, and positions of two to four numbers
	empty bool     // EMPTY at various places, at every level
}

func (p plain) pick(of []string) string { return of[p.r.IntN(len(of))] }

// list returns a bracket with members, or EMPTY.
func (p plain) list(member func() string) string {
	if p.empty && p.r.IntN(9) == 0 {
		return p.pick([]string{"EMPTY", "EMPTY", "empty"})
	}
	all := make([]string, 1+p.r.IntN(4))
	for i := range all {
		all[i] = member()
	}
	return "(" + strings.Join(all, p.pick([]string{",", ", ", " ,\n"})) + ")"
}

func (p plain) row() string {
	kind, tag := p.pick(p.kinds), p.pick(p.tags)
	size := 2
	switch strings.TrimSpace(strings.ToUpper(tag)) {
	case "Z", "M":
		size = 3
	case "ZM":
		size = 4
	}
	if tag == "?" {
		tag, size = "", 2+p.r.IntN(3)
	}
	position := func() string {
		all := make([]string, size)
		for i := range all {
			all[i] = fmt.Sprintf("%.*f", p.r.IntN(15), p.r.Float64()*360-180)
		}
		return strings.Join(all, " ")
	}
	line := func() string { return p.list(position) }
	lines := func() string { return p.list(line) }
	var body string
	switch kind {
	case "POINT":
		if body = "(" + position() + ")"; p.empty && p.r.IntN(9) == 0 {
			body = "EMPTY"
		}
	case "LINESTRING":
		body = line()
	case "MULTIPOINT":
		if body = line(); p.r.IntN(2) == 0 {
			body = p.list(line1(p, position))
		}
	case "POLYGON", "MULTILINESTRING":
		body = lines()
	case "MULTIPOLYGON":
		body = p.list(lines)
	case "GEOMETRYCOLLECTION":
		body = p.list(plain{p.r, allKinds, p.tags, p.empty}.row)
	}
	if body[0] != '(' || p.r.IntN(2) == 0 {
		tag += " "
	}
	return kind + tag + body
}

// line1 returns members of a MultiPoint in brackets, or EMPTY.
func line1(p plain, position func() string) func() string {
	return func() string {
		if p.empty && p.r.IntN(9) == 0 {
			return "EMPTY"
		}
		return "(" + position() + ")"
	}
}

// file returns n rows, with something before and after each.
func (p plain) file(rows int, before, behind string) []byte {
	var b strings.Builder
	for range rows {
		b.WriteString(before + p.row() + behind)
	}
	return []byte(b.String())
}

// allKinds are the kinds that are no collections.
var allKinds = []string{"POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON"}

// TestDeviceAcceptsOrdinaryFiles holds the tables of the device against those of the CPU engine,
// and has it refuse nothing.
func TestDeviceAcceptsOrdinaryFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	xy := []string{""}
	for _, c := range []struct {
		name           string
		plain          plain
		before, behind string
	}{
		{"points", plain{r, []string{"POINT"}, xy, false}, "", "\n"},
		{"lines, CRLF", plain{r, []string{"LINESTRING"}, xy, false}, "", "\r\n"},
		{"polygons", plain{r, []string{"POLYGON"}, xy, false}, "", "\n"},
		{"multipoints, CR", plain{r, []string{"MULTIPOINT"}, xy, true}, "", "\r"},
		{"multilines, blanks", plain{r, []string{"MULTILINESTRING"}, xy, true}, "  ", " \t\n"},
		{"multipolygons, semicolons", plain{r, []string{"MULTIPOLYGON"}, xy, true}, "", ";"},
		{"empty points", plain{r, []string{"POINT"}, xy, true}, "", "\n"},
		{"points and multipoints", plain{r, []string{"POINT", "MULTIPOINT"}, xy, true}, "", "\n"},
		{"lines and multilines", plain{r, []string{"LINESTRING", "MULTILINESTRING"}, xy, true}, "", "\n"},
		{"polygons and multipolygons", plain{r, []string{"POLYGON", "MULTIPOLYGON"}, xy, true}, "", "\n"},
		{"any kind", plain{r, allKinds, xy, true}, "", "\n"},
		{"EWKT", plain{r, allKinds, xy, true}, "SRID=4326;", "\n"},
		{"EWKT, blanks", plain{r, []string{"POLYGON"}, xy, false}, "srid = 031 ; ", " ;\n"},
		{"nulls", plain{r, []string{"POINT"}, xy, true}, "NULL\n\n", "\n"},
		{"nulls and any kind", plain{r, allKinds, xy, true}, "null;", "\n"},
		{"Z", plain{r, []string{"POINT"}, []string{" Z"}, true}, "", "\n"},
		{"Z in small letters", plain{r, []string{"POLYGON"}, []string{"z"}, true}, "", "\n"},
		{"M", plain{r, []string{"LINESTRING"}, []string{" M"}, true}, "", "\n"},
		{"ZM", plain{r, []string{"POLYGON"}, []string{" ZM"}, true}, "", "\n"},
		{"of any dimension", plain{r, []string{"LINESTRING"}, []string{"", "Z", " m", " ZM", "?"}, true}, "", "\n"},
		{"of any kind and dimension", plain{r, allKinds, []string{"", "Z", " m", " ZM", "?"}, true}, "", "\n"},
		{
			"points of any dimension, nulls",
			plain{r, []string{"POINT"}, []string{"", "Z", " M", "?"}, true},
			"NULL;", "\n",
		},
		{"collections", plain{r, []string{"GEOMETRYCOLLECTION"}, xy, true}, "", "\n"},
		{"collections of any dimension", plain{
			r,
			[]string{"GEOMETRYCOLLECTION"},
			[]string{"", "Z", " ZM", "?"},
			true,
		}, "", "\n"},
		{"collections among others", plain{
			r, append([]string{"GEOMETRYCOLLECTION"}, allKinds...),
			[]string{"", "Z", "?"},
			true,
		}, "SRID=4326;", "\n"},
		{"collections and nulls", plain{r, []string{"GEOMETRYCOLLECTION", "POINT"}, xy, false}, "NULL\n", "\n"},
		{"empty collections", plain{r, []string{"GEOMETRYCOLLECTION"}, xy, true}, "GEOMETRYCOLLECTION EMPTY;", "\n"},
		{"promoted, of any dimension", plain{
			r,
			[]string{"POINT", "MULTIPOINT"},
			[]string{"", "Z", " M", "?"},
			true,
		}, "", "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, wkt.Format(), 2<<10)
			text := c.plain.file(300, c.before, c.behind)
			d.Accepts(t, 3, readertest.Input{
				Name: "a.wkt", Text: text,
				Limits: readers.Limits{BatchRows: 100},
			})
		})
	}
}

// TestDeviceLeavesTheRest has files that the device refuses in part, for what the documentation
// says.
func TestDeviceLeavesTheRest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	usual := plain{r, allKinds, []string{""}, true}
	for _, c := range []struct{ name, row string }{
		{"a collection in a collection", "GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION(LINESTRING(1 2,3 4)))"},
		{"a collection with a tag M", "GEOMETRYCOLLECTION M(POINT(1 2 3))"},
		{"a collection with nothing", "GEOMETRYCOLLECTION()"},
		{"a collection with a comma too many", "GEOMETRYCOLLECTION(POINT(1 2),,POINT(1 2))"},
		{"a collection that ends with a comma", "GEOMETRYCOLLECTION(POINT(1 2),)"},
		{"a collection with a member without brackets", "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING)"},
		{"a collection with a NULL", "GEOMETRYCOLLECTION(POINT(1 2),NULL)"},
		{"a collection with an SRID inside", "GEOMETRYCOLLECTION(SRID=1;POINT(1 2))"},
		{"a collection with a position", "GEOMETRYCOLLECTION(POINT(1 2),1 2)"},
		{"NaN", "POINT(nan nan)"},
		{"an infinity", "POINT(1 inf)"},
		{"a name and a bracket on two lines", "POINT(1 2)\nMULTIPOLYGON((\n(1 2,3 4)))\nSRID=0;POINT\n(1 2)"},
		{"a form feed", "POINT(1\f2)"},
		{"many blanks", "POINT" + strings.Repeat(" ", 400) + "(1 2)"},
		{"a malformed row", "POINT(1 2"},
		{"two commas", "LINESTRING(1 2,,3 4)"},
		{"two commas, blanks", "POLYGON((1 2,3 4,\n , 5 6,1 2))"},
		{"two commas between points", "MULTIPOINT(1 2,,3 4)"},
		{"two commas between points in brackets", "MULTIPOINT((1 2),,(3 4))"},
		{"a comma first", "LINESTRING(,1 2,3 4)"},
		{"a comma before a point", "POINT(,1 2)"},
		{"more than EMPTY", "MULTIPOINT((1 2),EMPTYY)"},
		{"more than EMPTY in a line", "LINESTRING(1 2,EMPTYS)"},
		{"a comma last", "LINESTRING(1 2,3 4,)"},
		{"a ragged line", "LINESTRING(1 2,3 4 5)"},
		{"another SRID", "SRID=5;POINT(1 2)\nSRID=6;POINT(1 2)"},
		{"a curve", "CIRCULARSTRING(1 2,3 4,5 6)"},
		{"not ASCII", "POINT(1 2)é"},
		{"a zero", "\x00"},
		{"five ordinates", "POINT(1 2 3 4 5)"},
		{"one ordinate", "POINT(1)"},
		{"beyond float64", "POINT(1 1e400)"},
	} {
		for i, mode := range []string{"fail", "skip", "null", "repair"} {
			if testing.Short() && len(c.row)%4 != i { // one of the four
				continue
			}
			t.Run(c.name+", "+mode, func(t *testing.T) {
				d := readertest.NewDevice(t, wkt.Format(), 1<<10)
				text := slices.Concat(usual.file(40, "", "\n"), []byte(c.row+"\n"), usual.file(40, "", "\n"))
				in := readertest.Input{
					Name: "a.wkt", Text: text, Limits: readers.Limits{BatchRows: 70},
					Options: map[string]any{"on_error": mode},
				}
				d.Same(t, in)
				if n := d.Counts(); n.Chunks == 0 || n.Refused == 0 {
					t.Errorf("%d chunks accepted, %d refused: %s; want some of both", n.Chunks, n.Refused, n.Reason)
				}
			})
		}
	}
}

// TestDeviceGolden reads the files of testdata as they are, and between ordinary rows.
func TestDeviceGolden(t *testing.T) {
	list := readertest.NewDevices(t, wkt.Format(), 60, 500)
	usual := plain{rand.New(rand.NewPCG(7, 3)), allKinds, []string{""}, true}
	list.Golden(t, func(in readertest.Input) (inputs []readertest.Input) {
		amid := in
		amid.Text = slices.Concat(usual.file(20, "", "\n"), slices.Repeat(append(in.Text, '\n'), 3),
			usual.file(20, "", "\n"))
		for _, in := range []readertest.Input{in, amid} {
			in.Limits.BatchRows = 7
			modes := readertest.Modes(in)
			if i := len(in.Text) % len(modes); testing.Short() {
				modes = modes[i : i+1]
			}
			inputs = append(inputs, modes...)
		}
		return inputs
	})
	list.Accepted(t, 24, 0.1)
}

// TestDeviceFindsRows marks where the first and the last row seem to begin, with ¦ and |, behind
// what ends one at the first byte or further on.
func TestDeviceFindsRows(t *testing.T) {
	for _, c := range []struct{ name, marked string }{
		{"nothing", ""},
		{"one row", "POINT(1 2)"},
		{"no end", "1 2),POINT(1 2)"},
		{"one after", "1 2)\n¦|POINT(1 2)"},
		{"two", "\n¦POINT(1 2)\n |POINT(3 4)\n"},
		{"CR", "\r¦POINT(1 2)\r|POINT(3 4)"},
		{"semicolons", ") ;¦POINT(1 2); ; |NULL ; "},
		{"an SRID", "26;POINT(1 2)\n¦|SRID = 4326 ; POINT(1 2)"},
		{"an SRID first", "\n¦SRID=1;POINT(1 2)\n|SRID=1;POINT(3 4);"},
		{"lines inside", ",\nPOINT(1 2),\nEMPTY\n,\n3 4)\n¦|POINT(1 2)"},
		{"a bracket before", "COLLECTION(\nPOINT(1 2)\n)\n\n¦|POINT(1 2)"},
		{"letters", "\n¦POINT(1 2)\n|MULTILINESTRING EMPTY"},
		{"digits", "\n12\n¦|POINT"},
	} {
		text, first, last := strings.NewReplacer("¦", "", "|", "").Replace(c.marked), -1, -1
		if before, _, ok := strings.Cut(c.marked, "¦"); ok {
			first = len(before)
		}
		if before, _, ok := strings.Cut(strings.Replace(c.marked, "¦", "", 1), "|"); ok {
			last = len(before)
		} else {
			last = first
		}
		if got := wkt.FirstRow([]byte(text), 0); got != first {
			t.Errorf("%s: %q: the first row is at %d, want %d", c.name, text, got, first)
		}
		if got := wkt.LastRow([]byte(text)); got != last {
			t.Errorf("%s: %q: the last row is at %d, want %d", c.name, text, got, last)
		}
	}
}

// TestDeviceBounds has chunks begin and end at every byte of a small file.
func TestDeviceBounds(t *testing.T) {
	text := []byte("\xEF\xBB\xBF\n POINT(1 2)\r\nSRID=7;LINESTRING(1 2,3 4)\n;NULL\nPOLYGON((0 0,\n1 0,1 1,0 " +
		"0))\nMULTIPOINT EMPTY ; srid = 7 ; POINT(5 6)\rPOINT EMPTY\nPOINT(7.5 8.25)")
	readertest.DeviceSplits(t, wkt.Format(), readertest.Input{Name: "a.wkt", Text: text}, 5, 2, 4, 6)
}

// TestDeviceSweep reads random documents, most of which are ordinary.
func TestDeviceSweep(t *testing.T) {
	list := readertest.NewDevices(t, wkt.Format(), 30, 200, 1000)
	readertest.Sweep{Format: wkt.Format(), Documents: 2000, Document: sweepOnDevice}.Device(t, list, 1, 0.1)
}

// sweepOnDevice is the document of a seed.
func sweepOnDevice(seed uint64) readertest.Input {
	r := rand.New(rand.NewPCG(seed, 11))
	text := document(r)
	if r.IntN(3) > 0 {
		tags := [][]string{{""}, {"?"}, {"", "Z"}, {"", " M", "ZM"}}[r.IntN(4)]
		kinds := [][]string{
			allKinds, allKinds[:1],
			{"POINT", "MULTIPOINT"},
			{"POLYGON", "MULTIPOLYGON"},
			{"LINESTRING", "MULTILINESTRING"},
			{"POINT", "GEOMETRYCOLLECTION"},
		}[r.IntN(6)]
		text = plain{r, kinds, tags, true}.file(r.IntN(25), []string{"", "SRID=1;", "NULL;"}[r.IntN(3)],
			[]string{"\n", ";", "\r\n"}[r.IntN(3)])
		for range r.IntN(2) * r.IntN(2) {
			text = mutated(r, text)
		}
	}
	in := readertest.Input{
		Name: "a.wkt", Text: text,
		Limits: readers.Limits{BatchRows: []int{0, 1, 3, 20}[r.IntN(4)]},
	}
	if r.IntN(2) == 0 {
		in.Options = map[string]any{"on_error": []string{"skip", "null", "repair"}[seed%3]}
	}
	return in
}

// TestDeviceHostile reads what is long, comes in great numbers or is not meant to be read.
func TestDeviceHostile(t *testing.T) {
	long := 8 << 20
	tiny := 1 << 20
	if testing.Short() || os.Getenv("VIBEFLIGHT_GPU") == "" { // the emulation takes a minute for these
		long, tiny = 1<<20, 60_000
	}
	line := "LINESTRING(" + strings.Repeat("1.25 2.5,", long/9) + "3 4)\n"
	for _, c := range []struct {
		name string
		text string
	}{
		{"a long line", line},
		{"a long line amid points", strings.Repeat("POINT(1 2)\n", 40000) + line +
			strings.Repeat("POINT(1 2)\n", 40000)},
		{"tiny rows", strings.Repeat("POINT(1 2)\n", tiny)},
		{"nulls", strings.Repeat("NULL\n", tiny)},
		{"opening brackets", "POINT(1 2)\nPOLYGON" + strings.Repeat("(", long)},
		{"closing brackets", "POINT(1 2)\nPOLYGON" + strings.Repeat(")", long)},
		{"blanks", "POINT(1 2)\n" + strings.Repeat(" ", long) + "\nPOINT(1 2)"},
		{"line feeds", "POINT(1 2)\n" + strings.Repeat("\n", long) + "\nPOINT(1 2)"},
		{"semicolons", "POINT(1 2)\n" + strings.Repeat(";", long) + "\nPOINT(1 2)"},
		{"commas", "LINESTRING(1 2" + strings.Repeat(",", long) + ")\n"},
		{"zeros", "POINT(1 2)\n" + strings.Repeat("\x00", long)},
		{"invalid UTF-8", "POINT(1 2)\n" + strings.Repeat("\xff\xc0", long/2)},
		{"a long number", "POINT(1 2)\nPOINT(1." + strings.Repeat("3", long) + " 2)\n"},
		{"letters", "POINT(1 2)\n" + strings.Repeat("A", long)},
		{"an SRID", "SRID=" + strings.Repeat("0", long) + "7;POINT(1 2)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, wkt.Format(), 64<<10)
			d.Same(t, readertest.Input{Name: "a.wkt", Text: []byte(c.text)})
			n := d.Counts()
			t.Logf("%d chunks accepted, %d refused, the last for %s", n.Chunks, n.Refused, n.Reason)
		})
	}
}

// TestDeviceLongRows has rows that fill most of a chunk, of which the device refuses none.
func TestDeviceLongRows(t *testing.T) {
	d := readertest.NewDevice(t, wkt.Format(), 256<<10)
	var b strings.Builder
	for i := range 12 {
		b.WriteString("MULTIPOINT(" + strings.Repeat(fmt.Sprintf("(%d.25 2.5),", i), 5000) + "(3 4))\n")
		b.WriteString("MULTIPOLYGON(((" + strings.Repeat("1.25 2.5, ", 5000) + "3 4), EMPTY), EMPTY)\nPOINT EMPTY\n")
	}
	d.Accepts(t, 3, readertest.Input{Name: "a.wkt", Text: []byte(b.String())})
}

func TestDeviceLarge(t *testing.T) {
	readertest.DeviceLarge(t, wkt.Format(), func() []readertest.Input {
		polygons := plain{rand.New(rand.NewPCG(7, 4)), []string{"POLYGON"}, []string{""}, false}
		return []readertest.Input{
			{Name: "polygons.wkt", Text: polygons.file(18_000, "", "\n")},
			// rows as short as a device accepts
			{Name: "points.wkt", Text: []byte(strings.Repeat("POINT(1.5 -2.25)\n", 180_000))},
		}
	})
}

// TestDeviceFaults has calls of the device fail.
func TestDeviceFaults(t *testing.T) {
	text := plain{rand.New(rand.NewPCG(7, 9)), allKinds, []string{""}, true}.file(600, "", "\n")
	readertest.DeviceFaults(t, wkt.Format(), readertest.Input{
		Name: "a.wkt", Text: text,
		Limits: readers.Limits{BatchRows: 100},
	})
}

// TestDeviceMutants has one mistake, at each byte.
func TestDeviceMutants(t *testing.T) {
	for name, text := range map[string]string{
		"rows": "POINT(1 2)\nLINESTRING Z(1 2 3,4 5 6)\nPOLYGON((0 0,1 0, 1 1,0 0),(.5 .5,.6 .5,.6 .6,.5 " +
			".5))\nMULTIPOINT(1 2,3 4)\nMULTIPOLYGON (((0 0,1 0,1 1,0 0)), EMPTY)\n",
		"EWKT": "SRID=7;POINT (-1.5e3 2)\nNULL\nSRID=7;GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(1 2,\n3 " +
			"4))\nMULTIPOINT((1 2), (3 4))\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := readertest.NewDevice(t, wkt.Format(), int64(len(text)))
			in := readertest.Input{Name: "a.wkt", Text: []byte(strings.Repeat(text, 4))}
			d.Mutants(t, in, len(text), 2*len(text), "(),; \n1-eZ")
		})
	}
}
