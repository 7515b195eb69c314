package flightsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
)

// points is a FeatureCollection of n points with an attribute.
func points(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"FeatureCollection","features":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"n":%d,"s":"row %d"},"geometry":{"type":"Point","coordinates":[%d,2.5]}}`, i, i, i%180)
	}
	b.WriteString("]}")
	return b.String()
}

const layers = `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<Folder><name>Stops</name><Placemark><name>a</name><Point><coordinates>1,2</coordinates></Point></Placemark></Folder>
<Folder><name>Tracks</name><Placemark><name>b</name><LineString><coordinates>1,2 3,4</coordinates></LineString></Placemark>
<Placemark><name>c</name><LineString><coordinates>1,2 3,5</coordinates></LineString></Placemark></Folder></Document></kml>`

// serveAll serves files of all formats.
func serveAll(t testing.TB, files map[string]string, change ...func(*Config)) *fixture {
	t.Helper()
	return serveCatalog(t, files, catalog.Config{Formats: all.Formats()}, change...)
}

// TestExchangeIsAParse has the parse of a file that is sent told to a caller that wants to know of
// parses.
func TestExchangeIsAParse(t *testing.T) {
	var begun, ended atomic.Int64
	f := serveCatalog(t, nil, catalog.Config{Formats: all.Formats(), Parsing: func() func() {
		begun.Add(1)
		return func() { ended.Add(1) }
	}})
	if _, err := f.exchange(t, `{"format": "csv"}`, "a,b\n1,2\n", 4); err != nil {
		t.Fatal(err)
	}
	if begun.Load() != 1 || ended.Load() != 1 {
		t.Errorf("%d parses were told, %d ended", begun.Load(), ended.Load())
	}
}

// exchanged is what a DoExchange gave.
type exchangeAnswer struct {
	table arrow.Table
	facts map[string]any
}

// exchange sends a file in pieces, and takes what comes when all is sent.
func (f *fixture) exchange(t testing.TB, command, file string, piece int) (*exchangeAnswer, error) {
	t.Helper()
	stream, err := f.client.DoExchange(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	send(stream, command, arrow.BinaryTypes.Binary, file, piece)
	_ = stream.CloseSend()
	return answerOf(stream)
}

// send sends a command and a file. An error shows when the answer is read.
func send(stream flight.FlightService_DoExchangeClient, command string, as arrow.DataType, file string, piece int) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "bytes", Type: as}}, nil)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	w.SetFlightDescriptor(cmdOf(command))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for rest := file; ; rest = rest[min(piece, len(rest)):] {
		switch c := b.Field(0).(type) {
		case *array.BinaryBuilder:
			c.Append([]byte(rest[:min(piece, len(rest))]))
			c.Append(nil)
		case *array.StringBuilder:
			c.Append(rest[:min(piece, len(rest))])
		}
		rec := b.NewRecord()
		err := w.Write(rec)
		rec.Release()
		if err != nil || len(rest) <= piece {
			return
		}
	}
}

func answerOf(stream flight.FlightService_DoExchangeClient) (*exchangeAnswer, error) {
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var recs []arrow.Record
	x := &exchangeAnswer{}
	for r.Next() {
		rec := r.Record()
		rec.Retain()
		recs = append(recs, rec)
		if b := r.LatestAppMetadata(); b != nil {
			if err := json.Unmarshal(b, &x.facts); err != nil {
				return nil, err
			}
		}
	}
	x.table = array.NewTableFromRecords(r.Schema(), recs)
	return x, r.Err()
}

// whole reads a table by DoGet.
func (f *fixture) whole(t testing.TB, ticket string) arrow.Table {
	t.Helper()
	stream, err := f.client.DoGet(t.Context(), &flight.Ticket{Ticket: []byte(ticket)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var recs []arrow.Record
	for r.Next() {
		rec := r.Record()
		rec.Retain()
		recs = append(recs, rec)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return array.NewTableFromRecords(r.Schema(), recs)
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExchange(t *testing.T) {
	text := points(70_000)
	f := serveAll(t, map[string]string{
		"p.geojson": text, "l.kml": layers,
		"e.geojson": `{"type":"FeatureCollection","features":[]}`,
	})
	given, err := f.exchange(t, `{"format":"geojson"}`, text, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := json.Marshal(given.facts["shape"])
	if err != nil {
		t.Fatal(err)
	}
	sized := fmt.Sprintf(`"size":%d`, len(text))
	tests := []struct{ name, command, file, ticket string }{
		{"whole", `{"format":"geojson"}`, text, `p.geojson`},
		{"with its size", `{"format":"geojson",` + sized + `}`, text, `p.geojson`},
		{"with a shape", `{"format":"geojson","shape":` + string(shape) + `}`, text, `p.geojson`},
		{"with both", `{"format":"geojson",` + sized + `,"shape":` + string(shape) + `}`, text, `p.geojson`},
		{"by its name", `{"name":"x/p.geojson"}`, text, `p.geojson`},
		{"gzip", `{"format":"geojson"}`, gzipped(t, text), `p.geojson`},
		{"gzip, with a shape", `{"name":"p.geojson.gz","shape":` + string(shape) + `}`, gzipped(t, text), `p.geojson`},
		{"columns", `{"format":"geojson","columns":["s"]}`, text, `{"name":"p.geojson","columns":["s"]}`},
		{"bbox", `{"format":"geojson","bbox":[5,0,6,9]}`, text, `{"name":"p.geojson","bbox":[5,0,6,9]}`},
		{
			"bbox, with a shape", `{"format":"geojson","bbox":[5,0,6,9],"columns":["n"],"shape":` + string(shape) + `}`,
			text, `{"name":"p.geojson","bbox":[5,0,6,9],"columns":["n"]}`,
		},
		{"limit", `{"format":"geojson","limit":66000}`, text, `{"name":"p.geojson","limit":66000}`},
		{
			"limit, with a shape", `{"format":"geojson","limit":66000,"shape":` + string(shape) + `}`, text,
			`{"name":"p.geojson","limit":66000}`,
		},
		{"limit 0", `{"format":"geojson","limit":0}`, text, `{"name":"p.geojson","limit":0}`},
		{
			"wkt", `{"format":"geojson","geometry_encoding":"wkt"}`, text,
			`{"name":"p.geojson","geometry_encoding":"wkt"}`,
		},
		{
			"interleaved, lz4", `{"format":"geojson","coords":"interleaved","compression":"lz4"}`, text,
			`{"name":"p.geojson","coords":"interleaved"}`,
		},
		{"no rows", `{"format":"geojson"}`, `{"type":"FeatureCollection","features":[]}`, `e.geojson`},
		{"first layer", `{"format":"kml"}`, layers, `l.kml`},
		{"second layer", `{"format":"kml","layer":"Tracks"}`, layers, `l.kml#Tracks`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.exchange(t, tt.command, tt.file, 300_000)
			if err != nil {
				t.Fatal(err)
			}
			want := f.whole(t, tt.ticket)
			if !got.table.Schema().Equal(want.Schema()) || !array.TableEqual(got.table, want) {
				t.Errorf("got %d rows of %v\nwant %d rows of %v", got.table.NumRows(), got.table.Schema(),
					want.NumRows(), want.Schema())
			}
			if rows, ok := got.facts["rows"].(float64); !ok || int64(rows) != want.NumRows() {
				t.Errorf("facts %v", got.facts)
			}
		})
	}
	if names := entries(f.catalog, ""); len(names) != 4 { // the layers of one file are two
		t.Errorf("%d entries", len(names))
	}
	if s := f.catalog.Stats(); s.HeldTables != 0 || s.Tables > 5 {
		t.Errorf("stats %+v", s)
	}
}

