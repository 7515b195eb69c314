package shapefile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/shapefile"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// devices are engines with chunks so small that most files are several chunks, down to a record.
func devices(t *testing.T) readertest.Devices {
	return readertest.NewDevices(t, shapefile.Format(), 60, 300, 1000, 4000)
}

// withIndex gives an input the .shx that its records say, as far as they follow each other.
func withIndex(in readertest.Input) readertest.Input {
	var entries []uint32
	for at := 100; at+8 <= len(in.Text); {
		content := 2 * int(big.Uint32(in.Text[at+4:]))
		entries = append(entries, uint32(at), uint32(content))
		at += 8 + content
	}
	siblings := map[string][]byte{".shx": shx(entries...)}
	for ext, text := range in.Siblings {
		if ext != ".shx" {
			siblings[ext] = text
		}
	}
	in.Siblings = siblings
	return in
}

// repeated is a shapefile with its records n times, if they follow each other.
func repeated(in readertest.Input, times int) readertest.Input {
	if len(in.Text) < 104 {
		return in
	}
	head, records := in.Text[:100], in.Text[100:]
	number := big.Uint32(records)
	text := slices.Clone(head)
	for range times {
		for at := 0; at < len(records); {
			if at+8 > len(records) || at+8+2*int(big.Uint32(records[at+4:])) > len(records) {
				return in
			}
			end := at + 8 + 2*int(big.Uint32(records[at+4:]))
			text = append(big.AppendUint32(text, number), records[at+4:end]...)
			at = end
			number++
		}
	}
	in.Text = text
	if table := in.Siblings[".dbf"]; table != nil {
		start, length, count := int(little.Uint16(table[8:])), int(little.Uint16(table[10:])),
			int(little.Uint32(table[4:]))
		if start+count*length > len(table) {
			return in
		}
		more := slices.Clone(table[:start])
		for range times {
			more = append(more, table[start:start+count*length]...)
		}
		little.PutUint32(more[4:], uint32(count*times))
		in = withIndex(in) // a map of its own
		in.Siblings[".dbf"] = more
	}
	return withIndex(in)
}

// TestDeviceGolden reads the files of testdata as they are, and with their records several times.
func TestDeviceGolden(t *testing.T) {
	list := devices(t)
	list.Golden(t, func(in readertest.Input) []readertest.Input {
		in = withIndex(in)
		longer := repeated(in, 1+6000/(1+len(in.Text)))
		longer.Limits.BatchRows = 8
		return []readertest.Input{in, longer}
	})
	list.Accepted(t, 150, 0.5)
}

// TestDeviceSplits has chunks begin and end at every byte of a small file, which is cut off at
// some.
func TestDeviceSplits(t *testing.T) {
	contents := [][]byte{
		parts(polygon, []xy{square(0, 0, 9), hole(1, 1, 1)}), nothing,
		parts(polygon, []xy{square(0, 0, 1), square(5, 5, 1)}), parts(polygon, nil),
		parts(polygon, []xy{square(3, 3, 3)}),
	}
	numbers := []string{"   1", "*  2", "  -3", "   4", "   5"}
	whole := many(len(contents), func(i int) ([]byte, string) { return contents[i], numbers[i] })
	whole.Options = map[string]any{"on_error": "skip"}
	readertest.DeviceSplits(t, shapefile.Format(), whole, 8, 1)
}

// TestDeviceSweep reads random shapefiles. Some have attributes that devices do not read, some are
// invalid, and some have a .shx that does not fit.
func TestDeviceSweep(t *testing.T) {
	readertest.Sweep{Format: shapefile.Format(), Documents: 2000, Document: sweepOnDevice}.Device(t, devices(t), 1, 0.5)
}

// sweepOnDevice is the shapefile of a seed.
func sweepOnDevice(seed uint64) readertest.Input {
	r := rand.New(rand.NewPCG(seed, 27))
	in := sweepInput(r)
	if r.IntN(8) > 0 {
		in = withIndex(in)
	}
	if r.IntN(8) > 0 {
		in.Options["memo"] = "ignore"
	}
	if r.IntN(8) == 0 {
		in.Options["include_deleted"] = "true"
	}
	if n := len(in.Text); n > 100 && r.IntN(4) == 0 { // the .shx does not know of it
		in.Text = slices.Clone(in.Text)
		in.Text[100+r.IntN(n-100)] = byte(r.IntN(4) * r.IntN(64))
	}
	if r.IntN(2) == 0 {
		in.Limits.BatchRows = 1 + r.IntN(30)
	}
	return in
}

