package flightsrv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

func int32s(a arrow.Array) []int32 { return a.(*array.Int32).Int32Values() }

// sameMessage reports whether an encapsulated message (ff ff ff ff, length, message, padding) holds
// just header.
func sameMessage(encapsulated, header []byte) bool {
	m, ok := bytes.CutPrefix(encapsulated[8:], header)
	return ok && len(m) < 8 && len(encapsulated)%8 == 0
}

func TestListFlights(t *testing.T) {
	f := serve(t, map[string]string{
		"a.fake": "rows=3", "sub/b.fake": "rows=4", "sub/c.fake": "nonsense",
		"{x}.fake": "rows=1", "d.other": "",
	})
	if _, err := f.get(t, "sub/b.fake"); err != nil {
		t.Fatal(err)
	}
	list := func(criteria string) ([]*flight.FlightInfo, error) {
		stream, err := f.client.ListFlights(t.Context(), &flight.Criteria{Expression: []byte(criteria)})
		if err != nil {
			return nil, err
		}
		var infos []*flight.FlightInfo
		for {
			info, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return infos, nil
			}
			if err != nil {
				return nil, err
			}
			infos = append(infos, info)
		}
	}
	infos, err := list("")
	if err != nil || len(infos) != 4 {
		t.Fatalf("got %v, %v", infos, err)
	}
	for _, info := range infos {
		name := info.FlightDescriptor.Path[0]
		if len(info.Endpoint) != 1 {
			t.Errorf("%s: %d endpoints", name, len(info.Endpoint))
		}
		ticket, err := ticket.Parse(info.Endpoint[0].Ticket.Ticket)
		if err != nil || ticket.Name != name {
			t.Errorf("%s: ticket %q, %v", name, info.Endpoint[0].Ticket.Ticket, err)
		}
		if name == "sub/b.fake" {
			if len(info.Schema) == 0 || info.TotalRecords != 4 || info.TotalBytes <= 0 || ticket.Version == "" {
				t.Errorf("%s: parsed, but %v", name, info)
			}
			continue
		}
		if len(info.Schema) != 0 || info.TotalRecords != -1 || info.TotalBytes != -1 {
			t.Errorf("%s: not parsed, but %v", name, info)
		}
	}
	if n := f.catalog.Stats().Parses; n != 1 {
		t.Errorf("%d parses, want 1", n)
	}
	for criteria, want := range map[string]int{
		`{"prefix":"sub/"}`: 2, `{"format":"fake"}`: 4,
		`{"format":"none"}`: 0, `{"prefix":"a","format":"fake"}`: 1, "{}": 4,
	} {
		if infos, err := list(criteria); err != nil || len(infos) != want {
			t.Errorf("%s: %d infos, %v", criteria, len(infos), err)
		}
	}
	for criteria, field := range map[string]string{
		`{"suffix":"x"}`: "suffix", `{"prefix":1}`: "prefix",
		"sub/": "criteria", `{"prefix":"a","prefix":"b"}`: "prefix",
	} {
		_, err := list(criteria)
		wantStatus(t, err, codes.InvalidArgument, field)
	}
}

