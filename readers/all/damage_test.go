package all_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// damages are texts that the damage of a format may put in, in addition to bits and bytes of the
// file itself.
var damages = map[string][]string{
	"geojson": {
		`"`, `{`, `}`, `[`, `]`, `,`, `:`, `NaN`, `-Infinity`, `null`, `true`, `[1]`, `"x"`,
		`1e999`, `\`, "\n", `[[1,2],[3,4]]`, `"coordinates":`,
	},
	"esrijson": {
		`"`, `{`, `}`, `[`, `]`, `,`, `:`, `NaN`, `"NaN"`, `null`, `true`, `1`, `"x"`, `1e999`, `\`, "\n",
		`[[1,2],[3,4,5]]`, `"rings":`, `"hasM":true,`, `"spatialReference":{"wkid":4326},`, `{"x":1,"y":2}`,
	},
	"topojson": {
		`"`, `{`, `}`, `[`, `]`, `,`, `:`, `NaN`, `null`, `0`, `~1`, `-1`, `[0]`, `"x"`, `1e999`, `\`, "\n",
		`[[1,2],[3,4,5]]`, `"arcs":`, `{"type":"LineString","arcs":[0]}`,
	},
	"csv": {
		`"`, `""`, ",", ";", "\t", "\n", "\r\n", "x", "NULL", "POINT (1", "nan", "1e999", "1,5",
		"\x00", "\xff", ",,,", "POINT (1 2)",
	},
	"wkt": {
		"(", ")", ",", " ", "\n", "EMPTY", "nan", "POINT (1 2)", "SRID=4326;", "x", "1e999", "Z",
		"POLYGON ((0 0, 1 1))",
	},
	"kml": {
		"<", ">", "/", "&", "&amp;", "<x>", "</x>", "<x/>", ",", " ", "\n", "nan", "1,2 3,4", "1,2,3,4,5",
		"x", "<!--", "]]>",
		"<Point/>", "<coordinates>1,2</coordinates>", "<LINEARRING>",
	},
	"gml": {
		"<", ">", "/", "&", "&lt;", "<x>", "</x>", "<x/>", ",", " ", "\n", "nan", "1,2 3,4", "1 2 3", "x",
		"<!--", "]]>",
		`srsDimension="3"`, `srsName="x"`, "<gml:pos>1 2</gml:pos>", "<gml:Arc>",
	},
	"gpx": {
		"<", ">", "/", "&", "&amp;", "<x>", "</x>", "<x/>", "\n", "nan", "1e5", "91", "x", "<!--", "]]>", `lat="1"`,
		`<wpt lat="1" lon="2"/>`, "<trkseg>", "</trk>", "<time>2020-01-01</time>",
	},
}

// binary is what the damage of formats of bytes may put in.
var binary = []string{
	"\x00", "\x00\x00\x00\x00", "\xff\xff\xff\xff", "\x01\x00\x00\x00", "\xff\xff\xff\x7f", "*", "     ",
	"N/A", "1,5", "1.#QNAN",
	"\x00\x00\x00\x00\x00\x00\xf8\x7f", "\x05\x00\x00\x00", "\xff",
}

// packings take the files of a format apart, by its folder in readers.
var packings = map[string]readertest.Packing{
	"filegdb": readertest.Archive, // .gdb.zip
	"gpkg":    readertest.Pages(512),
	"osmpbf":  readertest.Blobs,
	"xlsx":    readertest.Archive,
}

// TestDamagedFiles reads files of testdata that were damaged at random, a share of them in each
// format, on the CPU and on the device: 100,000 unless VIBEFLIGHT_SWEEP says how many.
//
//	VIBEFLIGHT_DAMAGE=50000 go test ./readers/all -run TestDamagedFiles/gpkg -timeout 1h
//
// reads 50,000 of one format. With VIBEFLIGHT_DAMAGED=/tmp/x the file that a crash leaves is
// in that folder.
func TestDamagedFiles(t *testing.T) {
	formats, most := all.Formats(), 100_000
	if testing.Short() {
		most = 20 * 300 // SweepRange takes a twentieth
	}
	documents, first := readertest.SweepRange(t, most)
	if each := os.Getenv("VIBEFLIGHT_DAMAGE"); each != "" {
		n, err := strconv.Atoi(each)
		if err != nil {
			t.Fatal(err)
		}
		documents = n * len(formats)
	}
	for i, f := range formats {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			var engine *readertest.Device
			if f.GPU != nil {
				engine = readertest.NewDevice(t, f, 512)
			}
			tokens, ok := damages[f.Name]
			if !ok {
				tokens = binary
			}
			d := readertest.NewDamaged(t, f, "../"+folder(f)+"/testdata", engine,
				packings[folder(f)], tokens...)
			tables := 0
			for seed := first + i; seed < first+documents; seed += len(formats) {
				tables += d.Read(t, uint64(seed))
				if t.Failed() {
					t.Fatalf("VIBEFLIGHT_SWEEP=%d VIBEFLIGHT_SWEEP_SEED=%d reads it again", len(formats), seed-i)
				}
			}
			t.Logf("%d tables", tables)
		})
	}
}

// folder returns where a format is.
func folder(f readers.Format) string {
	switch f.Name {
	case "arrow":
		return "arrowipc"
	case "osm":
		return "osmpbf"
	}
	return f.Name
}
