package filegdb_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/filegdb"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// tableCase is a table and the rows that it becomes, or a part of the error.
type tableCase struct {
	name    string
	table   *builder
	options map[string]any
	want    string // lines of rows, or "error: …"
}

func check(t *testing.T, like readertest.Input, cases []tableCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := c.table.in(like)
			in.Options = c.options
			table, err := readertest.Check(t, filegdb.Format(), in)
			got := ""
			if err != nil {
				got = "error: " + err.Error()
			} else {
				_, got, _ = strings.Cut(readertest.Rows(table), "\n\n")
			}
			if want, fails := strings.CutPrefix(c.want, "error: "); fails {
				if err == nil || !strings.Contains(got, want) {
					t.Fatalf("got %s\nwant error %s", got, want)
				}
			} else if strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Fatalf("got:\n%s\nwant:\n%s", got, c.want)
			}
			readertest.Same(t, filegdb.Format(), in, []int{1, 3, 17, 100}, windows, parallel)
		})
	}
}

func shapes(kind byte, flags byte, all ...[]byte) *builder {
	m := (&builder{geometry: kind, flags: flags}).field("id", kindObjectID, false).field("SHAPE", kindGeometry, true)
	for _, b := range all {
		m.rows = append(m.rows, madeRow{len(m.rows), append([]byte{0}, blob(b)...)})
	}
	return m
}

