package sql

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"

	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/uploads"
)

func TestLike(t *testing.T) {
	for _, c := range []struct {
		name, pattern, text string
		want                bool
	}{
		{"same", "a.csv", "a.csv", true},
		{"shorter", "a.csv", "a.cs", false},
		{"longer", "a.csv", "a.csvx", false},
		{"case", "A.csv", "a.csv", false},
		{"nothing", "", "", true},
		{"nothing of something", "", "a", false},
		{"percent of nothing", "%", "", true},
		{"percents", "%%", "abc", true},
		{"percent in the middle", "a%c", "abbc", true},
		{"percent takes the last", "a%bc", "abcbc", true},
		{"two percents", "%a%b", "xxaxxbxxb", true},
		{"two percents, none", "%a%b", "xxaxxbxx", false},
		{"underscore", "_._", "a.b", true},
		{"underscore is one", "_", "", false},
		{"underscore is a character", "_x", "éx", true},
		{"percent of characters", "%é", "ééé", true},
		{"escaped percent", `a\%`, "a%", true},
		{"escaped percent is no pattern", `a\%`, "ab", false},
		{"escaped underscore", `a\_b`, "a_b", true},
		{"escaped underscore is no pattern", `a\_b`, "axb", false},
		{"escaped backslash", `a\\b`, `a\b`, true},
		{"escaped letter", `\a`, "a", true},
		{"backslash at the end", `a\`, `a\`, true},
		{"escaped percent after a percent", `%\%`, "50%", true},
		{"long", strings.Repeat("%a", 500) + "b", strings.Repeat("a", 5000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := like(c.pattern, c.text); got != c.want {
				t.Errorf("%q like %q: got %v", c.text, c.pattern, got)
			}
		})
	}
}

func TestName(t *testing.T) {
	query, err := pack(&pb.CommandStatementQuery{Query: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, b, want string
	}{
		{"command", string(query), "CommandStatementQuery"},
		{"nothing", "", ""},
		{"name", "florida.geojson", ""},
		{"object", `{"name":"a"}`, ""},
		{"name that begins with a tag", "\x0aflorida", ""},
		{"other message", "\x0a\x2ctype.googleapis.com/google.protobuf.Duration", ""},
		{
			"other prefix", "\x0a\x3bexample.com/arrow.flight.protocol.sql.CommandStatementQuery",
			"CommandStatementQuery",
		},
		{"value in front", "\x12\x00" + string(query[:len(query)-12]), "CommandStatementQuery"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Name([]byte(c.b)); got != c.want {
				t.Errorf("%q: got %q, want %q", c.b, got, c.want)
			}
		})
	}
}

func TestTypeNames(t *testing.T) {
	geometry := arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"geoarrow.wkb"})
	for _, c := range []struct {
		want string
		f    arrow.Field
	}{
		{"GEOMETRY", arrow.Field{Type: arrow.BinaryTypes.Binary, Metadata: geometry}},
		{"BLOB", arrow.Field{Type: arrow.BinaryTypes.Binary}},
		{"VARCHAR[]", arrow.Field{Type: arrow.ListOf(arrow.BinaryTypes.String)}},
		{"DOUBLE[2]", arrow.Field{Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)}},
		{`STRUCT("a" INTEGER, "b" DATE[])`, arrow.Field{Type: arrow.StructOf(
			arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{
				Name: "b",
				Type: arrow.ListOf(arrow.FixedWidthTypes.Date32),
			})}},
		{"MAP(VARCHAR, BIGINT)", arrow.Field{Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)}},
		{"TIMESTAMP", arrow.Field{Type: &arrow.TimestampType{Unit: arrow.Microsecond}}},
		{"TIMESTAMP_S", arrow.Field{Type: &arrow.TimestampType{Unit: arrow.Second}}},
		{"TIMESTAMP_NS", arrow.Field{Type: &arrow.TimestampType{Unit: arrow.Nanosecond}}},
		{"TIMESTAMP WITH TIME ZONE", arrow.Field{Type: arrow.FixedWidthTypes.Timestamp_us}},
		{"DECIMAL(38,10)", arrow.Field{Type: &arrow.Decimal128Type{Precision: 38, Scale: 10}}},
		{"TIME", arrow.Field{Type: arrow.FixedWidthTypes.Time64us}},
	} {
		if got := engine.TypeName(c.f); got != c.want {
			t.Errorf("%v: got %s, want %s", c.f.Type, got, c.want)
		}
	}
}

// still is an engine whose statements count that they are closed.
type still struct {
	Engine
	open int
}

func (e *still) Prepare(context.Context, string, string) (Statement, error) {
	e.open++
	return &stillStatement{engine: e}, nil
}

func (e *still) Tables(context.Context) []engine.Table {
	return []engine.Table{{Schema: "a", Name: "b"}}
}

func (e *still) TableSchema(context.Context, engine.Table) (*arrow.Schema, error) {
	return arrow.NewSchema(nil, nil), nil
}

func (e *still) Info() engine.Info { return engine.Info{} }

type stillStatement struct {
	Statement
	engine *still
}

func (s *stillStatement) Schema() *arrow.Schema           { return arrow.NewSchema(nil, nil) }
func (s *stillStatement) Parameters() *arrow.Schema       { return arrow.NewSchema(nil, nil) }
func (s *stillStatement) Authorize(context.Context) error { return nil }
func (s *stillStatement) Close()                          { s.engine.open-- }

func descriptor(t *testing.T) *flight.FlightDescriptor {
	t.Helper()
	b, err := pack(&pb.CommandStatementQuery{Query: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: b}
}

func TestHandlesExpire(t *testing.T) {
	e := &still{}
	s := New(e, false)
	defer s.Close()
	if _, err := s.Info(t.Context(), descriptor(t)); err != nil {
		t.Fatal(err)
	}
	body, err := pack(&pb.ActionCreatePreparedStatementRequest{Query: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Action(t.Context(), "CreatePreparedStatement", body); err != nil {
		t.Fatal(err)
	}
	if _, err := s.setSchema(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, c := range []struct {
		after                       time.Duration
		results, prepared, sessions int
	}{
		{resultIdle - time.Minute, 1, 1, 1},
		{resultIdle + time.Minute, 0, 1, 1},
		{preparedIdle - time.Minute, 0, 1, 1},
		{preparedIdle + time.Minute, 0, 0, 0},
	} {
		s.expire(now.Add(c.after))
		if len(s.results) != c.results || len(s.prepared) != c.prepared || len(s.sessions) != c.sessions ||
			e.open != c.results+c.prepared {
			t.Errorf("after %v: %d results, %d prepared, %d sessions, %d statements; want %+v",
				c.after, len(s.results), len(s.prepared), len(s.sessions), e.open, c)
		}
	}
}

func TestCloseEndsEverything(t *testing.T) {
	e := &still{}
	s := New(e, false)
	info, err := s.Info(t.Context(), descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Info(t.Context(), descriptor(t)); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Get(t.Context(), info.Endpoint[0].Ticket.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := rows.Next(); err == nil {
		t.Error("rows go on after Close")
	}
	rows.Close()
	if e.open != 0 || len(s.results) != 0 {
		t.Errorf("%d statements are open, %d results", e.open, len(s.results))
	}
	if _, err := s.Info(t.Context(), descriptor(t)); err == nil {
		t.Error("a closed server takes queries")
	}
	if e.open != 0 {
		t.Errorf("%d statements are open", e.open)
	}
}

// emptyUpload is an upload without messages.
type emptyUpload struct{}

func (emptyUpload) Recv() (*flight.FlightData, error) { return nil, io.EOF }

// FuzzCommands returns bytes to everything that reads them. Nothing may panic, and what is no
// Flight SQL is an error.
func FuzzCommands(f *testing.F) {
	query, err := pack(&pb.CommandStatementQuery{Query: "SELECT 1"})
	if err != nil {
		f.Fatal(err)
	}
	pattern := "%"
	tables, err := pack(&pb.CommandGetTables{TableNameFilterPattern: &pattern})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{
		query, tables, nil, []byte("a.csv"), []byte("\x0a\x7fshort"),
		[]byte(`{"name":"a"}`),
	} {
		f.Add(seed)
	}
	s := New(&still{}, false)
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, b []byte) {
		ctx := t.Context()
		d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: b}
		_, infoErr := s.Info(ctx, d)
		_, schemaErr := s.Schema(ctx, d)
		if Name(b) == "" && (infoErr == nil || schemaErr == nil) {
			t.Errorf("%q is no command", b)
		}
		if r, err := s.Get(ctx, b); err == nil {
			r.Close()
		}
		// it needs a handle, which no bytes have
		_, _ = s.Put(ctx, &flight.FlightData{FlightDescriptor: d, DataHeader: b, DataBody: b}, emptyUpload{})
		_, _ = checkMessage(&uploads.Checker{Rules: parameterRules}, &flight.FlightData{DataHeader: b, DataBody: b})
		for _, a := range actions() {
			_, _ = s.Action(ctx, a.name, b)
		}
		s.expire(time.Now().Add(2 * preparedIdle))
	})
}

// TestFactsOfIngestion says that tables can be stored where they can.
func TestFactsOfIngestion(t *testing.T) {
	for _, writable := range []bool{false, true} {
		f := sqlInfoValues(engine.Info{}, writable)
		if f[pb.SqlInfo_FLIGHT_SQL_SERVER_BULK_INGESTION] != writable ||
			f[pb.SqlInfo_FLIGHT_SQL_SERVER_READ_ONLY] != !writable {
			t.Errorf("writable %v: %v", writable, f)
		}
	}
}
