package wkt_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// readCell returns the WKT of what a Cell makes of a text, with room after it or not. After it are
// bytes that would continue the text.
func readCell(t testing.TB, text string, room bool) (out string, srid int, err error) {
	t.Helper()
	var g geoarrow.GeometryBuilder
	g.Reset()
	buf := []byte(text)
	const on = "1,(Zm 2)"
	if room {
		buf = append(buf, strings.Repeat(on, number.Padding/len(on))...)[:len(text)]
	} else {
		buf = buf[:len(text):len(text)]
	}
	var cell wkt.Cell
	var shapes rows.Shapes
	found, err := cell.Read(&g, &shapes, buf)
	if room && string(buf[:len(text)+len(on)]) != text+on {
		t.Errorf("%q: the text is another one after it: %q", text, buf[:len(text)+len(on)])
	}
	if err != nil {
		if g.Rows() != 0 || len(g.X) != 0 || shapes != (rows.Shapes{}) {
			t.Errorf("%q: the builder is not what it was: %d rows, %d positions, %v", text, g.Rows(), len(g.X), shapes)
		}
		return "", 0, err
	}
	wkt.End(&g, found.Kind)
	column, err := g.Finish()
	if err != nil {
		t.Fatal(err)
	}
	offsets, bytes, err := column.ToWKT()
	if err != nil {
		t.Fatal(err)
	}
	if len(offsets) != 2 {
		t.Fatalf("%q: %d rows", text, len(offsets)-1)
	}
	return string(bytes), int(found.SRID), nil
}

// same reads a text as cell and with the oracle.
func same(t testing.TB, text string) {
	t.Helper()
	want, srid, wantErr := oracle(text)
	for _, room := range []bool{true, false} {
		got, n, err := readCell(t, text, room)
		if (err == nil) != (wantErr == nil) || got != want || n != srid {
			t.Fatalf("%q, room %v\ngot:  %s, SRID %d, %v\nwant: %s, SRID %d, %v", text, room, got, n, err,
				want, srid, wantErr)
		}
		var cell *wkt.CellError
		if err != nil && (!errors.As(err, &cell) || cell.Offset < 0 || cell.Offset > len(text) || cell.Error() == "") {
			t.Fatalf("%q: %v, at byte %d of %d", text, err, cell.Offset, len(text))
		}
	}
}

// random returns a text that is a geometry, or would be one but for a byte.
func random(r *rand.Rand, depth int) string {
	blank := func() string { return []string{"", "", "", " ", "\t", "\n", "\r\n"}[r.IntN(7)] }
	kinds := []string{
		"POINT", "LineString", "POLYGON", "multipoint", "MULTILINESTRING", "MULTIPOLYGON",
		"GEOMETRYCOLLECTION",
	}
	kind := kinds[r.IntN(len(kinds)-min(1, depth/3))]
	tags := []string{"", "", " Z", "Z", " m", "M", " ZM", "zm"}
	tag := tags[r.IntN(len(tags))]
	size := len(strings.TrimSpace(tag)) + 2
	if tag == "" {
		size = 2 + r.IntN(3)
	}
	list := func(do func() string) string {
		if r.IntN(6) == 0 {
			return blank() + " empty"
		}
		var all []string
		for range 1 + r.IntN(4) {
			all = append(all, blank()+do()+blank())
		}
		return blank() + "(" + strings.Join(all, ",") + ")"
	}
	position := func() string {
		var all []string
		for range size {
			all = append(all, randomNumber(r))
		}
		return strings.Join(all, " "+blank())
	}
	line := func() string { return list(position) }
	polygon := func() string { return list(line) }
	var body string
	switch strings.ToUpper(kind) {
	case "POINT":
		if body = " EMPTY"; r.IntN(5) > 0 {
			body = blank() + "(" + blank() + position() + blank() + ")"
		}
	case "LINESTRING":
		body = line()
	case "MULTIPOINT":
		body = list(func() string { return []string{position(), "(" + position() + ")", "EMPTY"}[r.IntN(3)] })
	case "POLYGON", "MULTILINESTRING":
		body = polygon()
	case "MULTIPOLYGON":
		body = list(polygon)
	default:
		body = list(func() string { return random(r, depth+1) })
	}
	return kind + tag + body
}