func TestGeometries(t *testing.T) {
	line := []float64{0, 0, 1, 2}
	ring := []float64{0, 0, 0, 1, 1, 1, 0, 0}
	check(t, golden(goldens(t), "polygons.gdb"), []tableCase{
		{
			"points", shapes(1, 0xc0,
				varuints(nil, 1, 400001, 300001), varuints(nil, 52|withZ|withM, 400501, 300001, 100001, 200001),
				varuints(nil, 9, 1, 1, 0), varuints(nil, 11, 0, 0, 0, 0),
				varuints(nil, 21, 400001, 300001, 0), []byte{0}, nil),
			nil, `0: | POINT (0 0)
1: | POINT ZM (0.5 0 0 0)
2: | POINT Z (-400 -300 nan)
3: | POINT ZM EMPTY
4: | POINT M (0 0 nan)
5: | null
6: | null`,
		},
		{
			"multipoints", shapes(2, 0,
				varuints(nil, 8, 0),
				slices.Concat(varuints(nil, 8, 2, 0, 0, 0, 0), varints(nil, 400000, 300000, 1000, -1000)),
				slices.Concat(varuints(nil, 53|withZ, 1, 0, 0, 0, 0), varints(nil, 400000, 300000, 100000))),
			nil, `0: | MULTIPOINT EMPTY
1: | MULTIPOINT ((0 0), (1 -1))
2: | MULTIPOINT Z ((0 0 0))`,
		},
		{
			"lines", shapes(3, 0,
				varuints(nil, 3, 0), parts(3, nil, 0, nil, line),
				parts(anyLine|withZ, nil, 0, ordinates(madeZ, 5, 6), line),
				parts(13, nil, 0, append(ordinates(madeZ, 5, 6), ordinates(madeM, 7, 8)...), line),
				parts(23, nil, 0, []byte{66}, line), parts(3, nil, 0, nil, line, []float64{5, 5, 6, 6, 7, 7})),
			nil, `0: | MULTILINESTRING EMPTY
1: | MULTILINESTRING ((0 0, 1 2))
2: | MULTILINESTRING Z ((0 0 5, 1 2 6))
3: | MULTILINESTRING ZM ((0 0 5 7, 1 2 6 8))
4: | MULTILINESTRING ((0 0, 1 2))
5: | MULTILINESTRING ((0 0, 1 2), (5 5, 6 6, 7 7))`,
		},
		{
			"polygons", shapes(4, 0,
				varuints(nil, 5, 0), parts(5, nil, 0, nil, ring), parts(19, nil, 0, ordinates(madeZ, 1, 2, 3, 1), ring),
				parts(5, nil, 0, nil, ring, []float64{5, 5, 5, 6, 6, 6, 5, 5}),
				parts(5, nil, 0, nil, []float64{0.25, 0.5, 0.5, 0.75, 0.25, 0.75, 0.25, 0.5}, ring)),
			nil, `0: | MULTIPOLYGON EMPTY
1: | MULTIPOLYGON (((0 0, 0 1, 1 1, 0 0)))
2: | MULTIPOLYGON Z (((0 0 1, 0 1 2, 1 1 3, 0 0 1)))
3: | MULTIPOLYGON (((0 0, 0 1, 1 1, 0 0)), ((5 5, 5 6, 6 6, 5 5)))
4: | MULTIPOLYGON (((0 0, 0 1, 1 1, 0 0), (0.25 0.5, 0.5 0.75, 0.25 0.75, 0.25 0.5)))`,
		},
		{
			"line with a curve", shapes(3, 0x80,
				parts(anyLine|withCurves|withZ, arc(0, 1, 0, 0x20), 1, ordinates(madeZ, 5, 6), line)),
			map[string]any{"curves": "linearize"},
			`0: | MULTILINESTRING Z ((0 0 5, 1 2 6))`,
		},
		{
			"curve", shapes(3, 0, parts(anyLine|withCurves, arc(0, 1, 0, 0x80), 1, nil, line)),
			nil, "error: feature 0, geometry: OBJECTID 1: 1 segments are curves; the option curves=linearize reads " +
				"them as lines; on_error: null",
		},
		{
			"curve of another type", shapes(3, 0,
				parts(anyLine|withCurves, append([]byte{0, 7}, make([]byte, 40)...), 1, nil, line)),
			map[string]any{"curves": "linearize"},
			"error: a curve of type 7, which is not known",
		},
		{
			"curve without numbers", shapes(3, 0, parts(anyLine|withCurves, arc(0, math.NaN(), 0, 0x80), 1, nil, line)),
			map[string]any{"curves": "linearize"},
			"error: a curve with a number that is not finite",
		},
		{
			"curves out of order", shapes(3, 0, parts(anyLine|withCurves,
				slices.Concat(arc(1, 1, 0, 0x80), arc(0, 1, 0, 0x80)), 2, nil, []float64{0, 0, 1, 1, 2, 2})),
			map[string]any{"curves": "linearize"},
			"error: not in the order of their positions",
		},
		{
			"multipatch", shapes(9, 0,
				fanAndRing(), varuints(nil, 32, 0)),
			nil, `0: | MULTIPOLYGON Z (((0 0 0, 1 0 0, 1 1 0, 0 0 0)), ((1 0 0, 1 1 0, 2 1 0, 1 0 0)), ` +
				`((2 1 0, 3 1 0, 3 2 0, 2 2 0, 2 1 0, 2 1 0)))
1: | MULTIPOLYGON Z EMPTY`,
		},
		{
			"patch of another kind",
			shapes(9, 0, slices.Concat(varuints(nil, 32, 3, 0, 1, 0, 0, 0, 0, 9), make([]byte, 20))), nil,
			"error: part 0 is of kind 9",
		},
		{"unknown", shapes(9, 0, varuints(nil, 77, 1)), nil, "error: a geometry of type 77, which is not known"},
		{"cut point", shapes(1, 0, varuints(nil, 1, 400001)), nil, "error: the bytes end inside of a value"},
		{"too many positions", shapes(3, 0, varuints(nil, 3, 1<<40)), nil, "error: 1099511627776 items of"},
		{"too many parts", shapes(3, 0, varuints(nil, 3, 2, 3, 0, 0, 0, 0, 0, 0)), nil, "error: 3 parts of 2"},
		{"cut positions", shapes(3, 0, parts(3, nil, 0, nil, line)[:9]), nil, "error: feature 0, geometry: OBJECT"},
		{
			"part of too many", shapes(3, 0, varuints(nil, 3, 2, 2, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0)), nil,
			"error: a part of 5 positions, of which 2 are left",
		},
		{
			"null", shapes(3, 0, parts(3, nil, 0, nil, line), varuints(nil, 77, 1), parts(3, nil, 0, nil, line)),
			map[string]any{"on_error": "null"},
			"0: | MULTILINESTRING ((0 0, 1 2))\n1: | null\n2: | MULTILINESTRING ((0 0, 1 2))",
		},
		{
			"skip", shapes(3, 0, parts(3, nil, 0, nil, line), varuints(nil, 77, 1), parts(3, nil, 0, nil, line)),
			map[string]any{"on_error": "skip"},
			"0: | MULTILINESTRING ((0 0, 1 2))\n1: | MULTILINESTRING ((0 0, 1 2))",
		},
	})
}

