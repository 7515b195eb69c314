package flightsrv

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/catalog"
)

// TestProjectedAnswersAreThoseOfTheWholeTable asks a server without a cache, which parses only the
// columns of a command, and one with a cache, which parses all, and wants the same answers.
func TestProjectedAnswersAreThoseOfTheWholeTable(t *testing.T) {
	files := map[string]string{"a.fake": "rows=300000 pad=3"}
	whole := serveCatalog(t, files, catalog.Config{CacheDir: t.TempDir()})
	for _, rest := range []string{
		`"columns": ["n"]`,
		`"columns": ["s", "n"], "limit": 70000`,
		`"columns": ["geometry"], "geometry_encoding": "wkb"`,
		`"columns": ["n"], "bbox": [10, -70000, 70000, -20]`,
	} {
		projected := serveCatalog(t, files, catalog.Config{})
		command := cmdOf(`{"name": "a.fake", ` + rest + `}`)
		want, have := whole.info(t, command), projected.info(t, command)
		if !bytes.Equal(want.Schema, have.Schema) || want.TotalRecords != have.TotalRecords ||
			want.TotalBytes != have.TotalBytes || len(want.Endpoint) != len(have.Endpoint) {
			t.Errorf("%s\ngot:  %d rows, %d bytes, %d endpoints\nwant: %d rows, %d bytes, %d endpoints, or another "+
				"schema", rest, have.TotalRecords, have.TotalBytes,
				len(have.Endpoint), want.TotalRecords, want.TotalBytes, len(want.Endpoint))
		}
		if got, want := lasting(t, have), lasting(t, want); got != want {
			t.Errorf("%s\ngot app_metadata:  %s\nwant: %s", rest, got, want)
		}
		schema, err := projected.client.GetSchema(t.Context(), command)
		if err != nil || !bytes.Equal(schema.Schema, want.Schema) {
			t.Errorf("%s: another schema from GetSchema, or %v", rest, err)
		}
		for i := range have.Endpoint {
			a, err := projected.get(t, string(have.Endpoint[i].Ticket.Ticket))
			if err != nil {
				t.Fatal(err)
			}
			b, err := whole.get(t, string(want.Endpoint[i].Ticket.Ticket))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.header, b.header) || a.rows != b.rows || !slices.Equal(a.numbers, b.numbers) ||
				!slices.Equal(a.sizes, b.sizes) {
				t.Errorf("%s, endpoint %d: %d rows in messages of %d bytes, want %d in %d", rest, i,
					a.rows, a.sizes, b.rows, b.sizes)
			}
		}
		if n := projected.catalog.Stats().Parses; n != 1 {
			t.Errorf("%s: %d parses", rest, n)
		}
	}
}

// lasting is the app_metadata that does not depend on when and how the file was parsed.
func lasting(t *testing.T, info *flight.FlightInfo) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(info.AppMetadata, &all); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(all, func(key string, _ any) bool { return key == "parse_seconds" || key == "cached" })
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestProjectedTableIsNotTheEntry says that what is parsed for some columns does not describe the
// entry.
func TestProjectedTableIsNotTheEntry(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=3 pad=3"})
	if _, err := f.get(t, `{"name": "a.fake", "columns": ["n"]}`); err != nil {
		t.Fatal(err)
	}
	stream, err := f.client.ListFlights(t.Context(), &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := stream.Recv(); err != nil || len(info.Schema) > 0 || info.TotalRecords != -1 {
		t.Errorf("%v, %v: the entry is listed as parsed", info, err)
	}
	_, err = f.get(t, `{"name": "a.fake", "columns": ["n", "geometri"]}`)
	wantStatus(t, err, codes.InvalidArgument, "geometri", `"geometry"`)
	g, err := f.get(t, `a.fake`)
	if err != nil || g.cols != 3 {
		t.Errorf("%+v, %v: want three columns", g, err)
	}
	for _, field := range g.schema.Fields() {
		if field.Type.Name() == "null" {
			t.Errorf("column %s has no values", field.Name)
		}
	}
}