func TestGetFlightInfo(t *testing.T) {
	f := serve(t, map[string]string{"sub/b.fake": "rows=1000 pad=7"})
	whole := f.info(t, pathOf("sub/b.fake"))
	if whole.TotalRecords != 1000 || whole.TotalBytes <= 1000*(4+7+16) || !whole.Ordered {
		t.Errorf("got %v", whole)
	}
	for _, c := range []struct {
		name  string
		d     *flight.FlightDescriptor
		rows  int64
		bytes int64 // 0: any; -2: as the whole
	}{
		{"components", pathOf("sub", "b.fake"), 1000, -2},
		{"name as command", cmdOf("sub/b.fake"), 1000, -2},
		{"object", cmdOf(`{"name":"sub/b.fake"}`), 1000, -2},
		{"all columns", cmdOf(`{"name":"sub/b.fake","columns":["geometry","s","n"]}`), 1000, -2},
		{"one column", cmdOf(`{"name":"sub/b.fake","columns":["n"]}`), 1000, 4000},
		{"limit", cmdOf(`{"name":"sub/b.fake","limit":10}`), 10, -1},
		{"no row", cmdOf(`{"name":"sub/b.fake","limit":0}`), 0, -1},
		{"limit beyond", cmdOf(`{"name":"sub/b.fake","limit":5000}`), 1000, -2},
		{"bbox", cmdOf(`{"name":"sub/b.fake","bbox":[3,-100,5,0]}`), 3, -1},
		{"bbox elsewhere", cmdOf(`{"name":"sub/b.fake","bbox":[-9,-9,-8,-8]}`), 0, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := f.info(t, c.d)
			if c.bytes == -2 {
				c.bytes = whole.TotalBytes
			}
			if info.TotalRecords != c.rows || c.bytes != 0 && info.TotalBytes != c.bytes {
				t.Errorf("got %d rows, %d bytes; want %d, %d", info.TotalRecords, info.TotalBytes, c.rows, c.bytes)
			}
			if len(info.Endpoint) != 1 || len(info.Endpoint[0].Location) != 0 {
				t.Fatalf("endpoints %v", info.Endpoint)
			}
			g, err := f.get(t, string(info.Endpoint[0].Ticket.Ticket))
			if err != nil || g.rows != c.rows {
				t.Errorf("DoGet of its ticket gives %d rows, %v", g.rows, err)
			}
			if !sameMessage(info.Schema, g.header) {
				t.Error("its schema is not that of DoGet")
			}
		})
	}
	var meta map[string]any
	if err := json.Unmarshal(f.info(t, pathOf("sub/b.fake")).AppMetadata, &meta); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"format": "fake", "crs": "OGC:CRS84", "bytes_read": 15.0, "cached": true, "ignored_ordinates": 5.0,
		"skipped": map[string]any{"count": 2.0, "first": []any{10.0, 20.0}},
	}
	for k, v := range want {
		if fmt.Sprint(meta[k]) != fmt.Sprint(v) {
			t.Errorf("app_metadata %s: got %v, want %v", k, meta[k], v)
		}
	}
	for _, k := range []string{"engine", "bbox", "geometry_types", "parse_seconds"} {
		if _, ok := meta[k]; !ok {
			t.Errorf("app_metadata has no %s", k)
		}
	}
	for _, k := range []string{"rounded_integers", "replaced_characters"} {
		if _, ok := meta[k]; ok {
			t.Errorf("app_metadata has %s, which is zero", k)
		}
	}
}

