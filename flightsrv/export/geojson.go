package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// geoJSON writes a FeatureCollection (RFC 7946), or a Feature per line (GeoJSONSeq).
type geoJSON struct {
	*Features
	w         *bufio.Writer
	text      []byte // of a feature
	separated bool   // by commas
	before    string // each Feature of a sequence
	rows      int64
}

// NewGeoJSON writes a FeatureCollection (RFC 7946).
func NewGeoJSON(out io.Writer, schema *arrow.Schema) (Writer, error) {
	g, err := newFeatureWriter(out, schema)
	if err != nil {
		return nil, err
	}
	crs, err := crsMember(schema, g.geometry)
	if err != nil {
		return nil, err
	}
	g.separated = true
	_, err = fmt.Fprintf(g.w, "{\"type\":\"FeatureCollection\",%s\"features\":[", crs)
	return g, err
}

// NewGeoJSONLines writes a Feature per line.
func NewGeoJSONLines(out io.Writer, schema *arrow.Schema) (Writer, error) {
	return newSequence(out, schema, "")
}

// NewGeoJSONTextSequence writes a Feature per line, after a record separator (RFC 8142).
func NewGeoJSONTextSequence(out io.Writer, schema *arrow.Schema) (Writer, error) {
	return newSequence(out, schema, "\x1e")
}

func newSequence(out io.Writer, schema *arrow.Schema, before string) (Writer, error) {
	g, err := newFeatureWriter(out, schema)
	g.before = before
	if err != nil || g.geometry < 0 {
		return g, err
	}
	switch crs, _ := crsOf(schema.Field(g.geometry)); crs.String() {
	case "", "OGC:CRS84", "EPSG:4326": // of which tables have the longitude first, as RFC 7946
		return g, nil
	default:
		return nil, fmt.Errorf("GeoJSONSeq has longitudes and latitudes of WGS 84 only, and this is %.100s; "+
			".geojson can name it", crs)
	}
}

func newFeatureWriter(out io.Writer, schema *arrow.Schema) (*geoJSON, error) {
	features, err := NewFeatures(schema)
	return &geoJSON{Features: features, w: bufio.NewWriterSize(out, bufferBytes)}, err
}

func (g *geoJSON) Write(rec arrow.Record) error {
	for i := range int(rec.NumRows()) {
		if err := g.feature(rec, i); err != nil {
			return fmt.Errorf("row %d: %w", g.rows, err)
		}
		if _, err := g.w.Write(g.text); err != nil {
			return err
		}
		g.rows++
	}
	return nil
}

// feature writes row i into text.
func (g *geoJSON) feature(rec arrow.Record, i int) (err error) {
	b := g.text[:0]
	if g.separated && g.rows > 0 {
		b = append(b, ',')
	}
	if g.separated {
		b = append(b, '\n')
	}
	b = append(b, g.before...)
	if b, err = g.Append(b, rec, i); err != nil {
		return err
	}
	if !g.separated {
		b = append(b, '\n')
	}
	g.text = b
	return nil
}

// Flush writes what is complete.
func (g *geoJSON) Flush() error { return g.w.Flush() }

func (g *geoJSON) Close() error {
	if g.separated {
		if _, err := g.w.WriteString("\n]}\n"); err != nil {
			return err
		}
	}
	return g.w.Flush()
}

// crsMember is the member "crs" of GeoJSON 2008, which RFC 7946 allows by prior arrangement: none
// for OGC:CRS84, null for an unknown system.
func crsMember(schema *arrow.Schema, geometry int) (string, error) {
	if geometry < 0 {
		return "", nil
	}
	crs, _ := crsOf(schema.Field(geometry))
	switch {
	case crs == geoarrow.CRS84:
		return "", nil
	case crs == geoarrow.CRS{}:
		return `"crs":null,`, nil
	case crs.Authority == "":
		return "", errors.New("GeoJSON can name a registered reference system only, and the table's has no name; " +
			".parquet, .fgb and .arrow keep it")
	}
	name := appendQuoted(nil, urn(crs))
	return fmt.Sprintf(`"crs":{"type":"name","properties":{"name":%s}},`, name), nil
}

// urn is the name of a registered system (OGC 07-092r3). A compound system without a code has the
// names of its parts.
func urn(crs geoarrow.CRS) string {
	code := "crs:" + crs.Authority + "::"
	if horizontal, vertical, ok := strings.Cut(crs.Code, "+"); ok {
		return "urn:ogc:def:crs," + code + horizontal + "," + code + vertical
	}
	return "urn:ogc:def:" + code + crs.Code
}
