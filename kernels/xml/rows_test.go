package xml_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
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
func xmlTags() (tags []kxml.XMLTag) {
	inside := uint64(1<<xmlRow | 1<<xmlHolder)
	add := func(name, text string, t kxml.XMLTag) {
		t.Text, t.Name = []byte(text), len(tags)
		tags = append(tags, t, kxml.XMLTag{Text: []byte("/" + name), Name: len(tags), Column: -1})
	}
	add("f", "f id=\"\x01\"", kxml.XMLTag{Role: kxml.XMLRow, Column: 0})
	add("m", "m", kxml.XMLTag{Role: kxml.XMLAround, Class: 63, Column: -1})
	add("h", "h", kxml.XMLTag{Role: kxml.XMLHolder, Class: xmlHolder, Parents: inside, Column: -1})
	add("a", "a", kxml.XMLTag{Role: kxml.XMLValue, Class: xmlLeaf, Parents: inside, Column: 1})
	add("b", "b", kxml.XMLTag{Role: kxml.XMLValue, Class: xmlLeaf, Parents: inside, Column: 2})
	add("p", "p", kxml.XMLTag{Role: kxml.XMLPassed, Class: xmlLeaf, Parents: inside, Column: -1})
	add("Point", "Point", kxml.XMLTag{
		Role: kxml.XMLShape, Class: xmlShape, Parents: inside,
		Column: -1, Word: kxml.XMLPoint,
	})
	add("Multi", "Multi x='1234567890'", kxml.XMLTag{
		Role: kxml.XMLShape, Class: xmlHolder,
		Parents: inside, Column: -1, Word: kxml.XMLCollection,
	})
	add("Polygon", "Polygon", kxml.XMLTag{
		Role: kxml.XMLShape, Class: xmlShape, Parents: inside,
		Column: -1, Word: kxml.XMLPolygon,
	})
	add("exterior", "exterior", kxml.XMLTag{
		Role: kxml.XMLFirst, Class: xmlBoundary, Parents: 1 << xmlShape,
		Column: -1,
	})
	add("interior", "interior", kxml.XMLTag{
		Role: kxml.XMLMore, Class: xmlBoundary, Parents: 1 << xmlShape,
		Column: -1,
	})
	add("r", "r", kxml.XMLTag{Role: kxml.XMLShape, Class: xmlRing, Parents: 1 << xmlBoundary, Column: -1})
	within := uint64(1<<xmlShape | 1<<xmlRing)
	add("list", "list", kxml.XMLTag{Role: kxml.XMLPositions, Class: xmlPositions, Parents: within, Column: -1})
	add("pos", "pos", kxml.XMLTag{Role: kxml.XMLPosition, Class: xmlPositions, Parents: within, Column: -1})
	add("xy", "xy", kxml.XMLTag{Role: kxml.XMLTuples, Class: xmlPositions, Parents: within, Column: -1})
	return append(tags, kxml.XMLTag{
		Text: []byte("a/"), Name: 6, Role: kxml.XMLValue, Class: xmlLeaf,
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

func readXML(r *kerneltest.Rig, text []byte, ordinates int) (out xmlRead) {
	r.Helper()
	const columns = 3
	b := kerneltest.Upload(r, text)
	d, err := kxml.AllocXMLDictionary(r.Stream, xmlTags())
	r.OK(err)
	defer func() { r.OK(d.Free(r.Stream)) }()
	x, err := kxml.AllocXML(r.Set, r.Stream, b)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	if out.fault = x.Fault; x.Fault >= 0 || x.Tags == 0 {
		return out
	}
	r.OK(kxml.MatchXML(r.Set, r.Stream, b, x, d))
	rows, err := kxml.AllocXMLRows(r.Set, r.Stream, b, x, d, columns)
	r.OK(err)
	defer func() { r.OK(rows.Free(r.Stream)) }()
	if rows.Rows == 0 {
		out.fault = kerneltest.Read(r, x.Found)[0].Fault
		return out
	}
	lines := kerneltest.Poisoned[byte](r, len(text))
	r.OK(kxml.XMLLines(r.Set, r.Stream, b, x, rows, ordinates, lines))
	found := kerneltest.Read(r, x.Found)[0]
	if out.fault = found.Fault; out.fault >= 0 {
		return out
	}
	for _, word := range found.Outer {
		if word != 0 {
			out.outers++
		}
	}
	out.deep, out.order = found.Deepest, kerneltest.Read(r, rows.First)
	for _, line := range strings.Split(string(kerneltest.Read(r, lines)), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out.lines = append(out.lines, line)
		}
	}
	plain := b
	if x.Coded {
		p, err := kxml.AllocPlainXML(r.Set, r.Stream, b, x)
		r.OK(err)
		defer func() { r.OK(p.Free(r.Stream)) }()
		r.OK(p.Spans(r.Set, r.Stream, rows.From, rows.To))
		plain = p.Text
	}
	words := columns * kernels.Words(rows.Rows)
	to := knumber.Scalars{
		Starts: rows.From, Ends: rows.To, Valid: kerneltest.Poisoned[uint64](r, words),
		Numbers: kerneltest.Poisoned[uint64](r, words),
		Trues:   kerneltest.Poisoned[uint64](r, words), Kinds: kerneltest.Poisoned[uint32](r, columns),
	}
	r.OK(kxml.XMLValues(r.Set, r.Stream, plain, rows.Rows, to))
	from, ends, valid, meant := kerneltest.Read(r, to.Starts), kerneltest.Read(r, to.Ends),
		kerneltest.Read(r, to.Valid), kerneltest.Read(r, plain)
	out.kinds = kerneltest.Read(r, to.Kinds)
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
	r := kerneltest.Open(t)
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
		{"text next to a section", `<f id="1"><a>x<![CDATA[y]]>¦</a></f>`, nil, nil},
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
	r := kerneltest.Open(t)
	const number, real = knumber.NumberInt32, knumber.NumberReal
	for text, want := range map[string]uint32{
		"12": number, "-3": number | knumber.NumberNegative, "0": number, "3000000000": knumber.NumberInt64,
		"1.5": real, "1e3": real, "true": ktable.FieldBool, "false": ktable.FieldBool,
		"007": ktable.FieldText, "+5": ktable.FieldText, "1e999": ktable.FieldText,
		"18446744073709551616": ktable.FieldText, "9223372036854775808": ktable.FieldText, "NaN": ktable.FieldText,
		"True": ktable.FieldText, "tru": ktable.FieldText, "truer": ktable.FieldText, "-": ktable.FieldText,
		".": ktable.FieldText, "1.2.3": ktable.FieldText, "x": ktable.FieldText,
		".5": kxml.FieldOdd, "5.": kxml.FieldOdd, "  ": 0, "": 0, " 7\r\n": number,
		strings.Repeat(" ", 1100) + "1": kxml.FieldOdd, "1" + strings.Repeat("\t", 1100): kxml.FieldOdd,
	} {
		got := readXML(r, []byte(`<f id="1"><a>`+text+`</a></f>`), 2)
		if got.fault >= 0 || got.kinds[1]&^knumber.NumberInexact != want && want != kxml.FieldOdd ||
			got.kinds[1]&kxml.FieldOdd != want&kxml.FieldOdd {
			t.Errorf("%.40q: fault %d, kinds %b, want %b", text, got.fault, got.kinds[1], want)
		}
	}
}

// TestXMLManyRows reads more rows than a block has threads, and more text than a tile has bytes.
func TestXMLManyRows(t *testing.T) {
	r := kerneltest.Open(t)
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