func TestDeviceLarge(t *testing.T) {
	readertest.DeviceLarge(t, shapefile.Format(), func() (files []readertest.Input) {
		add := func(name string, n int, record func(i int) ([]byte, string)) {
			in := many(n, record)
			in.Name = name
			files = append(files, in)
		}
		add("points.shp", 50000, func(i int) ([]byte, string) {
			return at(point, float64(i), 1), fmt.Sprintf("%4d", i%1000)
		})
		if testing.Short() {
			return files
		}
		add("alone.shp", 60000, func(i int) ([]byte, string) { return at(pointZ, float64(i), 1, 2, 3), "" })
		add("lines.shp", 30000, func(i int) ([]byte, string) {
			return parts(polyLineM, []xy{square(float64(i), 1, 2), {1, 2}}, ordinates(1, 2, 3, 4, 5, float64(i))), ""
		})
		add("islands.shp", 12000, func(i int) ([]byte, string) {
			return parts(polygon, []xy{hole(1, 1, 2), square(0, 0, 9), square(float64(20+i), 1, 2)}[:1+i%3]),
				fmt.Sprintf("%4d", i%1000)
		})
		return files
	})
}

// many returns a shapefile of n records, with attributes if they have some. The content of its
// first one says of which type it is.
func many(n int, record func(i int) (content []byte, attributes string)) readertest.Input {
	var contents [][]byte
	var table []string
	for i := range n {
		content, attributes := record(i)
		contents = append(contents, content)
		if attributes != "" {
			table = append(table, attributes)
		}
	}
	in := readertest.Input{Name: "a.shp", Text: shp(little.Uint32(contents[0]), contents...)}
	if table != nil {
		in.Siblings = map[string][]byte{".dbf": dbf([]field{{"N", 'N', 3, 0}, {"REST", 'C', 12, 0}}, spaced(table)...)}
	}
	return withIndex(in)
}

// spaced has room after records.
func spaced(records []string) []string {
	for i := range records {
		records[i] += strings.Repeat(" ", 12)
	}
	return records
}

// TestDeviceLeavesTheRest has files that devices do not read, or not all of: the tables and errors
// are those of the CPU engine.
func TestDeviceLeavesTheRest(t *testing.T) {
	good := func(i int) ([]byte, string) {
		return parts(polygonZ, []xy{square(float64(i), 0, 3)}, ordinates(1, 2, 3, 4, 5)), fmt.Sprintf(" %3d", i%1000)
	}
	const odd = 100
	with := func(content []byte, attributes string) readertest.Input {
		return many(160, func(i int) ([]byte, string) {
			c, a := good(i)
			if i == odd && content != nil {
				c = content
			}
			if i == odd && attributes != "" {
				a = attributes
			}
			return c, a
		})
	}
	cut := with(nil, "")
	little.PutUint32(cut.Siblings[".dbf"][4:], 120)
	stale := with(nil, "")
	stale.Text = slices.Clone(stale.Text)
	big.PutUint32(stale.Text[100+odd*(len(stale.Text)-100)/160:], 7)
	for _, c := range []struct {
		name string
		in   readertest.Input
		why  string // of a refusal; empty: of none
	}{
		{"nothing", with(nil, ""), ""},
		{"no shape", with(nothing, ""), ""},
		{"no point", with(parts(polygonZ, nil, rangeOf, rangeOf), ""), ""},
		{"measures", with(parts(polygonZ, []xy{square(0, 0, 3)}, ordinates(1, 2, 3, 4, 5),
			ordinates(1, -1e39, 3, 4, math.NaN())), ""), ""},
		{"measures that are none", with(parts(polygonZ, []xy{square(0, 0, 3)}, ordinates(1, 2, 3, 4, 5),
			ordinates(-1e39, -1e39, -1e39, -1e39, math.NaN())), ""), ""},
		{
			"a hole", with(parts(polygonZ, []xy{square(0, 0, 9), hole(1, 1, 2)}, ordinates(make([]float64, 10)...)),
				""),
			"",
		},
		{"a hole before its ring", with(parts(polygonZ, []xy{hole(1, 1, 2), square(0, 0, 9)},
			ordinates(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), ordinates(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)), ""), ""},
		{"islands", with(parts(polygonZ, []xy{square(0, 0, 9), square(20, 0, 9), hole(1, 1, 2)},
			ordinates(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)), ""), ""},
		{"rings that are open or short", with(parts(polygonZ, []xy{{0, 0, 1, 1, 2, 0, 3, 3}, {0, 0}},
			ordinates(0, 1, 2, 3, 4)), ""), ""},
		{"deleted, whatever it holds", with(words(99), "*xyz"), ""},
		{"another type", with(parts(polygon, []xy{square(0, 0, 3)}), ""), "of another type"},
		{
			"another length", with(append(parts(polygonZ, []xy{square(0, 0, 3)}, ordinates(1, 2, 3, 4, 5)), 0, 0), ""),
			"of another length",
		},
		{"a part without points", with(put(parts(polygonZ, []xy{square(0, 0, 3), square(5, 0, 3)},
			ordinates(make([]float64, 10)...)), 48, 0), ""), "begins where none may"},
		{"no number", with(nil, " N/A"), "no value of its type"},
		{"fewer attributes", cut, "shapes without attributes"},
		{"a number out of sequence", stale, "of another number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, shapefile.Format(), 6<<10)
			readertest.Projected(t, shapefile.Format(), c.in, func([]string) []string {
				return []string{"N"}
			}, d.Variant())
			d.Refuses(t, c.why, readertest.Modes(c.in)...)
		})
	}
}

