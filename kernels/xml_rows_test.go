package kernels_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// Classes of elements in the tests.
const (
	xmlRow = iota
	xmlHolder
	xmlLeaf
	xmlShape
	xmlBoundary
	xmlRing
	xmlPositions
)

// xmlTags is a dictionary of features with two values, of which one may stand in a holder, and a
// geometry.
func xmlTags() (tags []kernels.XMLTag) {
	inside := uint64(1<<xmlRow | 1<<xmlHolder)
	add := func(name, text string, t kernels.XMLTag) {
		t.Text, t.Name = []byte(text), len(tags)
		tags = append(tags, t, kernels.XMLTag{Text: []byte("/" + name), Name: len(tags), Column: -1})
	}
	add("f", "f id=\"\x01\"", kernels.XMLTag{Role: kernels.XMLRow, Column: 0})
	add("m", "m", kernels.XMLTag{Role: kernels.XMLAround, Class: 63, Column: -1})
	add("h", "h", kernels.XMLTag{Role: kernels.XMLHolder, Class: xmlHolder, Parents: inside, Column: -1})
	add("a", "a", kernels.XMLTag{Role: kernels.XMLValue, Class: xmlLeaf, Parents: inside, Column: 1})
	add("b", "b", kernels.XMLTag{Role: kernels.XMLValue, Class: xmlLeaf, Parents: inside, Column: 2})
	add("p", "p", kernels.XMLTag{Role: kernels.XMLPassed, Class: xmlLeaf, Parents: inside, Column: -1})
	add("Point", "Point", kernels.XMLTag{
		Role: kernels.XMLShape, Class: xmlShape, Parents: inside,
		Column: -1, Word: kernels.XMLPoint,
	})
	add("Multi", "Multi x='1234567890'", kernels.XMLTag{
		Role: kernels.XMLShape, Class: xmlHolder,
		Parents: inside, Column: -1, Word: kernels.XMLCollection,
	})
	add("Polygon", "Polygon", kernels.XMLTag{
		Role: kernels.XMLShape, Class: xmlShape, Parents: inside,
		Column: -1, Word: kernels.XMLPolygon,
	})
	add("exterior", "exterior", kernels.XMLTag{
		Role: kernels.XMLFirst, Class: xmlBoundary, Parents: 1 << xmlShape,
		Column: -1,
	})
	add("interior", "interior", kernels.XMLTag{
		Role: kernels.XMLMore, Class: xmlBoundary, Parents: 1 << xmlShape,
		Column: -1,
	})
	add("r", "r", kernels.XMLTag{Role: kernels.XMLShape, Class: xmlRing, Parents: 1 << xmlBoundary, Column: -1})
	within := uint64(1<<xmlShape | 1<<xmlRing)
	add("list", "list", kernels.XMLTag{Role: kernels.XMLPositions, Class: xmlPositions, Parents: within, Column: -1})
	add("pos", "pos", kernels.XMLTag{Role: kernels.XMLPosition, Class: xmlPositions, Parents: within, Column: -1})
	add("xy", "xy", kernels.XMLTag{Role: kernels.XMLTuples, Class: xmlPositions, Parents: within, Column: -1})
	return append(tags, kernels.XMLTag{
		Text: []byte("a/"), Name: 6, Role: kernels.XMLValue, Class: xmlLeaf,
		Parents: inside, Column: 1,
	})
}

// xmlRead is what the device makes of a text.
type xmlRead struct {
	fault  int64
	rows   []string // the values of each row, parted by bars; - where there is none
	lines  []string
	order  []uint32
	kinds  []uint32
	deep   uint32
	outers int
}

func readXML(r *rig, text []byte, ordinates int) (out xmlRead) {
	r.Helper()
	const columns = 3
	b := upload(r, text)
	d, err := kernels.AllocXMLDictionary(r.s, xmlTags())
	r.ok(err)
	defer func() { r.ok(d.Free(r.s)) }()
	x, err := r.k.AllocXML(r.s, b)
	r.ok(err)
	defer func() { r.ok(x.Free(r.s)) }()
	if out.fault = x.Fault; x.Fault >= 0 || x.Tags == 0 {
		return out
	}
	r.ok(r.k.MatchXML(r.s, b, x, d))
	rows, err := r.k.AllocXMLRows(r.s, b, x, d, columns)
	r.ok(err)
	defer func() { r.ok(rows.Free(r.s)) }()
	if rows.Rows == 0 {
		out.fault = read(r, x.Found)[0].Fault
		return out
	}
	lines := poisoned[byte](r, len(text))
	r.ok(r.k.XMLLines(r.s, b, x, rows, ordinates, lines))
	found := read(r, x.Found)[0]
	if out.fault = found.Fault; out.fault >= 0 {
		return out
	}
	for _, word := range found.Outer {
		if word != 0 {
			out.outers++
		}
	}
	out.deep, out.order = found.Deepest, read(r, rows.First)
	for _, line := range strings.Split(string(read(r, lines)), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out.lines = append(out.lines, line)
		}
	}
	plain := b
	if x.Coded {
		p, err := r.k.AllocPlainXML(r.s, b, x)
		r.ok(err)
		defer func() { r.ok(p.Free(r.s)) }()
		r.ok(p.Spans(r.k, r.s, rows.From, rows.To))
		plain = p.Text
	}
	words := columns * kernels.Words(rows.Rows)
	to := kernels.Scalars{
		Starts: rows.From, Ends: rows.To, Valid: poisoned[uint64](r, words), Numbers: poisoned[uint64](r, words),
		Trues: poisoned[uint64](r, words), Kinds: poisoned[uint32](r, columns),
	}
	r.ok(r.k.XMLValues(r.s, plain, rows.Rows, to))
	from, ends, valid, meant := read(r, to.Starts), read(r, to.Ends), read(r, to.Valid), read(r, plain)
	out.kinds = read(r, to.Kinds)
	for row := range rows.Rows {
		var values []string
		for c := range columns {
			value := "-"
			if i := c*rows.Rows + row; valid[c*kernels.Words(rows.Rows)+row/64]>>(row%64)&1 != 0 {
				value = string(meant[from[i]:ends[i]])
			}
			values = append(values, value)
		}
		out.rows = append(out.rows, strings.Join(values, "|"))
	}
	return out
}

