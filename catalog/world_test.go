package catalog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// rowsFormat is a format with a real parser, so that tables follow from the content of files. A row
// is a line of three fields. An empty field is null. A line that begins with '!' is malformed:
//
//	17;some text;1 2        integer or text; text; a point
//	x;;0 0,1 1              a line of two positions
type rowsFormat struct {
	parses atomic.Int64                                               // of whole files
	tails  atomic.Int64                                               // of appended data
	pause  atomic.Pointer[func(ctx context.Context, row int64) error] // called before each chunk
}

func (f *rowsFormat) format() readers.Format {
	return readers.Format{
		Name: "rows", Extensions: []string{".rows"}, Unit: "row", Version: 1,
		Options: []readers.Option{{Name: "shift", Default: "0", Doc: "is added to each integer"}},
		Open: func(_ context.Context, _ *source.File, opts readers.Options) (readers.Layout, error) {
			return readers.Layout{Options: opts}, nil
		},
		CPU: func(l readers.Layout) readers.Parser { return rowsParser{f, l.Options.Get("shift"), l.Columns} },
	}
}

type rowsParser struct {
	*rowsFormat
	shift   string
	columns readers.Projection
}

func (p rowsParser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	span := req.Span
	if span.To < 0 {
		span.To = src.Size
	}
	switch {
	case span.Inside:
	case span.From > 0:
		p.tails.Add(1)
	default:
		p.parses.Add(1)
	}
	shift, err := strconv.ParseInt(p.shift, 10, 64)
	if err != nil {
		return readers.Summary{}, &readers.OptionError{Option: "shift", Err: err}
	}
	in := bufio.NewReaderSize(io.NewSectionReader(src, span.From, span.To-span.From), 16<<10)
	at, row := span.From, span.Row
	chunk := rowsChunk{shift: shift, text: span.Text}
	flush := func() error {
		if pause := p.pause.Load(); pause != nil {
			if err := (*pause)(ctx, row); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := chunk.columns()
		if err != nil {
			return err
		}
		project(c, p.columns)
		n := int64(len(chunk.lines))
		from := readers.Span{From: at - chunk.bytes, To: at, Row: row - n, Inside: true}
		chunk.lines, chunk.bytes = nil, 0
		return emit(readers.Chunk{Columns: c, Span: from})
	}
	for at < span.To {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) || line == "" {
			return readers.Summary{}, fmt.Errorf("%s: %w: %w", src.Name, source.ErrChanged, err)
		}
		if strings.HasPrefix(line, "!") {
			return readers.Summary{}, &readers.ParseError{
				Name: src.Name, Format: "rows", Offset: at,
				Row: row, Unit: "row", Err: errors.New("malformed"),
			}
		}
		at, row = at+int64(len(line)), row+1
		chunk.bytes += int64(len(line))
		chunk.lines = append(chunk.lines, strings.TrimSuffix(line, "\n"))
		if len(chunk.lines) == req.Limits.BatchRows {
			if err := flush(); err != nil {
				return readers.Summary{}, err
			}
		}
	}
	if len(chunk.lines) > 0 || row == span.Row {
		if err := flush(); err != nil {
			return readers.Summary{}, err
		}
	}
	return readers.Summary{
		CRS: geoarrow.CRS84, BytesRead: span.To - span.From, Foreign: map[string]int64{},
		Appendable: true,
	}, nil
}

// rowsChunk makes columns of lines.
type rowsChunk struct {
	shift int64
	text  []geoarrow.ColumnID // requested as text
	lines []string
	bytes int64
}

// split returns the fields of a line.
func split(line string) (a, b, g string) {
	a, rest, _ := strings.Cut(line, ";")
	b, g, _ = strings.Cut(rest, ";")
	return a, b, g
}

// shifted parses an integer and adds by. It returns false for other text.
func shifted(text string, by int64) (int64, bool) {
	v, err := strconv.ParseInt(text, 10, 64)
	return v + by, err == nil
}

func (k *rowsChunk) columns() (*geoarrow.Columns, error) {
	a := geoarrow.Column{Name: "a"}
	b := geoarrow.Column{Name: "b", Facts: geoarrow.Facts{Kinds: geoarrow.FactString}}
	var as, bs []string
	var g geoarrow.GeometryBuilder
	g.Reset()
	for _, line := range k.lines {
		av, bv, gv := split(line)
		switch v, number := shifted(av, k.shift); {
		case av == "":
		case !number:
			a.Facts.Kinds |= geoarrow.FactString
		case v >= math.MinInt32 && v <= math.MaxInt32:
			a.Facts.Kinds |= geoarrow.FactInt32
			av = strconv.FormatInt(v, 10)
		default:
			a.Facts.Kinds |= geoarrow.FactInt64
			av = strconv.FormatInt(v, 10)
		}
		as, bs = append(as, av), append(bs, bv)
		if err := addShape(&g, gv); err != nil {
			return nil, err
		}
	}
	if strings.Join(bs, "") == "" {
		b.Facts.Kinds = 0
	}
	for _, c := range []struct {
		*geoarrow.Column
		values []string
	}{{&a, as}, {&b, bs}} {
		to := c.Facts.Resolve(c.Role)
		c.Type, c.JSON, c.Mixed = to.Type, to.JSON, to.Mixed
		if slices.Contains(k.text, c.ID()) {
			c.Type = arrow.BinaryTypes.String
		}
		fillColumn(c.Column, c.values)
	}
	shapes, err := g.Finish()
	return &geoarrow.Columns{Rows: len(k.lines), Attributes: []geoarrow.Column{a, b}, Geometry: shapes}, err
}

