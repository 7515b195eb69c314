package flightsrv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
)

// gpuEngines has the CPU engine of GeoJSON say that devices help it.
type gpuEngines struct{}

func (gpuEngines) For(string, int64) readers.Engine { return gpuEngines{} }
func (gpuEngines) Stats() (s catalog.EngineStats)   { return s }
func (gpuEngines) Close() error                     { return nil }
func (gpuEngines) Counts() (c readers.EngineCounts) { return c }

func (gpuEngines) Parser(l readers.Layout) readers.Parser {
	f, _ := all.Formats().ByName("geojson")
	return gpuParser{f.CPU(l)}
}

type gpuParser struct{ readers.Parser }

func (gpuParser) Engine() string { return "cuda" }

// TestFirstBatch reads a table that the cache has lost, whose first batch comes before all others:
// they wait until it is sent, or for a moment if it is not requested.
func TestFirstBatch(t *testing.T) {
	const rows = 3000
	var text strings.Builder
	text.WriteString(`{"type":"FeatureCollection","features":[`)
	for i := range rows {
		fmt.Fprintf(&text, `%s{"type":"Feature","geometry":{"type":"Point","coordinates":[%d.5,1]},"properties":{"n":%d}}`, strings.Repeat(",", min(i, 1)), i%90, i)
	}
	text.WriteString(`]}`)
	cache, data := t.TempDir(), t.TempDir()
	open := func(t *testing.T) *fixture {
		return serveCatalog(t, nil, catalog.Config{
			Roots: []catalog.Root{{Dir: data}}, CacheDir: cache, Formats: all.Formats(), Engines: gpuEngines{},
			Limits: readers.Limits{BatchRows: 700, Workers: 3, PartBytes: 4 << 10},
		})
	}
	if err := os.WriteFile(filepath.Join(data, "a.geojson"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ticket   string
		from, to int
	}{
		{`a.geojson`, 0, rows},
		{`{"name":"a.geojson","rows":[0,700]}`, 0, 700},
		{`{"name":"a.geojson","rows":[1400,3000]}`, 1400, 3000}, // does not request the first batch
	} {
		t.Run("the cache is filled", func(t *testing.T) {
			f := open(t)
			h, err := f.catalog.Table(t.Context(), catalog.Request{Name: "a.geojson"})
			if err != nil {
				t.Fatal(err)
			}
			h.Release()
			f.catalog.Saved(t.Context())
		})
		tables, err := filepath.Glob(filepath.Join(cache, "tables", "*"))
		if err != nil || len(tables) == 0 {
			t.Fatalf("tables %q, %v", tables, err)
		}
		for _, path := range tables {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(tt.ticket, func(t *testing.T) {
			f := open(t)
			table := f.whole(t, tt.ticket)
			defer table.Release()
			at := tt.from
			for _, chunk := range table.Column(table.Schema().FieldIndices("n")[0]).Data().Chunks() {
				for _, v := range chunk.(*array.Int32).Int32Values() {
					if int(v) != at {
						t.Fatalf("row %d is %d", at, v)
					}
					at++
				}
			}
			if at != tt.to {
				t.Errorf("rows up to %d, want %d", at, tt.to)
			}
			if s := f.catalog.Stats(); s.Misses != 1 || s.Cache.Loads != 0 {
				t.Errorf("%d parses were begun and %d tables opened, want one and none", s.Misses, s.Cache.Loads)
			}
		})
	}
}
