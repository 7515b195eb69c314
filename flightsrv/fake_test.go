package flightsrv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// recipe is a .fake file: JSON-free words "rows=3 pad=10" that say which table it is.
type recipe struct {
	rows int
	pad  int // bytes of text of every row
	wide int // bytes of text of row 2
	fail string
}

// fakeFormat makes tables of n (int32, the row's number), s (text) and geometry (point n, -n).
func fakeFormat() readers.Format {
	return readers.Format{
		Name: "fake", Extensions: []string{".fake"}, Unit: "row", Version: 1,
		Options: []readers.Option{{Name: "letter", Default: "x", Doc: "the text is made of it"}},
		Open: func(_ context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
			text := make([]byte, src.Size)
			if _, err := src.ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
				return readers.Layout{}, err
			}
			r := recipe{}
			for _, word := range strings.Fields(string(text)) {
				key, value, _ := strings.Cut(word, "=")
				switch to := map[string]*int{"rows": &r.rows, "pad": &r.pad, "wide": &r.wide}[key]; {
				case key == "fail":
					r.fail = value
				case to == nil:
					return readers.Layout{}, &readers.ParseError{
						Name: src.Name, Format: "fake", Offset: 7,
						Line: 1, Row: -1, Err: fmt.Errorf("unexpected %q", word),
					}
				default:
					if _, err := fmt.Sscan(value, to); err != nil {
						return readers.Layout{}, err
					}
				}
			}
			return readers.Layout{Options: opts, Dialect: r}, nil
		},
		CPU: func(l readers.Layout) readers.Parser { return fakeParser{l.Dialect.(recipe), l.Options, l.Columns} },
	}
}

type fakeParser struct {
	recipe
	opts    readers.Options
	columns readers.Projection
}

func (p fakeParser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	switch p.fail {
	case "limit":
		return readers.Summary{}, &readers.LimitError{What: "row 3 of " + src.Name, Flag: "--max-depth", Limit: 1024}
	case "slow":
		<-ctx.Done()
		return readers.Summary{}, ctx.Err()
	case "internal":
		return readers.Summary{}, errors.New("the cat sat on the keyboard")
	}
	batch := req.Limits.WithDefaults().BatchRows
	for first := 0; first == 0 || first < p.rows; first += batch {
		if err := ctx.Err(); err != nil {
			return readers.Summary{}, err
		}
		c, err := p.chunk(first, min(first+batch, p.rows))
		if err != nil {
			return readers.Summary{}, err
		}
		if err := emit(readers.Chunk{Columns: c, Span: readers.Span{To: -1, Row: int64(first)}}); err != nil {
			return readers.Summary{}, err
		}
	}
	return readers.Summary{
		CRS: geoarrow.CRS84, BytesRead: src.Size, UnclosedRings: 3, Foreign: map[string]int64{"bbox": 1},
		Skipped: readers.SkippedRows{Count: 2, First: []int64{10, 20}}, IgnoredOrdinates: 5,
	}, nil
}

func (p fakeParser) chunk(from, to int) (*geoarrow.Columns, error) {
	n := to - from
	numbers := geoarrow.Column{
		Name: "n", Type: arrow.PrimitiveTypes.Int32,
		Facts: geoarrow.Facts{Kinds: geoarrow.FactInt32},
	}
	texts := geoarrow.Column{
		Name: "s", Type: arrow.BinaryTypes.String,
		Facts: geoarrow.Facts{Kinds: geoarrow.FactString}, Offsets: make([]int32, 1, n+1),
	}
	var g geoarrow.GeometryBuilder
	g.Reset()
	for row := from; row < to; row++ {
		numbers.Values = binary.LittleEndian.AppendUint32(numbers.Values, uint32(row))
		size := p.pad
		if row == 2 && p.wide > 0 {
			size = p.wide
		}
		texts.Values = append(texts.Values, bytes.Repeat([]byte(p.opts.Get("letter")), size)...)
		texts.Offsets = append(texts.Offsets, int32(len(texts.Values)))
		g.X, g.Y = append(g.X, float64(row)), append(g.Y, -float64(row))
		g.End(geoarrow.Point)
	}
	geometry, err := g.Finish()
	c := &geoarrow.Columns{Rows: n, Attributes: []geoarrow.Column{numbers, texts}, Geometry: geometry}
	p.project(c)
	return c, err
}

// project removes the columns that were not requested.
func (p fakeParser) project(c *geoarrow.Columns) {
	for i := range c.Attributes {
		if id := c.Attributes[i].ID(); !p.columns.Has(id) {
			c.Attributes[i] = geoarrow.Unread(id)
		}
	}
	if !p.columns.Geometry() {
		c.Geometry = geoarrow.NullGeometry(c.Rows, geoarrow.NoKind, geoarrow.XY)
	}
}

