package csv_test

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers/readertest"
)

// sweeper writes files of everything that the grammar has.
type sweeper struct {
	*rand.Rand
	delimiter string
	end       func() string // of a line
	odd       int           // one thing in n is odd
}

// newSweepDocument writes the file of a seed.
func newSweepDocument(seed uint64) readertest.Input {
	r := rand.New(rand.NewPCG(seed, 11))
	w := &sweeper{Rand: r, delimiter: ",", odd: []int{8, 60, 400, 1 << 40}[r.IntN(4)]}
	in := readertest.Input{Name: "dir/a.csv", Options: map[string]any{}}
	switch r.IntN(3) {
	case 0:
		text, _ := random(seed)
		in.Text = []byte(text)
	default:
		w.delimiter = w.pick(",", ",", ";", "\t", "|")
		w.end = func() string { return "\n" }
		if r.IntN(3) == 0 {
			w.end = func() string { return w.pick("\n", "\r\n", "\r", "\n\n") }
		}
		in.Text = []byte(w.file())
	}
	in.Text = w.mutate(in.Text)
	choose(&in, r)
	return in
}

// choose draws the options and the limits.
func choose(d *readertest.Input, r *rand.Rand) {
	for _, o := range []struct {
		in     int
		name   string
		values []any
	}{
		{2, "on_error", []any{"skip", "null", "repair"}},
		{4, "ragged", []any{"pad"}},
		{4, "keep_geometry_columns", []any{true}},
		{12, "types", []any{"string"}},
		{12, "quote", []any{"none", "'"}},
		{12, "header", []any{true, false}},
		{12, "geometry", []any{"none", "a"}},
		{12, "geometry_format", []any{"wkt", "wkb"}},
		{8, "encoding", []any{"windows-1252", "shift_jis", "gb18030"}},
		{12, "decimal", []any{",", "."}},
		{12, "delimiter", []any{";", "tab", "|"}},
	} {
		if r.IntN(o.in) == 0 {
			d.Options[o.name] = o.values[r.IntN(len(o.values))]
		}
	}
	if d.Options["encoding"] != nil && d.Options["delimiter"] == "|" {
		delete(d.Options, "delimiter")
	}
	d.Limits.BatchRows = 1 + r.IntN(8)
	if r.IntN(3) == 0 {
		d.Limits.BatchRows = 1 + r.IntN(100)
	}
	if r.IntN(4) == 0 {
		d.Limits.BatchBytes = 1 + r.Int64N(2000)
	}
	if r.IntN(10) == 0 {
		d.Limits.MaxFeatureBytes = 10 + r.Int64N(300)
	}
	if r.IntN(10) == 0 {
		d.Limits.MaxDepth = 1 + r.IntN(4)
	}
}

func (w *sweeper) pick(from ...string) string { return from[w.IntN(len(from))] }

func (w *sweeper) isOdd() bool { return w.IntN(w.odd) == 0 }

// file returns a header with columns that may be the geometry, and records.
func (w *sweeper) file() string {
	columns := []func() string{}
	var names []string
	add := func(name string, field func() string) {
		names, columns = append(names, name), append(columns, field)
	}
	kind := w.IntN(len(words))
	value := func() string { return words[kind][w.IntN(len(words[kind]))] }
	for range w.IntN(3) {
		add(w.pick("a", "b", "b", "", "geometry_1", "col_0"), value)
	}
	switch w.IntN(4) {
	case 0:
		add(w.pick("lat", "Y_Lat"), w.ordinate)
		add(w.pick("lon", "y_lon", "long"), w.ordinate)
	case 1:
		add(w.pick("x", "lon"), w.ordinate)
		add(w.pick("y", "lat"), w.ordinate)
	default:
		cells := []func() string{w.wkt, w.wkb}[w.IntN(2)]
		add(w.pick("wkt", "geom", "WKB_geometry", "a"), cells)
	}
	if w.IntN(2) == 0 {
		other := w.IntN(len(words))
		add("c", func() string { return words[other][w.IntN(len(words[other]))] })
	}
	var b strings.Builder
	b.WriteString(strings.Join(names, w.delimiter) + w.end())
	for range w.IntN(40) {
		for i, field := range columns {
			if i > 0 {
				b.WriteString(w.delimiter)
			}
			f := field
			if w.isOdd() {
				f = columns[w.IntN(len(columns))]
			}
			b.WriteString(w.quoted(f()))
		}
		if w.isOdd() {
			b.WriteString(w.pick(w.delimiter, w.delimiter+"x", " ", `"`))
		}
		b.WriteString(w.end())
	}
	return b.String()
}