func attributes(rows ...[]byte) *builder {
	m := (&builder{}).field("id", kindObjectID, false).field("n", kindInt32, true).field("s", kindString, true)
	m.field("at", kindDateTime, true).field("x", kindFloat64, true)
	for _, b := range rows {
		m.rows = append(m.rows, madeRow{len(m.rows), b})
	}
	return m
}

func TestAttributes(t *testing.T) {
	number := binary.LittleEndian.AppendUint32(nil, 7)
	good := slices.Concat([]byte{0}, number, blob([]byte("text")), floats(nil, 43831, 0.5))
	null := map[string]any{"on_error": "null"}
	check(t, golden(goldens(t), "types.gdb"), []tableCase{
		{
			"values", attributes(good, []byte{15}, slices.Concat([]byte{8}, number, blob(nil), floats(nil, 2)),
				slices.Concat([]byte{7}, floats(nil, math.NaN()), []byte("more"))), nil,
			`0: | 7 | "text" | 2020-01-01T00:00:00 | 0.5
1: | null | null | null | null
2: | 7 | "" | 1900-01-01T00:00:00 | null
3: | null | null | null | NaN 0x7ff8000000000000`,
		},
		{"no rows", attributes(), nil, ""},
		{
			"text", attributes(good, slices.Concat([]byte{12}, number, blob([]byte{0xff}))), nil,
			"error: feature 1, s: OBJECTID 2: expected UTF-8",
		},
		{
			"time", attributes(slices.Concat([]byte{11}, floats(nil, 1e300))), nil,
			"error: feature 0, at: OBJECTID 1: expected a number of days in the range of dates; on_error: null",
		},
		{
			"null",
			attributes(slices.Concat([]byte{8}, number, blob([]byte{0xff}), floats(nil, math.Inf(1))), good), null,
			"0: | 7 | null | null | null\n1: | 7 | \"text\" | 2020-01-01T00:00:00 | 0.5",
		},
		{
			"short", attributes(slices.Concat([]byte{14}, number[:3])), nil,
			"error: feature 0, n: OBJECTID 1: a value of 4 bytes, of which 3 are there",
		},
		{
			"short length", attributes([]byte{13, 0x80}), nil,
			"error: feature 0, s: OBJECTID 1: the row ends inside of a length",
		},
		{"long text", attributes([]byte{13, 9, 'a'}), null, "0: | null | null | null | null"},
		{"no bitmap", attributes(nil), nil, ""},
		{"empty", attributes([]byte{}), nil, "error: a row of 0 bytes, expected 1 at least"},
		{"short after", attributes(slices.Concat([]byte{12}, number, []byte{99})), null, "0: | 7 | null | null | null"},
	})
}

// TestPlaces looks at the places of errors.
func TestPlaces(t *testing.T) {
	like := golden(goldens(t), "types.gdb")
	m := attributes(slices.Concat([]byte{13}, blob([]byte("fine"))), slices.Concat([]byte{13}, blob([]byte("a\xff"))))
	in := m.in(like)
	_, err := readertest.Check(t, filegdb.Format(), in)
	var parse *readers.ParseError
	if !errors.As(err, &parse) {
		t.Fatal(err)
	}
	want := int64(strings.Index(string(in.Members[madeTable]), "a\xff"))
	if parse.Name != "types.gdb/"+madeTable || parse.Offset != want || parse.Row != 1 || parse.Field != "s" {
		t.Errorf("%+v, want byte %d", parse, want)
	}
}