// TestExchangeWhileItComes takes rows before the last byte is sent, by a shape that is known.
func TestExchangeWhileItComes(t *testing.T) {
	f := serveAll(t, nil)
	text := points(500_000)
	given, err := f.exchange(t, `{"format":"geojson"}`, points(10), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := json.Marshal(given.facts["shape"])
	if err != nil {
		t.Fatal(err)
	}
	stream, err := f.client.DoExchange(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	command := fmt.Sprintf(`{"format":"geojson","size":%d,"shape":%s}`, len(text), shape)
	send(stream, command, arrow.BinaryTypes.Binary, text[:len(text)/4*3], 1<<20)
	messages := 0
	for ; messages < 2; messages++ { // the schema and the first batch
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExchangeErrors(t *testing.T) {
	f := serveAll(t, nil, func(c *Config) { c.MaxExchangeBytes = 1 << 20 })
	given, err := f.exchange(t, `{"format":"geojson"}`, points(10), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := json.Marshal(given.facts["shape"])
	if err != nil {
		t.Fatal(err)
	}
	text := points(5)
	tests := []struct {
		name, command, file string
		code                codes.Code
		words               []string
	}{
		{"no format", `{}`, text, codes.InvalidArgument, []string{`"format"`, "missing"}},
		{
			"unknown format", `{"format":"geojsn"}`, text, codes.InvalidArgument,
			[]string{`"format"`, "geojsn", "geojson"},
		},
		{"unknown field", `{"form":"geojson"}`, text, codes.InvalidArgument, []string{`"form"`, "unknown"}},
		{"rows", `{"format":"geojson","rows":[0,1]}`, text, codes.InvalidArgument, []string{`"rows"`}},
		{"no JSON", `geojson`, text, codes.InvalidArgument, []string{"JSON"}},
		{"layer", `{"format":"geojson","layer":"a"}`, text, codes.NotFound, []string{`"a"`, "no such layer", "none"}},
		{
			"option", `{"format":"geojson","options":{"delimiter":";"}}`, text, codes.InvalidArgument,
			[]string{"delimiter"},
		},
		{
			"no such layer", `{"format":"kml","layer":"Stop"}`, layers, codes.NotFound,
			[]string{"Stop", "Stops", "Tracks"},
		},
		{"column", `{"format":"geojson","columns":["m"]}`, text, codes.InvalidArgument, []string{`"m"`, `"n"`}},
		{
			"file", `{"format":"geojson"}`, text[:100], codes.InvalidArgument,
			[]string{"exchange: geojson: byte 100, line 1"},
		},
		{
			"file with a name", `{"name":"a.geojson"}`, text[:100], codes.InvalidArgument,
			[]string{"a.geojson: geojson: byte 100, line 1"},
		},
		{
			"packed file", `{"format":"geojson"}`, gzipped(t, text)[:50], codes.InvalidArgument,
			[]string{"exchange.gz: gzip: byte 50", "cut off"},
		},
		{
			"packed binary file", `{"format":"dbf"}`, gzipped(t, text), codes.InvalidArgument,
			[]string{"exchange.gz", "dbf", "gzip"},
		},
		{
			"too few bytes", fmt.Sprintf(`{"format":"geojson","size":%d}`, len(text)+1), text, codes.InvalidArgument,
			[]string{`"size"`, fmt.Sprint(len(text))},
		},
		{
			"too many bytes", fmt.Sprintf(`{"format":"geojson","size":%d}`, len(text)-1), text, codes.InvalidArgument,
			[]string{`"size"`, "more"},
		},
		{
			"too large", `{"format":"geojson"}`, points(20_000), codes.ResourceExhausted,
			[]string{"--max-exchange-bytes", "1048576"},
		},
		{
			"shape", `{"format":"geojson","shape":{"ids":[{"Name":"a"}]}}`, text, codes.InvalidArgument,
			[]string{`"shape"`},
		},
		{
			"another type", `{"format":"geojson","shape":` + string(shape) + `}`,
			strings.Replace(text, `"n":3`, `"n":3.5`, 1), codes.InvalidArgument,
			[]string{
				`column "n"`,
				"float64", "int32",
			},
		},
		{
			"another column", `{"format":"geojson","shape":` + string(shape) + `}`,
			strings.Replace(text, `"n":3`, `"m":3`, 1), codes.InvalidArgument,
			[]string{`column "m"`},
		},
		{
			"another kind", `{"format":"geojson","shape":` + string(shape) + `}`,
			strings.Replace(text, `[3,2.5]`, `[3,2.5,1]`, 1), codes.InvalidArgument,
			[]string{"Point Z", "Point"},
		},
		{
			"another reference system", `{"format":"geojson","shape":` + string(shape) + `}`, text[:len(text)-1] +
				`,"crs":{"type":"name","properties":{"name":"EPSG:3857"}}}`, codes.InvalidArgument,
			[]string{"EPSG:3857", "OGC:CRS84"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.exchange(t, tt.command, tt.file, 100_000)
			wantStatus(t, err, tt.code, tt.words...)
		})
	}
	t.Run("another type of column", func(t *testing.T) {
		stream, err := f.client.DoExchange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		send(stream, `{"format":"geojson"}`, arrow.BinaryTypes.String, text, 100)
		_, err = answerOf(stream)
		wantStatus(t, err, codes.InvalidArgument, "binary")
	})
	t.Run("a path", func(t *testing.T) {
		stream, err := f.client.DoExchange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(&flight.FlightData{FlightDescriptor: pathOf("a.geojson")}); err != nil {
			t.Fatal(err)
		}
		_, err = stream.Recv()
		wantStatus(t, err, codes.InvalidArgument, "command")
	})
}

// TestExchangeTakesItsTime has clients that send nothing more, and one that reads nothing.
func TestExchangeTakesItsTime(t *testing.T) {
	begun := func(t *testing.T, f *fixture, text string) flight.FlightService_DoExchangeClient {
		t.Helper()
		stream, err := f.client.DoExchange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		send(stream, `{"format":"geojson"}`, arrow.BinaryTypes.Binary, text, 1<<20)
		return stream
	}
	t.Run("idle", func(t *testing.T) {
		f := serveAll(t, nil, func(c *Config) { c.uploadIdle = 50 * time.Millisecond })
		_, err := begun(t, f, points(5)).Recv()
		wantStatus(t, err, codes.DeadlineExceeded, "50ms", "done_writing")
	})
	t.Run("slow", func(t *testing.T) {
		f := serveAll(t, nil, func(c *Config) { c.ExchangeTimeout = 50 * time.Millisecond })
		_, err := begun(t, f, points(5)).Recv()
		wantStatus(t, err, codes.DeadlineExceeded, "--exchange-timeout", "50ms")
	})
	t.Run("unread", func(t *testing.T) {
		f := serveAll(t, nil, func(c *Config) { c.ExchangeTimeout = 2 * time.Second })
		stream := begun(t, f, points(150_000))
		_ = stream.CloseSend()
		eventually(t, "the table is given up", func() bool { return f.catalog.Stats().Sent == 0 })
		_, err := answerOf(stream)
		wantStatus(t, err, codes.DeadlineExceeded, "--exchange-timeout")
	})
}

// TestExchangesLeftLeaveNothing has clients leave in the middle: no goroutine, no file, no place in
// line may remain.
func TestExchangesLeftLeaveNothing(t *testing.T) {
	clients := 2000
	if testing.Short() {
		clients = 200
	}
	f := serveAll(t, nil)
	text := points(20_000)
	leaveExchanges(t, f, text, 20)
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	leaveExchanges(t, f, text, clients)
	eventually(t, "the exchanges are over", func() bool { return f.catalog.Stats().Sent == 0 })
	eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines+5 })
	eventually(t, "the files are closed", func() bool { return openFiles(t) <= files+5 })
	if x, err := f.exchange(t, `{"format":"geojson"}`, text, 1<<20); err != nil || x.table.NumRows() != 20_000 {
		t.Errorf("afterwards: %v", err)
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(open)
}

// leaveExchanges begins n exchanges, some at a time, and leaves each: while it sends, when all is
// sent, after the first answer, or by cutting the connection.
func leaveExchanges(t *testing.T, f *fixture, text string, n int) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			client := f.client
			if i%8 == 7 {
				client = dial(t, f.addr)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stream, err := client.DoExchange(ctx)
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			part := text
			if i%4 == 0 {
				part = text[:i%len(text)]
			}
			send(stream, fmt.Sprintf(`{"format":"geojson","size":%d}`, len(text)), arrow.BinaryTypes.Binary,
				part, 200_000)
			if i%4 > 1 {
				_ = stream.CloseSend()
			}
			if i%4 == 3 {
				_, err = stream.Recv()
			}
			if client != f.client {
				_ = client.Close()
				return
			}
			cancel()
			for err == nil {
				_, err = stream.Recv()
			}
			if c := status.Code(err); c != codes.Canceled && !errors.Is(err, io.EOF) {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// TestExchangeOfTooManyColumns: the file is refused at the first name too many, by the code of
// limits.
func TestExchangeOfTooManyColumns(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{`)
	for i := range readers.DefaultMaxColumns + 1 {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	at := strings.Index(b.String(), fmt.Sprintf(`"k%d"`, readers.DefaultMaxColumns))
	b.WriteString(`"z":1}}]}`)
	_, err := serveAll(t, nil).exchange(t, `{"format":"geojson"}`, b.String(), 64<<10)
	where := fmt.Sprintf("byte %d, line 1, feature 0", at)
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), where) ||
		!strings.Contains(err.Error(), "--max-columns") {
		t.Errorf("got %v, want ResourceExhausted at %s", err, where)
	}
}

// TestExchangeOfTooWideShape: a client says that a file has more columns than any may have.
func TestExchangeOfTooWideShape(t *testing.T) {
	f := serveCatalog(t, nil, catalog.Config{Formats: all.Formats(), Limits: readers.Limits{MaxColumns: 2}})
	const command = `{"format":"geojson","shape":{"ids":[{"Name":"a"},{"Name":"b"},{"Name":"c"}],"facts":[{"Kinds":2},{"Kinds":2},{"Kinds":2}],"starts":[0,0]}}`
	_, err := f.exchange(t, command, `{"type":"FeatureCollection","features":[]}`, 64<<10)
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "--max-columns") {
		t.Errorf("%v, want ResourceExhausted that names --max-columns", err)
	}
}
