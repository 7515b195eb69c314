package csv_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// deviceFile returns records of everything that columns are made of.
func deviceFile(r *rand.Rand, records int, delimiter, end string) []byte {
	var b strings.Builder
	names := []string{"id", "wide", "f", "ok", "s", "none", "day", "at", "lon", "lat", "code", "mixed"}
	b.WriteString(strings.Join(names, delimiter) + end)
	words := []string{
		"plain", "é ü", `"in ""quotes"""`, `"a` + delimiter + `b"`, "\"two\r\nlines\"",
		`""`, "", "😀", strings.Repeat("long ", 90),
	}
	for i := range records {
		fields := []string{
			fmt.Sprint(i - 400), fmt.Sprint(i * i * i * 1000), fmt.Sprintf(" %g", r.NormFloat64()),
			fmt.Sprint(i%3 == 0), words[r.IntN(len(words))], "",
			fmt.Sprintf("2024-02-%02d", 1+i%29), fmt.Sprintf("2024-03-01T10:%02d:00.25Z", i%60),
			fmt.Sprintf("%.*f", r.IntN(15), r.Float64()*360-180), fmt.Sprintf("%.*f", r.IntN(15), r.Float64()*180-90),
			fmt.Sprintf("%05d", i%1000), fmt.Sprint(i),
		}
		if i%7 == 0 {
			for _, k := range []int{0, 2, 3, 6, 8} {
				fields[k] = ""
			}
		}
		if i%50 == 49 {
			fields[11] = "none"
		}
		b.WriteString(strings.Join(fields, delimiter) + end)
	}
	return []byte(b.String())
}

// TestDeviceAcceptsOrdinaryFiles holds the tables of the device against those of the CPU engine,
// and has it refuse nothing.
func TestDeviceAcceptsOrdinaryFiles(t *testing.T) {
	for _, c := range []struct {
		name, file, delimiter, end string
		options                    map[string]any
	}{
		{"commas", "a.csv", ",", "\n", nil},
		{"semicolons and CRLF", "a.csv", ";", "\r\n", nil},
		{"tabs and CR", "a.tsv", "\t", "\r", nil},
		{"pipes and blank lines", "a.psv", "|", "\n\r\n\n", nil},
		{"text", "a.csv", ",", "\n", map[string]any{"types": "string"}},
		{"geometry columns kept", "a.csv", ",", "\n", map[string]any{"keep_geometry_columns": true}},
		{"no geometry", "a.csv", ",", "\n", map[string]any{"geometry": "none"}},
		{"no header", "a.csv", ",", "\n", map[string]any{"header": false}},
		{"padded", "a.csv", ",", "\n", map[string]any{"ragged": "pad", "on_error": "skip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 1))
			for _, cut := range []int{0, len(c.end)} {
				text := deviceFile(r, 400, c.delimiter, c.end)
				in := readertest.Input{
					Name: c.file, Text: text[:len(text)-cut], Options: c.options,
					Limits: readers.Limits{BatchRows: 100},
				}
				d := readertest.NewDevice(t, csv.Format(), 9<<10)
				d.Accepts(t, 3, in)
			}
		})
	}
}

// TestDeviceReadsDates holds columns of dates against those of the CPU engine, on every chunk of
// which a device reads them, and has it refuse nothing.
func TestDeviceReadsDates(t *testing.T) {
	const nano = "2024-02-29 10:30:00.123456789"
	columns := map[string]func(r *rand.Rand, i int) string{
		"days": func(r *rand.Rand, _ int) string {
			return fmt.Sprintf("%04d-%02d-%02d", r.IntN(10000), 1+r.IntN(12), 1+r.IntN(28))
		},
		"slashes": func(_ *rand.Rand, i int) string { return fmt.Sprintf("2024/%02d/29", 1+i%12) },
		"some":    func(_ *rand.Rand, i int) string { return []string{"", `""`, `"2024-02-29"`, "1969-12-31"}[i%4] },
		"none":    func(_ *rand.Rand, i int) string { return []string{"", `""`}[i%2] },
		// in turns of a chunk and more
		"times": func(_ *rand.Rand, i int) string { return []string{"2024-02-29", "2024-02-29T10:30Z"}[i/200%2] },
		"both":  func(_ *rand.Rand, i int) string { return []string{"0001-01-01", nano}[i%2] },
		// text, since nanoseconds do not reach so far
		"early": func(_ *rand.Rand, i int) string {
			return []string{"0001-01-01", "2024-02-29", nano}[min(i, 1)+i/350]
		},
		"late": func(_ *rand.Rand, i int) string {
			return []string{"9999-12-31", "2024-02-29", nano}[min(i, 1)+i/350]
		},
		// text from some chunk on
		"leap":   func(_ *rand.Rand, i int) string { return fmt.Sprintf("%d-02-29", 1600+i%2*400+i/300*3) },
		"number": func(_ *rand.Rand, i int) string { return []string{"2024-02-29", "2024"}[i/350%2] },
	}
	r := rand.New(rand.NewPCG(7, 3))
	names := slices.Sorted(maps.Keys(columns))
	text := []byte(strings.Join(names, ",") + "\n")
	for i := range 700 {
		for k, name := range names {
			text = append(append(text, columns[name](r, i)...), ",\n"[min(1, (k+1)/len(names))])
		}
	}
	for _, types := range []string{"auto", "string"} {
		d := readertest.NewDevice(t, csv.Format(), 9<<10)
		in := readertest.Input{
			Name: "a.csv", Text: text, Limits: readers.Limits{BatchRows: 100},
			Options: map[string]any{"types": types},
		}
		d.Accepts(t, 3, in)
	}
}

