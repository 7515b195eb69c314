package export

import (
	"encoding/json"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// geoParquet writes Parquet, with the metadata of GeoParquet 1.1 if a column is a geometry. Each
// record is a row group.
type geoParquet struct {
	*pqarrow.FileWriter
	schema *arrow.Schema
	facts  []geometryFacts // of each column
}

// NewParquet writes GeoParquet, with the compression Zstd or NoCompression.
func NewParquet(out io.Writer, schema *arrow.Schema, compression ticket.Compression) (Writer, error) {
	if err := distinctNames(schema, "parquet"); err != nil {
		return nil, err
	}
	codec := compress.Codecs.Uncompressed
	if compression == ticket.Zstd {
		codec = compress.Codecs.Zstd
	}
	hidden := struct{ io.Writer }{out} // the writer would close a file
	w, err := pqarrow.NewFileWriter(schema, hidden, parquet.NewWriterProperties(parquet.WithCompression(codec)),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	return &geoParquet{w, schema, make([]geometryFacts, len(schema.Fields()))}, nil
}

func (w *geoParquet) Write(rec arrow.Record) error {
	for c, f := range w.schema.Fields() {
		if !isWKB(f) {
			continue
		}
		for i := range int(rec.NumRows()) {
			t, ok, err := treeAt(rec.Column(c), i)
			if err != nil {
				return err
			}
			if ok {
				w.facts[c].add(&t)
			}
		}
	}
	return w.FileWriter.Write(rec)
}

func (w *geoParquet) Close() error {
	geo, err := geoMetadata(w.schema, w.facts)
	if err == nil && geo != "" {
		err = w.AppendKeyValueMetadata("geo", geo)
	}
	if err != nil {
		return err
	}
	return w.FileWriter.Close()
}

// geoColumn is GeoParquet's metadata of a geometry column.
type geoColumn struct {
	Encoding      string          `json:"encoding"`
	GeometryTypes []string        `json:"geometry_types"` // empty: not stated
	CRS           json.RawMessage `json:"crs"`            // PROJJSON; null: unknown
	BBox          []float64       `json:"bbox,omitempty"`
}

// geoMetadata is the value of the key "geo"; empty without a geometry column. GeoParquet supports
// only PROJJSON: a system that is not PROJJSON and not registered is null there,
// and stays in the file as Arrow's metadata of the column.
func geoMetadata(schema *arrow.Schema, facts []geometryFacts) (string, error) {
	columns := map[string]geoColumn{}
	primary := ""
	for i, f := range schema.Fields() {
		if !isWKB(f) {
			continue
		}
		if primary == "" {
			primary = f.Name
		}
		c := geoColumn{Encoding: "WKB", GeometryTypes: facts[i].geometryTypes(), CRS: json.RawMessage("null")}
		if _, definition := crsOf(f); definition != nil {
			c.CRS = definition
		}
		if facts[i].bound > 0 && facts[i].dim() == geoarrow.XY { // otherwise it would need Z
			c.BBox = facts[i].box[:]
		}
		columns[f.Name] = c
	}
	if primary == "" {
		return "", nil
	}
	text, err := json.Marshal(map[string]any{"version": "1.1.0", "primary_column": primary, "columns": columns})
	return string(text), err
}

// geometryTypes are the types in GeoParquet's names; none if one has M, for which it has no name.
func (f *geometryFacts) geometryTypes() []string {
	types := []string{}
	for k, seen := range f.kinds {
		kind := geoarrow.RowKind(k)
		switch {
		case !seen:
		case kind.Dim()&geoarrow.HasM != 0:
			return []string{}
		case kind.Dim() == geoarrow.XYZ:
			types = append(types, kind.Kind().String()+" Z")
		default:
			types = append(types, kind.Kind().String())
		}
	}
	return types
}