// project removes the columns that were not requested.
func project(c *geoarrow.Columns, columns readers.Projection) {
	for i := range c.Attributes {
		if id := c.Attributes[i].ID(); !columns.Has(id) {
			c.Attributes[i] = geoarrow.Unread(id)
		}
	}
	if !columns.Geometry() {
		c.Geometry = geoarrow.NullGeometry(c.Rows, geoarrow.NoKind, geoarrow.XY)
	}
}

// fillColumn sets the slices of a column of int32, int64 or text.
func fillColumn(c *geoarrow.Column, values []string) {
	n := len(values)
	var ints []int32
	var longs []int64
	ends := []int32{0}
	for i, v := range values {
		setValid(&c.Valid, &c.Nulls, n, i, v != "")
		number, _ := strconv.ParseInt(v, 10, 64)
		switch c.Type.ID() {
		case arrow.INT32:
			ints = append(ints, int32(number))
		case arrow.INT64:
			longs = append(longs, number)
		default:
			c.Values = append(c.Values, v...)
			ends = append(ends, int32(len(c.Values)))
		}
	}
	switch c.Type.ID() {
	case arrow.INT32:
		c.Values = geoarrow.AsBytes(ints)
	case arrow.INT64:
		c.Values = geoarrow.AsBytes(longs)
	default:
		c.Offsets = ends
	}
	if c.Nulls == 0 {
		c.Valid = nil
	}
}

// positions parses the text of a geometry: "1 2" is one position, "1 2,3 4" are two.
func positions(text string) [][2]float64 {
	var all [][2]float64
	for p := range strings.SplitSeq(text, ",") {
		xText, yText, _ := strings.Cut(p, " ")
		x, _ := strconv.ParseFloat(xText, 64)
		y, _ := strconv.ParseFloat(yText, 64)
		all = append(all, [2]float64{x, y})
	}
	return all
}

func addShape(g *geoarrow.GeometryBuilder, text string) error {
	if text == "" {
		g.Null()
		return nil
	}
	all := positions(text)
	for _, p := range all {
		g.X, g.Y = append(g.X, p[0]), append(g.Y, p[1])
	}
	if len(all) == 1 {
		g.End(geoarrow.Point)
	} else {
		g.End(geoarrow.LineString)
	}
	return nil
}

// rowsOfText returns the expected rows of a file's table: cells as text, joined. It shares no code
// with the parser's columns.
func rowsOfText(text string, shift int64) []string {
	var out []string
	for line := range strings.Lines(text) {
		a, b, g := split(strings.TrimSuffix(line, "\n"))
		if v, number := shifted(a, shift); number {
			a = strconv.FormatInt(v, 10)
		}
		switch {
		case g == "":
		case strings.Contains(g, ","):
			g = "LINESTRING (" + strings.ReplaceAll(g, ",", ", ") + ")"
		default:
			g = "POINT (" + g + ")"
		}
		for _, cell := range []*string{&a, &b, &g} {
			if *cell == "" {
				*cell = "(null)"
			}
		}
		out = append(out, a+"|"+b+"|"+g)
	}
	return out
}

// textOf returns a file of n rows. Files with different seeds differ in every row.
func textOf(seed, n int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i%7 == 6:
			fmt.Fprintf(&b, ";row %d of %d;\n", i, seed)
		case i%11 == 10:
			fmt.Fprintf(&b, "%d;;%d %d\n", seed*1000+i, i, seed)
		default:
			fmt.Fprintf(&b, "%d;row %d of %d;%d %d\n", seed*1000+i, i, seed, i, seed)
		}
	}
	return b.String()
}

// world has folders of data files, a cache folder, and catalogs for them, one after the other or at
// once.
type world struct {
	t           testing.TB
	data, cache string
	fs          files.FS
	format      rowsFormat
	change      func(*Config)
}

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, data: t.TempDir(), cache: t.TempDir(), fs: files.OS{}, change: func(c *Config) {
		for _, f := range change {
			f(c)
		}
	}}
	return w
}

// small sets limits that cause many batches of a few rows.
func small(c *Config) { c.Limits = readers.Limits{BatchRows: 16, Workers: 2} }

func memory(bytes int64) func(*Config) { return func(c *Config) { c.MemoryBytes = bytes } }

func cacheBytes(bytes int64) func(*Config) { return func(c *Config) { c.CacheBytes = bytes } }