func randomNumber(r *rand.Rand) string {
	switch r.IntN(20) {
	case 0:
		return []string{
			"nan", "-NaN", "inf", "-Infinity", "+inf", "+5", ".5", "5.", "-.5", "00012",
			"-007.50", "1e5", "1.E-3", "1e400", "+.5e+2",
		}[r.IntN(15)]
	case 1:
		return fmt.Sprint(r.IntN(2000) - 1000)
	case 2:
		return fmt.Sprint(r.NormFloat64() * 1e10)
	case 3:
		return fmt.Sprintf("%.*f", r.IntN(25), r.NormFloat64())
	}
	return fmt.Sprintf("%.*f", r.IntN(12), r.Float64()*360-180)
}

func TestCellIsWhatTheOracleReads(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := random(r, 0)
		switch r.IntN(4) {
		case 0:
			text = fmt.Sprintf("SRID=%d;%s", r.IntN(5000), text)
		case 1: // a byte too few, too many or another one
			i := r.IntN(len(text))
			text = text[:i] + []string{"", " ", ",", "(", ")", "1", "x", ";", "."}[r.IntN(9)] + text[i+r.IntN(2):]
		}
		same(t, text)
	}
}

func FuzzCell(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(random(r, 0))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := strings.Count(text, "(") + len(text)/1000; n < 1000 { // the oracle knows no limit of nesting
			same(t, text)
		}
	})
}

