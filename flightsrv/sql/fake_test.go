package sql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/readers"
)

// fake is an engine that runs recipes instead of SQL: words such as "rows=3 pad=10 params=2
// fail=next". The columns are n (int64, the row's number), s (text) and a column for each
// parameter. It counts what is open.
type fake struct {
	statements, rows atomic.Int64
	schemas          chan string // the default schema of each Prepare, where a test reads it
	gate             chan struct{}
}

type recipe struct {
	rows, pad, params int
	fail, block       string
}

func (f *fake) Prepare(ctx context.Context, query, schema string) (sql.Statement, error) {
	var r recipe
	for _, word := range strings.Fields(query) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "rows", "pad", "params":
			to := map[string]*int{"rows": &r.rows, "pad": &r.pad, "params": &r.params}[key]
			if _, err := fmt.Sscan(value, to); err != nil {
				return nil, err
			}
		case "fail":
			r.fail = value
		case "block":
			r.block = value
		default:
			return nil, &engine.Error{
				Kind: duck.Syntax, Message: fmt.Sprintf("syntax error at or near %q", word),
				Position: strings.Index(query, word),
			}
		}
	}
	if f.schemas != nil {
		f.schemas <- schema
	}
	switch {
	case r.block == "prepare":
		select {
		case <-f.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case r.fail == "prepare":
		panic("the cat sat on the keyboard")
	case r.fail == "name":
		return nil, &catalog.NotFoundError{Name: "florida", Closest: []string{"florida.geojson"}}
	}
	f.statements.Add(1)
	return &fakeStatement{fake: f, recipe: r}, nil
}

func (f *fake) Tables(context.Context) []engine.Table {
	return []engine.Table{
		{Schema: "counties", Name: "florida.geojson", Entry: "counties/florida.geojson"},
		{Schema: "counties", Name: "my_file%.csv", Entry: "counties/my_file%25.csv"},
		{Schema: "main", Name: "a.csv", Entry: "a.csv"},
		{Schema: "main", Name: "broken.geojson", Entry: "broken.geojson"},
	}
}

func (f *fake) TableSchema(_ context.Context, t engine.Table) (*arrow.Schema, error) {
	if t.Name == "broken.geojson" {
		return nil, &readers.ParseError{
			Name: t.Entry, Format: "geojson", Offset: 17, Line: 1, Row: -1,
			Err: errors.New("unexpected }"),
		}
	}
	wkb := arrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata"},
		[]string{"geoarrow.wkb", `{"crs":"EPSG:4326"}`})
	return arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}, Nullable: true},
		{Name: "geometry", Type: arrow.BinaryTypes.Binary, Nullable: true, Metadata: wkb},
	}, nil), nil
}

func (f *fake) Info() engine.Info {
	return engine.Info{
		Version: "v1.5.5", Keywords: []string{"SELECT", "WITH"}, Numeric: []string{"abs"}, String: []string{"upper"},
		DateTime: []string{"age"},
		System:   []string{"version"},
	}
}

func (f *fake) Stats() engine.Stats { return engine.Stats{Statements: int(f.statements.Load())} }

type fakeStatement struct {
	fake *fake
	recipe
}

func (s *fakeStatement) Schema() *arrow.Schema { return s.schema(nil) }

func (s *fakeStatement) schema(args arrow.Record) *arrow.Schema {
	fields := []arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}
	for i := range s.params {
		f := arrow.Field{Name: fmt.Sprintf("p%d", i+1), Type: arrow.Null, Nullable: true}
		if args != nil {
			f.Type = args.Column(i).DataType()
		}
		fields = append(fields, f)
	}
	return arrow.NewSchema(fields, nil)
}

// Parameters says what it wants of the first parameter alone: a number.
func (s *fakeStatement) Parameters() *arrow.Schema {
	var fields []arrow.Field
	for i := range s.params {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i + 1), Type: arrow.Null, Nullable: true})
	}
	if s.params > 0 {
		fields[0].Type = arrow.PrimitiveTypes.Int64
	}
	return arrow.NewSchema(fields, nil)
}

func (s *fakeStatement) Query(_ context.Context, args arrow.Record, row int) (sql.Rows, error) {
	switch s.fail {
	case "query":
		return nil, &engine.Error{Kind: duck.Value, Message: "Could not convert string 'x' to INT32"}
	case "changed":
		return nil, &catalog.ChangedError{Name: "a.csv", Want: "v1", Have: "v2"}
	case "memory":
		return nil, &engine.Error{Kind: duck.Memory, Message: "could not allocate block"}
	}
	if args != nil {
		args.Retain()
	}
	s.fake.rows.Add(1)
	return &fakeRows{fakeStatement: s, args: args, arg: row}, nil
}