// TestDeviceFaults has calls of the device fail.
func TestDeviceFaults(t *testing.T) {
	text := deviceFile(rand.New(rand.NewPCG(7, 9)), 900, ",", "\n")
	readertest.DeviceFaults(t, csv.Format(), readertest.Input{
		Name: "a.csv", Text: text,
		Limits: readers.Limits{BatchRows: 100},
	})
}

// TestDeviceLeavesTheRest has files that devices do not read, or not all of: the tables and errors
// are those of the CPU engine.
func TestDeviceLeavesTheRest(t *testing.T) {
	plain := strings.Repeat("1,2.5,word,3\n", 600)
	for _, c := range []struct {
		name, odd string
		why       string // of a refusal; empty: of none
	}{
		{"nothing", "", ""},
		{"a stray quote", "1,2,5\",3\n", "a quote inside of a field"},
		{"text after a quote", "1,2,\"5\"x,3\n", "a quote inside of a field"},
		{"a quote that is not closed", "1,2,\"5,3\n", "inside of quotes"},
		{"fewer fields", "1,2,3\n", "fewer or more fields"},
		{"more fields", "1,2,3,4,5\n", "fewer or more fields"},
		{"no ordinate", "1,x,3,4\n", "no finite number"},
		{"an infinite ordinate", "inf,1,3,4\n", "no finite number"},
		{"not UTF-8", "1,2,\xff,4\n", "not UTF-8"},
		{"an integer that is rounded", "1,2,3,9007199254740993\n1,2,3,.5\n", "an integer that no float64 is"},
		{
			"a number near the middle of two", "1,2,3,1.00000000000000011102230246251565404\n",
			"a number that is very long",
		},
		{"a long number", "1,2,3,0." + strings.Repeat("1", 1100) + "\n", "a number that is very long"},
		{"fields of nothing", strings.Repeat(",,,\n", 5000), "fields of hardly any text"},
		{"NUL", "1,2,\x00,4\n", ""},
		{"a long text", "1,2,\"" + strings.Repeat("long \"\",\r\n", 150) + "\",4\n", ""},
		{"numbers of another kind", "1,2,3,99999999999\n,,,-0\n,,,true\n", ""},
		{"blank lines", strings.Repeat("\n", 1000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, csv.Format(), 3<<10)
			d.Refuses(t, c.why, readertest.Modes(readertest.Input{
				Name: "a.csv", Text: []byte("x,y,s,n\n" + plain + c.odd + plain),
			})...)
		})
	}
}

// TestDeviceHostile has files of hardly anything but one thing.
func TestDeviceHostile(t *testing.T) {
	const long = 8 << 20
	for _, c := range []struct{ name, text string }{
		{"one long line", "a,b\n1," + strings.Repeat("x", long) + "\n2,y\n"},
		{"one long field in quotes", "a,b\n1,\"" + strings.Repeat("x\n,", long/3) + "\"\n2,y\n"},
		{"quotes", "a,b\n1," + strings.Repeat("\"", 1<<20) + "\n"},
		{"an odd number of quotes", "a,b\n1," + strings.Repeat("\"", 1<<20+1) + "\n"},
		{"blanks", "a,b\n1," + strings.Repeat(" ", 1<<20) + "7\n"},
		{"blank lines", "a,b\n1,2" + strings.Repeat("\n", 1<<20) + "3,4"},
		{"tiny records", "a\n" + strings.Repeat("7\n", 1<<20)},
		{"tiny texts", "a\n" + strings.Repeat("x\n", 1<<18)},
		{"a wide record", strings.Repeat("a,", 1<<10) + "a\n" + strings.Repeat(strings.Repeat("1,", 1<<10)+"1\n", 60)},
		{"a BOM", "\uFEFFa,b\n" + strings.Repeat("1,x\n", 1<<15)},
		{"CR", "a,b\r" + strings.Repeat("1,x\r", 1<<15)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, csv.Format(), 48<<10)
			d.Same(t, readertest.Input{Name: "a.csv", Text: []byte(c.text)})
			n := d.Counts()
			t.Logf("%d chunks accepted, %d refused: %s", n.Chunks, n.Refused, n.Reason)
		})
	}
}

// TestDeviceBringsBackWhatIsAskedFor compares the bytes that come back from a device for a column
// with those for all.
func TestDeviceBringsBackWhatIsAskedFor(t *testing.T) {
	in := readertest.Input{Name: "a.csv", Text: deviceFile(rand.New(rand.NewPCG(7, 9)), 400, ",", "\n")}
	back := readertest.BytesBack(t, csv.Format(), in)
	all := back(nil)
	for _, column := range []string{"id", "day", "geometry"} {
		if one := back([]string{column}); one > all/3 {
			t.Errorf("%d bytes for %s, %d for all columns", one, column, all)
		}
	}
}