// open opens a catalog. The caller or the end of the test closes it.
func (w *world) open() *Catalog {
	w.t.Helper()
	c, err := w.tryOpen()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (w *world) tryOpen() (*Catalog, error) {
	cfg := Config{
		Roots: []Root{{Dir: w.data}}, Formats: readers.Registry{w.format.format()}, Log: zerolog.Nop(),
		CacheDir: w.cache,
		Limits:   readers.Limits{BatchRows: 100, Workers: 2},
	}
	w.change(&cfg)
	return open(context.Background(), cfg, w.fs)
}

// close closes a catalog after all tables are saved.
func (w *world) close(c *Catalog) {
	w.t.Helper()
	c.awaitSaves()
	if err := c.Close(); err != nil {
		w.t.Error(err)
	}
}

// awaitSaves waits until all parsed tables are in the cache. No other goroutine may request tables.
func (c *Catalog) awaitSaves() { c.tables.Wait() }

// peek reports whether Peek finds a table, and its version.
func (c *Catalog) peek(name string) (version string, ok bool) {
	_, s, version, err := c.Peek(context.Background(), name, Selection{})
	return version, s != nil && err == nil
}

func (w *world) path(name string) string { return filepath.Join(w.data, name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// answer is what a client learns about a table in addition to its rows.
type answer struct {
	version      string
	cached       bool
	rows, bytes  int64
	schema, bbox string
	types        []string
}

func answerOf(h *TableRef) answer {
	t := h.Table
	a := answer{version: h.Version, cached: h.Cached, rows: t.Rows, bytes: t.Bytes, types: t.GeometryTypes}
	a.schema = geoarrow.Schema(t.Batches[0], t.CRS, geoarrow.Encoding{}).String()
	if t.BBox != nil {
		a.bbox = fmt.Sprint(*t.BBox)
	}
	return a
}

// ask requests a table and compares all its rows with the text of a file.
func ask(ctx context.Context, c *Catalog, req Request, text string) (answer, error) {
	h, err := c.Table(ctx, req)
	if err != nil {
		return answer{}, err
	}
	defer h.Release()
	shift, _ := strconv.ParseInt(fmt.Sprint(req.Options["shift"]), 10, 64)
	a := answerOf(h)
	return a, sameRows(ctx, h, Selection{}, rowsOfText(text, shift))
}

// want calls ask with the current text of a file.
func (w *world) want(c *Catalog, name string, options ...string) answer {
	w.t.Helper()
	a, err := ask(context.Background(), c, Request{Name: name, Options: shiftBy(options...)}, w.read(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func shiftBy(by ...string) map[string]any {
	if len(by) == 0 {
		return nil
	}
	return map[string]any{"shift": by[0]}
}

// errWrong says that a table does not match its file.
var errWrong = errors.New("a wrong table")

// sameRows scans a selection and compares it with the expected rows.
func sameRows(ctx context.Context, h *TableRef, sel Selection, want []string) error {
	sel.Encoding = geoarrow.Encoding{Geometry: geoarrow.AsWKT}
	s, err := h.Scan(sel)
	if err != nil {
		return err
	}
	at := 0
	for {
		rec, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if at, err = sameRecord(rec, want, at); err != nil {
			return err
		}
	}
	if at != len(want) {
		return fmt.Errorf("%w: %d rows, want %d", errWrong, at, len(want))
	}
	return nil
}

// sameRecord compares a record with the rows from index at on, releases it, and returns the index
// of the next row.
func sameRecord(rec arrow.Record, want []string, at int) (int, error) {
	defer rec.Release()
	for i := range int(rec.NumRows()) {
		got := rec.Column(0).ValueStr(i) + "|" + rec.Column(1).ValueStr(i) + "|" + rec.Column(2).ValueStr(i)
		if at >= len(want) || got != want[at] {
			return at, fmt.Errorf("%w: row %d is %q, want %q", errWrong, at, got, want[min(at, len(want)-1)])
		}
		at++
	}
	return at, nil
}

// wantParses compares the number of files parsed since its last call.
func (w *world) wantParses(want int64) {
	w.t.Helper()
	if got := w.format.parses.Swap(0); got != want {
		w.t.Errorf("%d parses, want %d", got, want)
	}
}

// tables returns the paths of the tables in the cache.
func (w *world) tables() []string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.cache, "tables", "*.arrow"))
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// wantTables compares the number of tables in the cache.
func (w *world) wantTables(want int) {
	w.t.Helper()
	if found := w.tables(); len(found) != want {
		w.t.Errorf("the cache has %d tables %q, want %d", len(found), found, want)
	}
}

// wantTidy checks that no temporary file and no mapping is left. All catalogs of the process are
// closed.
func (w *world) wantTidy() {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.cache, "tables", ".tmp-*"))
	if err != nil || len(found) > 0 {
		w.t.Errorf("temporary files %q, %v are left", found, err)
	}
	if n := tablefile.Mappings(); n != 0 {
		w.t.Errorf("%d mappings are left", n)
	}
}

// setValid sets bit i of n of a validity bitmap, or counts a null.
func setValid(valid *[]byte, nulls *int, n, i int, ok bool) {
	if *valid == nil {
		*valid = make([]byte, (n+7)/8)
	}
	if ok {
		(*valid)[i/8] |= 1 << (i % 8)
	} else {
		*nulls++
	}
}