func (s *fakeStatement) Authorize(context.Context) error { return nil }

func (s *fakeStatement) Close() { s.fake.statements.Add(-1) }

type fakeRows struct {
	*fakeStatement
	args arrow.Record
	arg  int
	next int
}

func (r *fakeRows) Schema() *arrow.Schema {
	if r.fail == "schema" {
		return arrow.NewSchema([]arrow.Field{{Name: "other", Type: arrow.PrimitiveTypes.Int64}}, nil)
	}
	return r.schema(r.args)
}

func (r *fakeRows) Next(ctx context.Context) (arrow.Record, error) {
	if r.next > 0 {
		switch {
		case r.fail == "next":
			return nil, &engine.Error{Kind: duck.Value, Message: "Overflow in addition"}
		case r.fail == "panic":
			panic("the cat sat on the keyboard")
		case r.block == "next":
			<-ctx.Done()
			return nil, &engine.Error{Kind: duck.Interrupted, Message: "Interrupted!"}
		}
	}
	if r.next >= r.recipe.rows {
		return nil, io.EOF
	}
	if r.block == "stubborn" { // until the gate opens, whatever the context says
		<-r.fake.gate
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, r.Schema())
	defer b.Release()
	for end := min(r.next+1000, r.recipe.rows); r.next < end; r.next++ {
		b.Field(0).(*array.Int64Builder).Append(int64(r.next))
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat("x", r.pad))
		for i := range r.params {
			if err := b.Field(2 + i).AppendValueFromString(r.args.Column(i).ValueStr(r.arg)); err != nil {
				return nil, err
			}
		}
	}
	return b.NewRecord(), nil
}

func (r *fakeRows) Retain() func() { return nil }

func (r *fakeRows) Close() {
	if r.args != nil {
		r.args.Release()
	}
	r.fake.rows.Add(-1)
}

// fixture is a running server on an engine, and a client of it.
type fixture struct {
	addr   string
	client *flightsql.Client
	fake   *fake // nil where the engine is real
}

func serveFake(t testing.TB) *fixture {
	t.Helper()
	f := &fake{gate: make(chan struct{})}
	fix := serve(t, openCatalog(t, t.TempDir(), nil), f)
	fix.fake = f
	return fix
}

func openCatalog(t testing.TB, dir string, formats readers.Registry) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), catalog.Config{Roots: []catalog.Root{{Dir: dir}}, Formats: formats})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// serve starts a server, and stops it at the end of the test.
func serve(t testing.TB, c *catalog.Catalog, e sql.Engine) *fixture {
	t.Helper()
	server, err := flightsrv.New(flightsrv.Config{Catalog: c, SQL: e, Listen: []string{"127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	f := &fixture{addr: server.Addrs()[0]}
	f.client = dial(t, f.addr)
	t.Cleanup(func() {
		_ = f.client.Close()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return f
}

func dial(t testing.TB, addr string, middleware ...flight.ClientMiddleware) *flightsql.Client {
	t.Helper()
	c, err := flightsql.NewClient(addr, nil, middleware, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fetch reads the one endpoint of info. The caller releases the records.
func (f *fixture) fetch(t testing.TB, info *flight.FlightInfo) ([]arrow.Record, error) {
	t.Helper()
	if len(info.GetEndpoint()) != 1 {
		t.Fatalf("%d endpoints", len(info.GetEndpoint()))
	}
	r, err := f.client.DoGet(t.Context(), info.Endpoint[0].Ticket)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	announced, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	if !announced.Equal(r.Schema()) {
		t.Errorf("announced %v, sent %v", announced, r.Schema())
	}
	var out []arrow.Record
	for r.Next() {
		rec := r.Record()
		rec.Retain()
		out = append(out, rec)
	}
	return out, r.Err()
}

// rowCount counts, and releases.
func rowCount(recs []arrow.Record) (n int64) {
	for _, rec := range recs {
		n += rec.NumRows()
		rec.Release()
	}
	return n
}

// column returns a column of the records as texts, and releases them.
func column(recs []arrow.Record, i int) (out []string) {
	for _, rec := range recs {
		for row := range int(rec.NumRows()) {
			out = append(out, rec.Column(i).ValueStr(row))
		}
		rec.Release()
	}
	return out
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
