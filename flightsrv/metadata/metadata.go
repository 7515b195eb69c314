// Package metadata is the JSON that describes tables: app_metadata of a FlightInfo, and the answer
// of the action describe. The server writes it, and the command line reads it.
package metadata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
)

// Table is app_metadata of a FlightInfo: the properties of a parsed file. They are those of the
// file as a whole, with one exception: if only the columns of a ticket were parsed, rounded
// integers and replaced characters are counted in these columns.
type Table struct {
	Format string  `json:"format"`
	Engine string  `json:"engine"`
	CRS    *string `json:"crs"` // null: none
	// the file's text of a CRS that PROJ could not read; clients get no CRS
	UnreadCRS     string      `json:"unread_crs,omitempty"`
	BBox          *[4]float64 `json:"bbox"`           // null: no position
	GeometryTypes []string    `json:"geometry_types"` // as GeoParquet has them
	BytesRead     int64       `json:"bytes_read"`
	ParseSeconds  float64     `json:"parse_seconds"`
	Cached        bool        `json:"cached"` // no parse was needed

	Skipped            *readers.SkippedRows `json:"skipped,omitempty"`
	Deviations         *readers.Deviations  `json:"deviations,omitempty"`
	RoundedIntegers    int64                `json:"rounded_integers,omitempty"`
	IgnoredOrdinates   int64                `json:"ignored_ordinates,omitempty"`
	ReplacedCharacters int64                `json:"replaced_characters,omitempty"`
}

// OfTable describes a parsed table. cached means that no parse was needed for it.
func OfTable(t *readers.Table, cached bool) Table {
	f := Table{
		Format: t.Format, Engine: t.Engine, BBox: Finite(t.BBox), GeometryTypes: t.GeometryTypes,
		BytesRead: t.Summary.BytesRead, ParseSeconds: t.ParseTime.Seconds(), Cached: cached,
		RoundedIntegers: t.RoundedIntegers, IgnoredOrdinates: t.Summary.IgnoredOrdinates,
		ReplacedCharacters: t.ReplacedCharacters,
	}
	if f.UnreadCRS = t.CRS.Unread(); f.UnreadCRS == "" && t.CRS.String() != "" {
		crs := t.CRS.String()
		f.CRS = &crs
	}
	if f.GeometryTypes == nil {
		f.GeometryTypes = []string{}
	}
	if t.Summary.Skipped.Count != 0 {
		f.Skipped = &t.Summary.Skipped
	}
	if !t.Summary.Deviations.IsEmpty() {
		f.Deviations = &t.Summary.Deviations
	}
	return f
}

// WithoutDetails returns the properties without those that quote values of the file.
func (f Table) WithoutDetails() Table {
	f.UnreadCRS = ""
	if f.Skipped != nil {
		f.Skipped = &readers.SkippedRows{Count: f.Skipped.Count, First: []int64{}}
	}
	if f.Deviations != nil {
		f.Deviations = &readers.Deviations{
			Count: f.Deviations.Count, Rules: f.Deviations.Rules, First: []readers.Deviation{},
		}
	}
	return f
}

// Finite returns the box, or nil if JSON can't encode it: WKT may hold Infinity.
func Finite(box *[4]float64) *[4]float64 {
	if box != nil {
		for _, v := range box {
			if math.IsInf(v, 0) || math.IsNaN(v) {
				return nil
			}
		}
	}
	return box
}

// Endpoint is app_metadata of an endpoint of a FlightInfo: what its ticket selects.
type Endpoint struct {
	Rows int64 `json:"rows"`
	// contains the geometries of these rows; nil: not known, or no position
	BBox *[4]float64 `json:"bbox,omitempty"`
}

// OfEndpoint describes an endpoint. A box that JSON can't encode is left out.
func OfEndpoint(rows int64, box *[4]float64) Endpoint { return Endpoint{rows, Finite(box)} }

// Entry is app_metadata of an entry that is not parsed yet.
type Entry struct {
	Format string `json:"format"`
	Cached bool   `json:"cached"`
}

// Description is the answer of the action describe.
type Description struct {
	Name      string    `json:"name"`
	Version   string    `json:"version,omitempty"` // empty for a file that no server serves
	FileBytes int64     `json:"file_bytes"`
	Modified  time.Time `json:"modified"`
	Identity  string    `json:"identity,omitempty"` // of a file in a store: what tells its versions apart
	Rows      int64     `json:"rows"`
	Bytes     int64     `json:"bytes"` // of the parsed table
	Columns   []Column  `json:"columns"`
	Table
	Positions     int64            `json:"positions"`
	UnclosedRings int64            `json:"unclosed_rings"`
	ShortRings    int64            `json:"short_rings"`
	ShortLines    int64            `json:"short_lines"`
	Layers        []string         `json:"layers,omitempty"` // of the file, in order of appearance
	Links         *readers.Links   `json:"links,omitempty"`  // to other files
	Foreign       map[string]int64 `json:"foreign_members"`
	Dataset       *Dataset         `json:"dataset,omitempty"` // nil for a file
}

// Dataset describes the files of a dataset.
type Dataset struct {
	Files   int           `json:"files"`             // without those that are left out
	Skipped int           `json:"skipped,omitempty"` // files that are left out
	First   []SkippedFile `json:"first,omitempty"`   // the first of those
}

// SkippedFile is a file that is left out of a dataset.
type SkippedFile struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Column is a field of the schema that DoGet sends.
type Column struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"` // Arrow's
	Nullable bool              `json:"nullable"`
	Metadata map[string]string `json:"metadata,omitempty"` // as ARROW:extension:name
}

// Describe describes a table and the schema that it is sent with. The caller adds what it knows of
// the file: name, version, size and time.
func Describe(t *readers.Table, schema *arrow.Schema, cached bool) Description {
	d := Description{
		Rows: t.Rows, Bytes: t.Bytes, Columns: []Column{}, Table: OfTable(t, cached),
		Positions: t.Positions, UnclosedRings: t.Summary.UnclosedRings, ShortRings: t.Summary.ShortRings,
		ShortLines: t.Summary.ShortLines, Layers: t.Summary.Layers, Foreign: t.Summary.Foreign,
	}
	if t.Summary.Links.Count > 0 {
		d.Links = &t.Summary.Links
	}
	if d.Foreign == nil {
		d.Foreign = map[string]int64{}
	}
	for _, f := range schema.Fields() {
		d.Columns = append(d.Columns, ColumnOf(f))
	}
	return d
}

// ColumnOf describes a field of a schema.
func ColumnOf(f arrow.Field) Column {
	return Column{f.Name, f.Type.String(), f.Nullable, f.Metadata.ToMap()}
}

// TypeName is the extension type's name where there is one.
func (c Column) TypeName() string {
	if name, ok := c.Metadata["ARROW:extension:name"]; ok {
		return name
	}
	return c.Type
}

// Marshal is the text of one of our own answers, for people too: < and > stay as they are.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%T: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