// TestDeviceIsNotAsked has files that no device is asked to read.
func TestDeviceIsNotAsked(t *testing.T) {
	points := func(int) ([]byte, string) { return at(point, 1, 2), " 123" }
	without, wrong := many(2000, points), many(2000, points)
	delete(without.Siblings, ".shx")
	wrong.Siblings[".shx"][107]++
	bytes := many(2000, points)
	bytes.Siblings[".dbf"][32+11] = 'Q'
	for _, c := range []struct {
		name string
		in   readertest.Input
	}{
		{"no .shx", without},
		{"another .shx", wrong},
		{"bytes", bytes},
		{"MultiPatch", many(1000, func(int) ([]byte, string) {
			return patch(multiPatch, []uint32{2}, []xy{square(0, 0, 1)}, ordinates(1, 2, 3, 4, 5)), ""
		})},
		{"no shape at all", many(2000, func(int) ([]byte, string) { return nothing, "" })},
		{"two chunks", many(120, points)},
		{"no record", withIndex(readertest.Input{Name: "a.shp", Text: shp(point)})},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, shapefile.Format(), 4<<10)
			d.Ignores(t, c.in)
		})
	}
}

// TestDeviceGivesUp has rings of which the CPU engine won't say which is in which.
func TestDeviceGivesUp(t *testing.T) {
	if testing.Short() {
		t.Skip("one polygon takes some millions of steps, again and again")
	}
	const teeth = 6000
	comb := xy{}
	for i := range teeth {
		comb = append(comb, float64(i), float64(i%2*100))
	}
	rings := []xy{append(comb, teeth, -100, 0, -100)}
	for i := range teeth {
		rings = append(rings, xy{0.5, 20 + float64(i)/200, 0.5, 20.001 + float64(i)/200, 0.501, 20 + float64(i)/200})
	}
	in := many(300, func(i int) ([]byte, string) {
		if i == 200 {
			return parts(polygon, rings), " 123"
		}
		return parts(polygon, []xy{square(0, 0, 3)}), " 123"
	})
	in.Options = map[string]any{"on_error": "skip"}
	d := readertest.NewDevice(t, shapefile.Format(), 6<<10)
	d.Refuses(t, "takes too long", in)
}

// TestDeviceUneven has shapes whose attributes are far more than those of the file on average:
// their chunks have no room on a slot.
func TestDeviceUneven(t *testing.T) {
	var line xy
	for i := range 4000 {
		line = append(line, float64(i), 1)
	}
	const rows = 10000
	in := many(rows, func(i int) ([]byte, string) {
		if i < 40 {
			return parts(polyLine, []xy{line}), ""
		}
		return nothing, ""
	})
	in.Siblings[".dbf"] = dbf([]field{{"C", 'C', 240, 0}}, slices.Repeat([]string{strings.Repeat(" ", 241)}, rows)...)
	d := readertest.NewDeviceOn(t, shapefile.Format(), slots.Config{Plan: slots.Plan{
		ChunkBytes: 1 << 18,
		Slots:      2, Work: 2,
	}}, readertest.Kernels(t))
	d.Refuses(t, "far more in other files", in)
}

// TestDeviceFaults has calls of the device fail.
func TestDeviceFaults(t *testing.T) {
	in := many(700, func(i int) ([]byte, string) {
		return parts(polygonM, []xy{square(0, 0, 9), square(float64(9*(i%2)), 0, 1)},
			ordinates(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)), fmt.Sprintf(" %3d", i%1000)
	})
	in.Limits.BatchRows = 100
	readertest.DeviceFaults(t, shapefile.Format(), in)
}

// TestDeviceBringsBackWhatIsAskedFor compares the bytes that come back from a device for a column
// with those for all.
func TestDeviceBringsBackWhatIsAskedFor(t *testing.T) {
	in := many(1500, func(i int) ([]byte, string) {
		return parts(polygon, []xy{square(float64(i), 0, 9)}), fmt.Sprintf(" %3d", i%1000)
	})
	back := readertest.BytesBack(t, shapefile.Format(), in)
	all := back(nil)
	for _, name := range []string{"N", "REST"} {
		if one := back([]string{name}); one > all/3 {
			t.Errorf("%d bytes for %s, %d for all columns", one, name, all)
		}
	}
}

// TestDeviceMutants has one mistake, at each byte. Left out or put in, a byte moves all that
// follows.
func TestDeviceMutants(t *testing.T) {
	contents := [][]byte{
		parts(polygon, []xy{square(0, 0, 9), hole(1, 1, 1)}), nothing,
		parts(polygon, []xy{square(0, 0, 1)}),
	}
	in := many(12, func(i int) ([]byte, string) { return contents[i%3], fmt.Sprintf(" %3d", i) })
	d := readertest.NewDevice(t, shapefile.Format(), 500)
	d.Mutants(t, in, 100+len(in.Text)/3, 100+2*len(in.Text)/3, "\x00\x01\x03\x05\x7f\x80\xff")
}