func (w *sweeper) quoted(s string) string {
	switch {
	case w.IntN(10) == 0:
		return ""
	case !strings.ContainsAny(s, "\r\n\""+w.delimiter) && w.IntN(4) > 0:
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func (w *sweeper) ordinate() string {
	if w.isOdd() {
		return w.pick("x", "inf", "1e400", "1 2", "N/A", "NULL", "nan", "--1", "-", "None", `\N`, "#N/A",
			"1.#QNAN", "-1.#IND00", "1.5,2")
	}
	return w.pick("1", "-0", "0.5", " 2", "+3", "007", "1e2", "90.81246689931749", "-73.98",
		"12345678901234567890", ".5", "-0.0", "1,5")
}

func (w *sweeper) wkt() string {
	if w.isOdd() {
		return w.pick("circle", "NA", "POINT(1)", "POINT(1 x)", "SRID=3;POINT(1 2)", "POINT(1 2",
			"LINESTRING(1 2,3)", "POINT((1 2))", "GEOMETRYCOLLECTION(POINT(1 2),x)")
	}
	return w.pick("", w.pick("", "", "SRID=4326;")) + w.pick("POINT(1 2)", "point z (1 2 3)", "POINT EMPTY",
		"LINESTRING(1 2,3 4)", "POLYGON((0 0,1 0,1 1,0 0))",
		"MULTIPOINT(1 2,3 4)", "POLYGON((0 0,1 0,1 1))", "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(1 2,3 4))",
		"GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT M (1 2 3)))",
		"MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))", " POINT ( 1.5 2e1 ) ", "MULTILINESTRING((1 2,3 4))")
}

func (w *sweeper) wkb() string {
	code, body := byte(1), 16
	b := []byte{1, 0, 0, 0, 0}
	switch w.IntN(4) {
	case 0:
		code, body = 2, 4+32
	case 1:
		b[4] = 0x20 // SRID
		b = append(b, 0xE6, 0x10, 0, 0)
	}
	b[1] = code
	at := len(b)
	b = append(b, make([]byte, body)...)
	for i := at; i < len(b); i++ {
		b[i] = byte(w.IntN(256))
	}
	if code == 2 {
		copy(b[at:], []byte{2, 0, 0, 0})
	}
	if w.isOdd() {
		b = b[:w.IntN(len(b))]
	}
	s := hex.EncodeToString(b)
	if w.IntN(2) == 0 {
		s = strings.ToUpper(s)
	}
	if w.isOdd() {
		s = s[:w.IntN(len(s)+1)]
	}
	return s
}

// mutate flips, cuts, inserts, doubles and swaps bytes, in half of all files.
func (w *sweeper) mutate(text []byte) []byte {
	if w.IntN(2) == 0 || len(text) == 0 {
		return text
	}
	for range 1 + w.IntN(4) {
		from := w.IntN(len(text) + 1)
		to := from + w.IntN(min(20, len(text)-from+1))
		piece := slices.Clone(text[from:to])
		switch w.IntN(6) {
		case 0:
			for i := range piece {
				piece[i] ^= 1 << w.IntN(8)
			}
			text = slices.Concat(text[:from], piece, text[to:])
		case 1:
			text = slices.Concat(text[:from], text[to:])
		case 2:
			text = slices.Concat(text[:to], piece, text[to:])
		case 3:
			text = text[:from]
		case 4:
			lines := strings.SplitAfter(string(text), "\n")
			w.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			text = []byte(strings.Join(lines, ""))
		default:
			text = slices.Concat(text[:from], []byte(w.pick(`"`, `""`, "\"\n", ",", ";", "\n", "\r",
				"\x00", "\x80", "é", "\xEF\xBB\xBF", "'", " ", "-0", "(", ")")), text[from:])
		}
		if len(text) == 0 {
			break
		}
	}
	return text
}