// fixture is a running server over a folder.
type fixture struct {
	dir     string
	cache   string // "": none
	catalog *catalog.Catalog
	addr    string
	client  flight.Client
	server  *Server
}

// serve starts a server over files, name to text, and stops it at the end of the test.
func serve(t testing.TB, files map[string]string, change ...func(*Config)) *fixture {
	t.Helper()
	return serveCatalog(t, files, catalog.Config{}, change...)
}

// serveCatalog is serve with a configuration of the catalog in addition to its folder and formats.
func serveCatalog(t testing.TB, files map[string]string, of catalog.Config, change ...func(*Config)) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir(), cache: of.CacheDir}
	for name, text := range files {
		f.write(t, name, text)
	}
	var err error
	if of.Roots == nil {
		of.Roots = []catalog.Root{{Dir: f.dir}}
	}
	if of.Formats == nil {
		of.Formats = readers.Registry{fakeFormat(), layeredFormat()}
	}
	f.catalog, err = catalog.Open(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Catalog: f.catalog, Listen: []string{"127.0.0.1:0"}}
	for _, c := range change {
		c(&cfg)
	}
	f.server, err = New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(ctx) }()
	f.addr = f.server.Addrs()[0]
	f.client = dial(t, f.addr)
	t.Cleanup(func() {
		_ = f.client.Close()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := f.catalog.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func dial(t testing.TB, addr string) flight.Client {
	t.Helper()
	c, err := flight.NewClientWithMiddleware(addr, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (f *fixture) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// got is what a DoGet gave.
type getAnswer struct {
	schema  *arrow.Schema
	header  []byte // data_header of the schema message
	numbers []int32
	rows    int64
	sizes   []int // of the batches' messages, bytes of header and body
	batches []int64
	cols    int64
}

// get reads a whole stream, both through Arrow's reader and as messages.
func (f *fixture) get(t testing.TB, ticket string) (*getAnswer, error) {
	t.Helper()
	stream, err := f.client.DoGet(t.Context(), &flight.Ticket{Ticket: []byte(ticket)})
	if err != nil {
		return nil, err
	}
	g := &getAnswer{}
	tap := &tap{FlightService_DoGetClient: stream, g: g}
	r, err := flight.NewRecordReader(tap)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	g.schema = r.Schema()
	for r.Next() {
		rec := r.Record()
		g.rows += rec.NumRows()
		g.batches = append(g.batches, rec.NumRows())
		g.cols = rec.NumCols()
		if i := rec.Schema().FieldIndices("n"); len(i) > 0 {
			g.numbers = append(g.numbers, int32s(rec.Column(i[0]))...)
		}
	}
	return g, r.Err()
}

type tap struct {
	flight.FlightService_DoGetClient
	g *getAnswer
}

func (r *tap) Recv() (*flight.FlightData, error) {
	d, err := r.FlightService_DoGetClient.Recv()
	switch {
	case err != nil:
	case r.g.header == nil:
		r.g.header = d.DataHeader
	default:
		r.g.sizes = append(r.g.sizes, len(d.DataHeader)+len(d.DataBody))
	}
	return d, err
}

func (f *fixture) info(t testing.TB, d *flight.FlightDescriptor) *flight.FlightInfo {
	t.Helper()
	info, err := f.client.GetFlightInfo(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func pathOf(parts ...string) *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: parts}
}

func cmdOf(text string) *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(text)}
}

// wantStatus checks code and words of an error of a call.
func wantStatus(t testing.TB, err error, code codes.Code, words ...string) {
	t.Helper()
	if status.Code(err) != code {
		t.Fatalf("got %v, want %v", err, code)
	}
	for _, w := range words {
		if !strings.Contains(status.Convert(err).Message(), w) {
			t.Errorf("%q does not hold %q", status.Convert(err).Message(), w)
		}
	}
}

// withHeader returns a context whose calls have a header.
func withHeader(ctx context.Context, name, value string) context.Context {
	if value == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, name, value)
}

// headerOf returns a header of a call that the server has received.
func headerOf(ctx context.Context, name string) string {
	md, _ := metadata.FromIncomingContext(ctx)
	return strings.Join(md.Get(name), ",")
}

// entries returns the entries of a format; "" is any.
func entries(c *catalog.Catalog, format string) []*catalog.Entry {
	return slices.Collect(c.Entries(context.Background(), "", format))
}