// TestXMLRows reads features; the mark ¦ is where a fault is.
func TestXMLRows(t *testing.T) {
	r := open(t)
	for _, c := range []struct {
		name, text  string
		rows, lines []string
	}{
		{"values", `<f id="1"><a>x</a><b> 2 </b></f>`, []string{"1|x|2"}, []string{"NULL"}},
		{"holder, passed", `<f id="1">t<h>t<b>x</b></h><p>y</p><a/></f>`, []string{"1|-|x"}, []string{"NULL"}},
		{
			"several rows", `<f id="1"><a></a></f><f id="2"><b>x</b></f></m> <m><f id="3"><a>y</a></f></m><m>`,
			[]string{"1|-|-", "2|-|x", "3|y|-"},
			[]string{"NULL", "NULL", "NULL"},
		},
		{
			"references, sections", "<f id=\"1\"><a>x &lt;&amp;&gt;\r\ny</a><b>\n<![CDATA[&amp;<\r>]]> </b></f>",
			[]string{"1|x <&>\ny|&amp;<\n>"},
			[]string{"NULL"},
		},
		{"point", `<f id="1"><Point><pos> 1 2 </pos></Point><a>x</a></f>`, []string{"1|x|-"}, []string{"POINT( 1 2 )"}},
		{
			"point of a list", `<f id="1"><h><Point><list>1 2</list></Point></h></f>`,
			[]string{"1|-|-"},
			[]string{"POINT( 1 2 )"},
		},
		{
			"polygon", "<f id=\"1\"><Polygon><exterior><r><list>\n1 2  3 4\t5 6 1 " +
				"2\n</list></r></exterior><interior><r><xy> 1,2 3,4\n5,6</xy></r><r><pos>1 2</pos><pos>3 " +
				"4</pos></r></interior></Polygon></f>",
			[]string{"1|-|-"},
			[]string{"POLYGON( ( 1 2 ,3 4,5 6,1 2 ) ,( 1 2,3 4,5 6 ) ,( 1 2 , 3 4 ) )"},
		},
		{
			"collection", `<f id="1"><Multi x='1234567890'><Point><xy>1,2</xy></Point><Polygon><exterior><r><list>1 2 3 4</list></r></exterior></Polygon></Multi></f>`,
			[]string{"1|-|-"},
			[]string{"GEOMETRYCOLLECTION( POINT( 1 2 ) ,POLYGON( ( 1 2,3 4 ) ) )"},
		},
		{"unknown tag", `<f id="1"><a>1</a>¦<c>2</c></f>`, nil, nil},
		{"unknown attribute", `<f id="1">¦<a b="1">1</a></f>`, nil, nil},
		{"reference in an attribute", `¦<f id="&amp;"></f>`, nil, nil},
		{"blank around an attribute", `¦<f id=" 1"></f>`, nil, nil},
		{"other end tag", `<f id="1"><a>1¦</b></f>`, nil, nil},
		{"end tag too many", `<f id="1"></f>¦</f>`, nil, nil},
		{"no end tag", `<f id="1">¦<a>`, nil, nil},
		{"value twice", `<f id="1"><a>1</a>¦<a>1</a></f>`, nil, nil},
		{"value in a value", `<f id="1"><a>1¦<b>1</b></a></f>`, nil, nil},
		{"empty holder", `<f id="1"><h>¦</h></f>`, nil, nil},
		{"row in a row", `¦<f id="1"><f id="2"></f></f>`, nil, nil},
		{"something between rows", `<f id="1"></f>¦<a>1</a><f id="2"></f>`, nil, nil},
		{"around at the end alone", `<f id="1"></f>¦</m>`, nil, nil},
		{"does not begin with a row", `<a>1</a>¦<f id="1"></f>`, nil, nil},
		{"second geometry", `<f id="1"><Point><pos>1 2</pos></Point>¦<Point><pos>1 2</pos></Point></f>`, nil, nil},
		{"text in a geometry", `<f id="1">¦<Point> x<pos>1 2</pos></Point></f>`, nil, nil},
		{"interior first", `<f id="1"><Polygon>¦<interior><r><list>1 2</list></r></interior></Polygon></f>`, nil, nil},
		{"second exterior", `<f id="1"><Polygon><exterior><r><list>1 2</list></r></exterior>¦<exterior></exterior></Polygon></f>`, nil, nil},
		{"ring elsewhere", `<f id="1">¦<r><list>1 2</list></r></f>`, nil, nil},
		{"half a position", `<f id="1"><Point><list>1 2 3¦</list></Point></f>`, nil, nil},
		{"bracket", `<f id="1"><Point><list>1 2¦) 3</list></Point></f>`, nil, nil},
		{"comma in a list", `<f id="1"><Point><list>1¦,2</list></Point></f>`, nil, nil},
		{"comma first", `<f id="1"><Point><xy>¦,2</xy></Point></f>`, nil, nil},
		{"comma last", `<f id="1"><Point><xy>2¦,</xy></Point></f>`, nil, nil},
		{"commas", `<f id="1"><Point><xy>1¦,,2</xy></Point></f>`, nil, nil},
		{"blank at a comma", `<f id="1"><Point><xy>1¦, 2</xy></Point></f>`, nil, nil},
		{"text beside a section", `<f id="1"><a>x<![CDATA[y]]>¦</a></f>`, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, before := range []int{0, 5, 62, 63, 16300} {
				text := []byte(strings.Repeat(" ", before) + c.text)
				fault := int64(bytes.Index(text, []byte("¦")))
				text = bytes.Replace(text, []byte("¦"), nil, 1)
				got := readXML(r, text, 2)
				if got.fault != fault || !slices.Equal(got.rows, c.rows) || !slices.Equal(got.lines, c.lines) {
					t.Fatalf("%d blanks before %s\ngot  %d %q %q\nwant %d %q %q", before, c.text, got.fault,
						got.rows, got.lines, fault, c.rows, c.lines)
				}
			}
		})
	}
}