func TestGetSchemaIsThatOfDoGet(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10", "empty.fake": "rows=0"})
	for _, text := range []string{
		"a.fake", "empty.fake", `{"name":"a.fake","columns":["geometry"]}`,
		`{"name":"a.fake","geometry_encoding":"wkb"}`,
		`{"name":"a.fake","geometry_encoding":"wkt","limit":0}`,
		`{"name":"a.fake","coords":"interleaved","compression":"zstd"}`,
	} {
		s, err := f.client.GetSchema(t.Context(), cmdOf(text))
		if err != nil {
			t.Fatal(err)
		}
		g, err := f.get(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if !sameMessage(s.Schema, g.header) {
			t.Errorf("%s: the schemas differ", text)
		}
		decoded, err := flight.DeserializeSchema(s.Schema, nil)
		if err != nil || !decoded.Equal(g.schema) || len(decoded.Fields()) == 0 {
			t.Errorf("%s: got %v, %v; want %v", text, decoded, err, g.schema)
		}
		if i := decoded.FieldIndices("geometry"); !decoded.Field(i[0]).HasMetadata() {
			t.Errorf("%s: geometry without metadata", text)
		}
	}
}

func TestPollFlightInfo(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"})
	poll, err := f.client.PollFlightInfo(t.Context(), pathOf("a.fake"))
	if err != nil || poll.FlightDescriptor != nil || poll.GetProgress() != 1 || poll.Info.TotalRecords != 10 {
		t.Errorf("got %v, %v", poll, err)
	}
}

func TestDoGet(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=70000", "empty.fake": "rows=0"})
	for _, c := range []struct {
		name, ticket string
		first        int32
		rows, cols   int64
		batches      int
	}{
		{"name", "a.fake", 0, 70000, 3, 2},
		{"columns", `{"name":"a.fake","columns":["geometry","n"]}`, 0, 70000, 2, 2},
		{"rows", `{"name":"a.fake","rows":[65530,65540]}`, 65530, 10, 3, 2},
		{"rows beyond the end", `{"name":"a.fake","rows":[69999,99999999]}`, 69999, 1, 3, 1},
		{"rows wholly beyond", `{"name":"a.fake","rows":[99999998,99999999]}`, 0, 0, 0, 0},
		{"limit", `{"name":"a.fake","limit":65537}`, 0, 65537, 3, 2},
		{"limit 0", `{"name":"a.fake","limit":0}`, 0, 0, 0, 0},
		{"rows, bbox, limit", `{"name":"a.fake","rows":[10,100],"bbox":[5,-1000,1000,0],"limit":5}`, 10, 5, 3, 1},
		{"lz4", `{"name":"a.fake","compression":"lz4"}`, 0, 70000, 3, 2},
		{"zstd", `{"name":"a.fake","compression":"zstd"}`, 0, 70000, 3, 2},
		{"empty", "empty.fake", 0, 0, 0, 0},
		{"option", `{"name":"a.fake","options":{"letter":"y"}}`, 0, 70000, 3, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := f.get(t, c.ticket)
			if err != nil {
				t.Fatal(err)
			}
			if g.rows != c.rows || g.cols != c.cols || len(g.batches) != c.batches || c.rows > 0 &&
				g.numbers[0] != c.first {
				t.Errorf("got %d rows, %d columns, batches %v", g.rows, g.cols, g.batches)
			}
			if g.schema == nil || g.schema.NumFields() == 0 {
				t.Error("no schema")
			}
			for i, n := range g.numbers {
				if n != c.first+int32(i) {
					t.Fatalf("row %d is %d", i, n)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	f := serve(t, map[string]string{
		"florida.fake": "rows=10", "bad.fake": "rows=1 cols=2", "limit.fake": "fail=limit",
		"internal.fake": "fail=internal",
	})
	for _, c := range []struct {
		name, ticket string
		code         codes.Code
		words        []string
	}{
		{"no entry", "floridda.fake", codes.NotFound, []string{"floridda.fake", "florida.fake"}},
		{"escape", "../florida.fake", codes.NotFound, nil},
		{"malformed", "bad.fake", codes.InvalidArgument, []string{"bad.fake", "fake", "byte 7", "line 1", "cols"}},
		{"bad ticket", `{"name":"florida.fake","where":1}`, codes.InvalidArgument, []string{"ticket", "where"}},
		{
			"unknown column", `{"name":"florida.fake","columns":["geomtry"]}`, codes.InvalidArgument,
			[]string{"geomtry", "geometry"},
		},
		{
			"unknown option", `{"name":"florida.fake","options":{"delimiter":";"}}`, codes.InvalidArgument,
			[]string{"options.delimiter"},
		},
		{
			"version", `{"name":"florida.fake","version":"old"}`, codes.FailedPrecondition,
			[]string{"florida.fake", "old"},
		},
		{"limit", "limit.fake", codes.ResourceExhausted, []string{"--max-depth", "1024"}},
		{"internal", "internal.fake", codes.Internal, []string{"cat"}},
		{"long", strings.Repeat("é", 20000), codes.NotFound, []string{"…"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.get(t, c.ticket)
			wantStatus(t, err, c.code, c.words...)
		})
	}
	_, err := f.client.GetFlightInfo(t.Context(), cmdOf(`{"name":"florida.fake","rows":[0,1]}`))
	wantStatus(t, err, codes.InvalidArgument, "rows")
}

func TestChangedBetweenInfoAndGet(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"})
	old := string(f.info(t, pathOf("a.fake")).Endpoint[0].Ticket.Ticket)
	if g, err := f.get(t, old); err != nil || g.rows != 10 {
		t.Fatal(err)
	}
	f.write(t, "a.fake", "rows=100")
	parsed, err := ticket.Parse([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.get(t, old)
	now, _ := ticket.Parse(f.info(t, pathOf("a.fake")).Endpoint[0].Ticket.Ticket)
	wantStatus(t, err, codes.FailedPrecondition, "a.fake", parsed.Version, now.Version)
}

func TestEndpoints(t *testing.T) {
	f := serve(t, map[string]string{"big.fake": "rows=600000", "wide.fake": "rows=65537 pad=2000"}, func(c *Config) {
		c.Advertise = []string{"data.example:8815", "grpc+tls://b.example:1"}
	})
	for _, c := range []struct {
		name, command string
		rows          int64
		endpoints     int
	}{
		{"rows", "big.fake", 600000, 3},
		{"bytes, on batch bounds", "wide.fake", 65537, 2},
		{"limit", `{"name":"big.fake","limit":500000}`, 500000, 1},
		{"narrow bbox", `{"name":"big.fake","bbox":[0,-9,9,0]}`, 10, 1},
		{
			"bbox", `{"name":"big.fake","bbox":[0,-299999,299999,0],"geometry_encoding":"wkb","compression":"lz4"}`,
			300000, 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := f.info(t, cmdOf(c.command))
			if len(info.Endpoint) != c.endpoints || info.TotalRecords != c.rows || !info.Ordered {
				t.Fatalf("got %d endpoints, %d rows", len(info.Endpoint), info.TotalRecords)
			}
			var all []int32
			next := int64(0)
			for _, e := range info.Endpoint {
				if len(e.Location) != 2 || e.Location[0].Uri != "grpc+tcp://data.example:8815" ||
					e.Location[1].Uri != "grpc+tls://b.example:1" {
					t.Errorf("locations %v", e.Location)
				}
				ticket, err := ticket.Parse(e.Ticket.Ticket)
				if err != nil || ticket.Version == "" {
					t.Fatalf("%q: %v", e.Ticket.Ticket, err)
				}
				if c.endpoints > 1 {
					if ticket.Rows[0] != next || ticket.Rows[0]%65536 != 0 {
						t.Errorf("range %v", *ticket.Rows)
					}
					next = ticket.Rows[1]
				}
				g, err := f.get(t, string(e.Ticket.Ticket))
				if err != nil {
					t.Fatal(err)
				}
				var about metadata.Endpoint
				if err := json.Unmarshal(e.AppMetadata, &about); err != nil || about.Rows != int64(len(g.numbers)) {
					t.Errorf("app_metadata %s, %v for %d rows", e.AppMetadata, err, len(g.numbers))
				}
				if !boxFits(about.BBox, g.numbers, !strings.HasPrefix(c.command, "{")) {
					t.Errorf("app_metadata %s for rows %v", e.AppMetadata, g.numbers)
				}
				all = append(all, g.numbers...)
			}
			if int64(len(all)) != c.rows || !slices.IsSorted(all) || all[0] != 0 || int64(all[len(all)-1]) != c.rows-1 {
				t.Errorf("together %d rows", len(all))
			}
		})
	}
}

// boxFits reports whether a box contains the rows of a file, row i of which is a point at (i, -i).
// With exact, the box must have nothing else.
func boxFits(box *[4]float64, rows []int32, exact bool) bool {
	if box == nil || len(rows) == 0 {
		return box == nil && len(rows) == 0
	}
	first, last := float64(rows[0]), float64(rows[len(rows)-1])
	if exact {
		return *box == [4]float64{first, -last, last, -first}
	}
	return box[0] <= first && box[1] <= -last && box[2] >= last && box[3] >= -first
}

func TestMessagesStayUnder15MiB(t *testing.T) {
	f := serve(t, map[string]string{
		"pad.fake": "rows=65536 pad=1000", "wide.fake": "rows=100 wide=20000000",
		"wider.fake": "rows=10 wide=40000000",
	},
		func(c *Config) { c.MaxMessageBytes = 32 << 20 })
	g, err := f.get(t, "pad.fake")
	if err != nil {
		t.Fatal(err)
	}
	if want := []int64{8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192}; !slices.Equal(g.batches, want) ||
		slices.Max(g.sizes) >= frame.MaxMessageBytes {
		t.Errorf("batches %v of %v bytes", g.batches, g.sizes)
	}
	packed, err := f.get(t, `{"name":"pad.fake","compression":"zstd"}`)
	if err != nil || !slices.Equal(packed.batches, g.batches) || slices.Max(packed.sizes) > slices.Max(g.sizes)/10 {
		t.Errorf("zstd: batches %v of %v bytes, %v", packed.batches, packed.sizes, err)
	}
	g, err = f.get(t, "wide.fake")
	if err != nil {
		t.Fatal(err)
	}
	for i, size := range g.sizes {
		if size >= frame.MaxMessageBytes && g.batches[i] != 1 {
			t.Errorf("%d rows in a message of %d bytes", g.batches[i], size)
		}
	}
	if g.rows != 100 || slices.Max(g.sizes) < 20000000 {
		t.Errorf("%d rows, messages of %v bytes", g.rows, g.sizes)
	}
	for _, c := range []struct{ ticket, row string }{
		{"wider.fake", "row 2 of wider.fake"},
		{`{"name":"wider.fake","rows":[1,5]}`, "row 2 of wider.fake"},
		{`{"name":"wider.fake","bbox":[1,-9,9,0]}`, "row 1 of those"},
	} {
		_, err = f.get(t, c.ticket)
		wantStatus(t, err, codes.ResourceExhausted, c.row, "--max-message-bytes", "33554432")
	}
}

func TestActions(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10", "b/c.fake": "rows=1"})
	types, err := f.client.ListActions(t.Context(), &flight.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for a, err := types.Recv(); err == nil; a, err = types.Recv() {
		names = append(names, a.Type)
	}
	if want := []string{
		"refresh", "evict", "describe", "share", "share-device", "stats", "queries", "sessions", "kill", "drain",
		"CancelFlightInfo", "RenewFlightEndpoint",
	}; !slices.Equal(names, want) {
		t.Errorf("ListActions %v, want %v", names, want)
	}
	do := func(action, body string) (map[string]any, error) {
		stream, err := f.client.DoAction(t.Context(), &flight.Action{Type: action, Body: []byte(body)})
		if err != nil {
			return nil, err
		}
		res, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		var v map[string]any
		return v, json.Unmarshal(res.Body, &v)
	}
	for _, c := range []struct{ action, body, key, want string }{
		{"describe", "a.fake", "rows", "10"},
		{"describe", `{"name":"a.fake","options":{"letter":"z"}}`, "columns", "map[name:n nullable:true type:int32]"},
		{"describe", "a.fake", "unclosed_rings", "3"},
		{"describe", "a.fake", "positions", "10"},
		{"describe", "a.fake", "foreign_members", "map[bbox:1]"},
		{"describe", "a.fake", "crs", "OGC:CRS84"},
		{"describe", "a.fake", "cached", "true"},
		{"describe", "a.fake", "name", "a.fake"},
		{"evict", "a.fake", "evicted", "2"},
		{"evict", `{"name":"a.fake"}`, "evicted", "0"},
		{"refresh", "", "entries", "2"},
		{"refresh", "{}", "entries", "2"},
		{"stats", "", "entries", "2"},
	} {
		v, err := do(c.action, c.body)
		if err != nil || !strings.Contains(fmt.Sprint(v[c.key]), c.want) {
			t.Errorf("%s %q: got %v, %v; want %s %s", c.action, c.body, v, err, c.key, c.want)
		}
	}
	for _, c := range []struct {
		action, body string
		code         codes.Code
		words        string
	}{
		{"drop", "", codes.Unimplemented, "describe"},
		{"CancelFlightInfo", "", codes.InvalidArgument, "CancelFlightInfo"},
		{"CancelFlightInfo", "\xff", codes.InvalidArgument, "CancelFlightInfoRequest"},
		{"RenewFlightEndpoint", "{}", codes.InvalidArgument, "RenewFlightEndpoint"},
		{"CancelQuery", "", codes.Unimplemented, "SQL"},
		{"", "", codes.Unimplemented, "unknown"},
		{"describe", "", codes.InvalidArgument, "name"},
		{"describe", "none.fake", codes.NotFound, "none.fake"},
		{"describe", `{"name":"a.fake","bbox":[0,0,1,1]}`, codes.InvalidArgument, "bbox"},
		{"evict", `{"name":"a.fake","options":{}}`, codes.InvalidArgument, "options"},
		{"evict", "none.fake", codes.NotFound, "none.fake"},
		{"stats", "x", codes.InvalidArgument, "action stats"},
		{"refresh", `{"x":1}`, codes.InvalidArgument, "x"},
	} {
		_, err := do(c.action, c.body)
		wantStatus(t, err, c.code, c.words)
	}
}