func TestCellErrors(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"nothing", "¦", "want the name of a geometry, found the end of the text"},
		{"blanks", "  ¦", "want the name of a geometry, found the end of the text"},
		{"no geometry", "¦CIRCLE(1 2)", `want the name of a geometry, found "CIRCLE"`},
		{"T1 number", "¦1 2", `want the name of a geometry, found "1"`},
		{"no bracket", "POINT ¦1 2", `want "(" or EMPTY, found "1"`},
		{"square brackets", "POINT¦[1 2]", `want "(" or EMPTY, found "["`},
		{"empty brackets", "POINT(¦)", `want a number, found ")"`},
		{"empty brackets of a list", "MULTIPOLYGON(¦)", `want "(" or EMPTY, found ")"`},
		{"empty brackets of a collection", "GEOMETRYCOLLECTION(¦)", `want the name of a geometry, found ")"`},
		{"G12 one ordinate", "POINT(1¦)", `want a second ordinate, found ")"`},
		{"G12 five ordinates", "POINT(1 2 3 4 ¦5)", `want "," or ")" behind 4 ordinates, found "5"`},
		{"two points", "POINT(1 2¦,3 4)", `want ")" behind one position, found ","`},
		{"comma for blank", "POINT(1¦,2)", `want a second ordinate, found ","`},
		{"decimal comma", "LINESTRING(1¦,5 2,5)", `want a second ordinate`},
		{"no blank", "POINT(1 2¦-3)", `want a blank, "," or ")" behind a number, found "-3"`},
		{"comma at the end", "LINESTRING(1 2,¦)", `want a number, found ")"`},
		{"no end", "LINESTRING(1 2¦", `want a blank, "," or ")" behind a number, found the end of the text`},
		{"no second end", "POLYGON((1 2)¦", `want "," or ")", found the end of the text`},
		{"after the geometry", "POINT(1 2) ¦x", `want nothing after the geometry, found "x"`},
		{"semicolon after the geometry", "POINT(1 2)¦;", `want nothing after the geometry, found ";"`},
		{"Z and two", "POINT Z(1 2¦)", `want one of 3 ordinates, which every position of this geometry has, found ")"`},
		{"Z and four", "POINT Z(1 2 3 ¦4)", `want "," or ")" behind 3 ordinates, found "4"`},
		{"two, then three", "LINESTRING(1 2, 3 4 ¦5)", `want "," or ")" behind 2 ordinates, found "5"`},
		{"three, then two", "LINESTRING(1 2 3, 4 5¦)", `want one of 3 ordinates`},
		{"G2 in several rings", "POLYGON((1 2,3 4),(1 2 ¦3))", `want "," or ")" behind 2 ordinates`},
		{"two tags", "POINTZ ¦M(1 2 3 4)", `want "(" or EMPTY, found "M"`},
		{"tag in two words", "POINT Z ¦M(1 2 3 4)", `want "(" or EMPTY, found "M"`},
		{
			"curve", "¦CIRCULARSTRING(0 0,1 1,2 0)",
			"a CIRCULARSTRING: curves, triangles and surfaces have no place in a table of simple features",
		},
		{"curve with tag", "¦TinZ (((0 0 0)))", "a TinZ: curves"},
		{"curve in a collection", "GEOMETRYCOLLECTION(POINT(1 2),¦TRIANGLE((0 0)))", "a TRIANGLE: curves"},
		{"SRID without number", "SRID=¦;POINT(1 2)", `want the number of a coordinate system after SRID=, found ";"`},
		{"negative SRID", "SRID=¦-1;POINT(1 2)", `want the number of a coordinate system after SRID=, found "-1"`},
		{"SRID with comma", "SRID=4326¦,POINT(1 2)", `want ";" behind the SRID, found ","`},
		{"SRID with colon", "SRID¦:4326;POINT(1 2)", `want "=" behind SRID, found ":"`},
		{"wide SRID", "SRID=¦2147483648;POINT(1 2)", "an SRID beyond 2147483647"},
		{"SRID inside", "GEOMETRYCOLLECTION(¦SRID=1;POINT(1 2))", `want the name of a geometry, found "SRID"`},
		{"a byte", "POINT(¦\xff 1)", "want a number, found byte 0xff"},
		{"a zero", "POINT(¦\x00 2)", `want a number, found "\x00"`},
		{"a long word", "¦" + strings.Repeat("A", 50), `found "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" and more`},
		{"N5 point", "POINT(.¦ 1)", `want a number, found " "`},
		{"N5 word", "POINT(¦abc 1)", `want a number, found "abc"`},
		{"N6 two points", "POINT(1.2¦.3 1)", `want a blank, "," or ")" behind a number, found ".3"`},
		{"N6 minus inside", "POINT(1¦-2 1)", `want a blank, "," or ")" behind a number, found "-2"`},
		{"N6 two signs", "POINT(-¦-1 1)", `want a number, found "-1"`},
		{"N6 hexadecimal", "POINT(0¦x10 1)", `want a blank, "," or ")" behind a number, found "x10"`},
		{"N6 exponent without digits", "POINT(1e¦ 1)", `want a digit of an exponent, found " "`},
		{"N6 underscore", "POINT(1¦_000 1)", `want a blank, "," or ")" behind a number, found "_000"`},
		{"N11 huge", "POINT(1 ¦1e99999999999)", "a number beyond the range of float64"},
		{"N11 huge with plus", "POINT(1 ¦+1e400)", "a number beyond the range of float64"},
		{"G11 null", "LINESTRING(1 ¦null,3 4)", `want a second ordinate, found "null"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, offset := readertest.Mark(c.input)
			for _, room := range []bool{true, false} {
				_, _, err := readCell(t, text, room)
				var cell *wkt.CellError
				if !errors.As(err, &cell) || cell.Depth || int64(cell.Offset) != offset ||
					!strings.Contains(err.Error(), c.want) {
					t.Fatalf("%q, room %v\ngot %+v\nwant %q at byte %d", text, room, err, c.want, offset)
				}
			}
		})
	}
}

func TestCellDepth(t *testing.T) {
	text := []byte("GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(GEOMETRYCOLLECTION EMPTY,POLYGON((0 0))))")
	for depth := 1; depth <= 3; depth++ {
		var g geoarrow.GeometryBuilder
		g.Reset()
		cell := wkt.Cell{MaxDepth: depth}
		_, err := cell.Read(&g, &rows.Shapes{}, text)
		if depth >= 2 {
			if err != nil {
				t.Errorf("depth %d: %v", depth, err)
			}
			continue
		}
		var e *wkt.CellError
		if !errors.As(err, &e) || !e.Depth || e.Offset != bytes.LastIndex(text, []byte("(GEO"))+0 {
			t.Errorf("depth %d: got %+v", depth, err)
		}
	}
}

// A cell that is given back leaves the rows before it, with their counts.
func TestCellKeepsRows(t *testing.T) {
	var g geoarrow.GeometryBuilder
	g.Reset()
	var shapes rows.Shapes
	var cell wkt.Cell
	for _, text := range []string{
		"POLYGON((0 0,1 1,1 0))", "POLYGON Z((0 0 1,1 1 1,1 0", "LINESTRING(1 2)", "MULTILINESTRING((1 2),(3 4),EMPTY",
		"GEOMETRYCOLLECTION(POINT(1 2),POLYGON((1 2),(", "POINT(5 6)",
	} {
		found, err := cell.Read(&g, &shapes, []byte(text))
		if err == nil {
			wkt.End(&g, found.Kind)
		}
		if wantErr := !strings.HasSuffix(text, ")"); (err != nil) != wantErr {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if want := (rows.Shapes{UnclosedRings: 1, ShortRings: 1, ShortLines: 1}); shapes != want {
		t.Errorf("got %+v, want %+v", shapes, want)
	}
	column, err := g.Finish()
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := column.ToWKT()
	if want := "POLYGON ((0 0, 1 1, 1 0))LINESTRING (1 2)POINT (5 6)"; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

func TestCellAllocatesNothing(t *testing.T) {
	var texts [][]byte
	for _, text := range []string{
		"POINT(1 2)", "SRID=4326;POINT(1.5 2.5)", "POLYGON Z ((1 2 3,4 5 6,7 8 9,1 2 3))",
		"MULTIPOLYGON(((0.5 0.5,1.5 1.5)),EMPTY)", "MULTIPOINT(1 2,(3 4),EMPTY)", "POINT ZM EMPTY",
		"LINESTRING(+1 .5,2. 007,nan inf)",
	} {
		texts = append(texts, append([]byte(text), make([]byte, number.Padding)...)[:len(text)])
	}
	var g geoarrow.GeometryBuilder
	g.Reset()
	var shapes rows.Shapes
	var cell wkt.Cell
	read := func() {
		g.Reset()
		for _, text := range texts {
			found, err := cell.Read(&g, &shapes, text)
			if err != nil {
				t.Fatal(err)
			}
			wkt.End(&g, found.Kind)
		}
	}
	read()
	if n := testing.AllocsPerRun(100, read); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBegins(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"POINT(1 2)", true},
		{"\xEF\xBB\xBF \n srid = 4326 ; point zm (1 2 3 4)", true},
		{"MULTIPOLYGON EMPTY", true},
		{"PolygonZ((", true},
		{"LINESTRING M EMPTY", true},
		{"GEOMETRYCOLLECTION(", true},
		{"CIRCULARSTRING (0 0", true},
		{"TINZ(", true},
		{"", false},
		{"POINT", false},
		{"POINT ", false},
		{"Point of view", false},
		{"Point; line", false},
		{"Surface tension", false},
		{"SRID=4326;", false},
		{"SRID=4326 POINT(1 2)", false},
		{"SRID=99999999999;POINT(1 2)", false},
		{"NULL", false},
		{"id,wkt\n1,POINT(1 2)", false},
		{`{"type":"Point"}`, false},
		{"0101000000", false},
		{"<kml>", false},
		{strings.Repeat(" ", 4096) + "POINT(1 2)", false},
		{strings.Repeat(" ", 4080) + "POINT(1 2)", true},
	} {
		if got := wkt.Begins([]byte(c.text)); got != c.want {
			t.Errorf("%.40q: got %v", c.text, got)
		}
	}
}