// TestXMLValues looks at the kinds of values.
func TestXMLValues(t *testing.T) {
	r := open(t)
	const number, real = kernels.NumberInt32, kernels.NumberReal
	for text, want := range map[string]uint32{
		"12": number, "-3": number | kernels.NumberNegative, "0": number, "3000000000": kernels.NumberInt64,
		"1.5": real, "1e3": real, "true": kernels.FieldBool, "false": kernels.FieldBool,
		"007": kernels.FieldText, "+5": kernels.FieldText, "1e999": kernels.FieldText,
		"18446744073709551616": kernels.FieldText, "9223372036854775808": kernels.FieldText, "NaN": kernels.FieldText,
		"True": kernels.FieldText, "tru": kernels.FieldText, "truer": kernels.FieldText, "-": kernels.FieldText,
		".": kernels.FieldText, "1.2.3": kernels.FieldText, "x": kernels.FieldText,
		".5": kernels.FieldOdd, "5.": kernels.FieldOdd, "  ": 0, "": 0, " 7\r\n": number,
		strings.Repeat(" ", 1100) + "1": kernels.FieldOdd, "1" + strings.Repeat("\t", 1100): kernels.FieldOdd,
	} {
		got := readXML(r, []byte(`<f id="1"><a>`+text+`</a></f>`), 2)
		if got.fault >= 0 || got.kinds[1]&^kernels.NumberInexact != want && want != kernels.FieldOdd ||
			got.kinds[1]&kernels.FieldOdd != want&kernels.FieldOdd {
			t.Errorf("%.40q: fault %d, kinds %b, want %b", text, got.fault, got.kinds[1], want)
		}
	}
}

// TestXMLManyRows reads more rows than a block has threads, and more text than a tile has bytes.
func TestXMLManyRows(t *testing.T) {
	r := open(t)
	row := `<f id="7"><b>x &amp; y</b><Polygon><exterior><r><list>1 2 3.25 4 5 6 1 2</list></r></exterior></Polygon><a>12</a></f></m><m>`
	got := readXML(r, []byte(strings.Repeat(row, 700)), 2)
	if got.fault >= 0 || len(got.rows) != 700 || len(got.lines) != 700 || got.deep != 5 || got.outers != 1 ||
		!slices.Equal(got.order, []uint32{0, 11, 1}) {
		t.Fatalf("fault %d, %d rows, %d lines, %d deep, %d words of shapes, order %v", got.fault,
			len(got.rows), len(got.lines), got.deep, got.outers, got.order)
	}
	for i := range got.rows {
		if got.rows[i] != "7|12|x & y" || got.lines[i] != "POLYGON( ( 1 2,3.25 4,5 6,1 2 ) )" {
			t.Fatalf("row %d: %q %q", i, got.rows[i], got.lines[i])
		}
	}
}