// TestDamagedIndexes reads tables whose .gdbtablx is wrong.
func TestDamagedIndexes(t *testing.T) {
	like := golden(goldens(t), "types.gdb")
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"version", func(b []byte) []byte { b[0] = 4; return b }, "an index of version 4 for a table of version 3"},
		{"offset size", func(b []byte) []byte { b[12] = 7; return b }, "offsets of 7 bytes, expected 4 to 6"},
		{"blocks", func(b []byte) []byte { b[4] = 9; return b }, "9 blocks of offsets, of which 1 are there"},
		{"cut", func(b []byte) []byte { return b[:len(b)-10] }, "the file ends"},
		{"rows", func(b []byte) []byte { b[11] = 0x80; return b }, "rows"},
		{"beyond", func(b []byte) []byte { b[16+4] = 1; return b }, "the row is at byte 429496"},
		{"header", func(b []byte) []byte { b[16] = 4; b[17] = 0; return b }, "OBJECTID 1"},
	} {
		in := attributes([]byte{15}).in(like)
		in.Members[madeIndex] = c.change(in.Members[madeIndex])
		if _, err := readertest.Check(t, filegdb.Format(), in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	in := attributes([]byte{15}).in(like)
	delete(in.Members, madeIndex)
	_, err := readertest.Check(t, filegdb.Format(), in)
	if err == nil || !strings.Contains(err.Error(), "no file "+madeIndex) {
		t.Errorf("without an index: %v", err)
	}
}

func TestLayers(t *testing.T) {
	in := golden(goldens(t), "types.gdb")
	in.Layer = "types"
	table, err := readertest.Parse(t, filegdb.Format(), in)
	if err != nil || !slices.Equal(table.Summary.Layers, []string{"types"}) {
		t.Errorf("%v", err)
	}
	in.Layer = "other"
	var none *readers.NoLayerError
	if _, err := readertest.Parse(t, filegdb.Format(), in); !errors.As(err, &none) {
		t.Errorf("another layer: %v", err)
	}
	in.Layer = ""
	in.Members[madeTable+".cdf"] = nil
	_, err = readertest.Parse(t, filegdb.Format(), in)
	if err == nil || !strings.Contains(err.Error(), "is compressed") {
		t.Errorf("a compressed layer: %v", err)
	}
}

// geodatabase makes one of two system tables and a table: names of tables, and items of name, path
// and definition.
func geodatabase(table *builder, names []string, items [][3]string) readertest.Input {
	catalog := (&builder{}).field("ID", kindObjectID, false).field("Name", kindString, false)
	for _, name := range names {
		catalog.rows = append(catalog.rows, madeRow{len(catalog.rows), blob([]byte(name))})
	}
	list := (&builder{}).field("ID", kindObjectID, false).field("Name", kindString, false)
	list.field("Path", kindString, false).field("Definition", kindXML, true)
	for _, i := range items {
		row := slices.Concat([]byte{0}, blob([]byte(i[0])), blob([]byte(i[1])), blob([]byte(i[2])))
		list.rows = append(list.rows, madeRow{len(list.rows), row})
	}
	in := readertest.Input{Name: "made.gdb", Members: map[string][]byte{}}
	in.Text, in.Members["a00000001.gdbtablx"] = catalog.files()
	in.Members["a00000002.gdbtable"], in.Members["a00000002.gdbtablx"] = list.files()
	for number := 3; number <= len(names); number++ {
		name := string(rune('0' + number))
		in.Members["a0000000"+name+".gdbtable"], in.Members["a0000000"+name+".gdbtablx"] = table.files()
	}
	return in
}

func TestDefinitions(t *testing.T) {
	table := (&builder{geometry: 1}).field("id", kindObjectID, false).field("class", kindInt16, true)
	table.field("at", kindDateTime, true).field("SHAPE", kindGeometry, true)
	for i := range 3 {
		at := slices.Concat(binary.LittleEndian.AppendUint16([]byte{0}, uint16(i)), floats(nil, 43831+0.0004/86400))
		table.rows = append(table.rows, madeRow{i, append(at, blob(varuints(nil, 1, 400001, 300001))...)})
	}
	const class = `<DEFeatureClassInfo xmlns:x="urn:x"><CatalogPath>\d\roads</CatalogPath>
<GPFieldInfoExs><GPFieldInfoEx><Name>CLASS</Name><DomainName>classes</DomainName></GPFieldInfoEx>
<GPFieldInfoEx><Name>at</Name><HighPrecision>true</HighPrecision></GPFieldInfoEx></GPFieldInfoExs>
<SpatialReference><WKT>GEOGCS["x"]</WKT><WKID>4326</WKID><LatestWKID>4326</LatestWKID></SpatialReference>
<IsTimeInUTC>true</IsTimeInUTC></DEFeatureClassInfo>`
	const dataset = `<DEFeatureDataset><SpatialReference><WKID>102100</WKID><LatestWKID>3857</LatestWKID></SpatialReference>
</DEFeatureDataset>`
	const domain = `<GPCodedValueDomain2><DomainName>classes</DomainName><CodedValues><CodedValue><Name>none</Name>
<Code>0</Code></CodedValue><CodedValue><Name>ä</Name><Code>2</Code></CodedValue></CodedValues></GPCodedValueDomain2>`
	names := []string{
		"GDB_SystemCatalog", "GDB_Items", "zebra", "roads", "lone", "pictures", "fras_ras_pictures", "apart",
	}
	in := geodatabase(table, names, [][3]string{
		{"d", `\d`, dataset},
		{"roads", `\d\roads`, class},
		{"zebra", `\zebra`, class},
		{"gone", `\gone`, class},
		{"pictures", `\pictures`, "<DERasterDataset/>"},
		{"classes", "", domain},
	})
	for layer, crs := range map[string]string{"": "EPSG:3857", "zebra": "EPSG:4326", "lone": ""} {
		in.Layer = layer
		got, err := readertest.Check(t, filegdb.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"roads", "zebra", "apart", "lone"}; !slices.Equal(got.Summary.Layers, want) {
			t.Errorf("layers %v, want %v", got.Summary.Layers, want)
		}
		if got.CRS.String() != crs {
			t.Errorf("layer %q: CRS %v, want %s", layer, got.CRS, crs)
		}
	}
	in.Layer = ""
	for domains, want := range map[string]string{
		"codes": "class: int16\nat: timestamp[ms, tz=UTC]", "text": "class: string\nat: timestamp[ms, tz=UTC]",
	} {
		in.Options = map[string]any{"domains": domains}
		got, err := readertest.Check(t, filegdb.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		rows := readertest.Rows(got)
		if !strings.HasPrefix(rows, want) || domains == "text" && !strings.Contains(rows, `| "none" |`) ||
			domains == "text" && (!strings.Contains(rows, `| "1" |`) || !strings.Contains(rows, `| "ä" |`)) {
			t.Errorf("domains as %s:\n%s", domains, rows)
		}
	}
}

// TestLongRows reads rows that fill a part early.
func TestLongRows(t *testing.T) {
	m := (&builder{}).field("id", kindObjectID, false).field("s", kindString, false)
	for i, n := range []int{9 << 20, 8 << 20, 1, 9 << 20, 2} {
		m.rows = append(m.rows, madeRow{i, blob([]byte(strings.Repeat(string(rune('a'+i)), n)))})
	}
	in := m.in(golden(goldens(t), "types.gdb"))
	for _, workers := range []int{1, 2} {
		in.Limits = readers.Limits{Workers: workers}
		table, err := readertest.Parse(t, filegdb.Format(), in)
		if err != nil || table.Rows != 5 || len(table.Batches) != 1 {
			t.Fatalf("%d workers: %v", workers, err)
		}
		c := table.Batches[0].Attributes[0]
		for i, want := range []int32{0, 9 << 20, 17 << 20, 17<<20 + 1, 26<<20 + 1, 26<<20 + 3} {
			if c.Offsets[i] != want || i > 0 && c.Values[want-1] != byte('a'+i-1) {
				t.Errorf("%d workers: row %d ends at %d, want %d", workers, i-1, c.Offsets[i], want)
			}
		}
	}
	in.Limits = readers.Limits{MaxFeatureBytes: 8<<20 + 100}
	var limit *readers.LimitError
	_, err := readertest.Parse(t, filegdb.Format(), in)
	if !errors.As(err, &limit) || limit.Flag != "--max-feature-bytes" {
		t.Errorf("a long row: %v", err)
	}
}
