package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func isParquet(path string) bool { return strings.EqualFold(filepath.Ext(path), ".parquet") }

// newParquet writes Parquet with the file's metadata of GeoParquet 1.1 where a column is a geometry: a row group a record.
func newParquet(file *os.File, schema *arrow.Schema, packed flightsrv.Compression) (recordWriter, error) {
	if err := distinctNames(schema, "parquet"); err != nil {
		return nil, err
	}
	codec := compress.Codecs.Uncompressed
	if packed == flightsrv.Zstd {
		codec = compress.Codecs.Zstd
	}
	hidden := struct{ io.Writer }{file} // the writer would close a file
	w, err := pqarrow.NewFileWriter(schema, hidden, parquet.NewWriterProperties(parquet.WithCompression(codec)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	geo, err := geoMetadata(schema)
	if err == nil && geo != "" {
		err = w.AppendKeyValueMetadata("geo", geo)
	}
	return w, err
}

// geoColumn is what GeoParquet says of a geometry column.
type geoColumn struct {
	Encoding      string          `json:"encoding"`
	GeometryTypes []string        `json:"geometry_types"` // empty: not known, since the rows are still to come
	CRS           json.RawMessage `json:"crs"`            // PROJJSON; null: not known
}

// geoMetadata is the value of the key "geo", empty where no column is a geometry.
func geoMetadata(schema *arrow.Schema) (string, error) {
	columns := map[string]geoColumn{}
	primary := ""
	for _, f := range schema.Fields() {
		if !isWKB(f) {
			continue
		}
		if primary == "" {
			primary = f.Name
		}
		columns[f.Name] = geoColumn{Encoding: "WKB", GeometryTypes: []string{}, CRS: projJSON(metadata(f, extensionMetadata))}
	}
	if primary == "" {
		return "", nil
	}
	text, err := json.Marshal(map[string]any{"version": "1.1.0", "primary_column": primary, "columns": columns})
	return string(text), err
}

// projJSON is the reference system that GeoArrow's metadata of a column name. GeoParquet knows PROJJSON alone: what is none and names no registered system is
// null there, and stays in the file as Arrow's own metadata of the column.
func projJSON(text string) json.RawMessage {
	var said struct {
		CRS json.RawMessage `json:"crs"`
	}
	unknown := json.RawMessage("null")
	if json.Unmarshal([]byte(text), &said) != nil || len(said.CRS) == 0 {
		return unknown
	}
	if said.CRS[0] == '{' {
		return said.CRS
	}
	var name string
	if json.Unmarshal(said.CRS, &name) != nil {
		return unknown
	}
	crs, ok := geoarrow.ParseCRS(name)
	if !ok {
		return unknown
	}
	if definition, ok := crs.PROJJSON(); ok {
		return definition
	}
	return unknown
}
