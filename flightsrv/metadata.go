package flightsrv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
)

// facts is app_metadata of a FlightInfo: what is known of a parsed file beside its rows, always of
// the file as a whole; but where the table is parsed for a ticket's columns alone, rounded integers
// and replaced characters are those of these columns.
type facts struct {
	Format string  `json:"format"`
	Engine string  `json:"engine"`
	CRS    *string `json:"crs"` // null: none
	// what the file says and clients do not get, since PROJ could not read it
	UnreadCRS     string      `json:"unread_crs,omitempty"`
	BBox          *[4]float64 `json:"bbox"`           // null: no position
	GeometryTypes []string    `json:"geometry_types"` // as GeoParquet has them
	BytesRead     int64       `json:"bytes_read"`
	ParseSeconds  float64     `json:"parse_seconds"`
	Cached        bool        `json:"cached"` // the table was there

	Skipped            *readers.Skipped    `json:"skipped,omitempty"`
	Deviations         *readers.Deviations `json:"deviations,omitempty"`
	RoundedIntegers    int64               `json:"rounded_integers,omitempty"`
	IgnoredOrdinates   int64               `json:"ignored_ordinates,omitempty"`
	ReplacedCharacters int64               `json:"replaced_characters,omitempty"`
}

func factsOf(t *readers.Table, cached bool) facts {
	f := facts{
		Format: t.Format, Engine: t.Engine, BBox: finite(t.BBox), GeometryTypes: t.GeometryTypes,
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

// finite is the box, or nil where JSON can't write it: WKT may hold Infinity.
func finite(box *[4]float64) *[4]float64 {
	if box != nil {
		for _, v := range box {
			if math.IsInf(v, 0) || math.IsNaN(v) {
				return nil
			}
		}
	}
	return box
}

// unparsed is app_metadata of an entry of which only the outside is known.
type unparsed struct {
	Format string `json:"format"`
	Cached bool   `json:"cached"`
}

// description is what the action describe answers.
type description struct {
	Name      string    `json:"name"`
	Version   string    `json:"version"`
	FileBytes int64     `json:"file_bytes"`
	Modified  time.Time `json:"modified"`
	Rows      int64     `json:"rows"`
	Bytes     int64     `json:"bytes"` // of the parsed table
	Columns   []column  `json:"columns"`
	facts
	Positions     int64            `json:"positions"`
	UnclosedRings int64            `json:"unclosed_rings"`
	ShortRings    int64            `json:"short_rings"`
	ShortLines    int64            `json:"short_lines"`
	Layers        []string         `json:"layers,omitempty"` // of the file, in order of appearance
	Links         *readers.Links   `json:"links,omitempty"`  // to other files
	Foreign       map[string]int64 `json:"foreign_members"`
}

// column is a field of the schema that DoGet sends.
type column struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"` // Arrow's
	Nullable bool              `json:"nullable"`
	Metadata map[string]string `json:"metadata,omitempty"` // as ARROW:extension:name
}

func describe(h *catalog.TableRef, schema *arrow.Schema) description {
	t := h.Table
	d := description{
		Name: h.Entry.Name, Version: h.Version, FileBytes: h.Entry.Size, Modified: h.Entry.Modified,
		Rows: t.Rows, Bytes: t.Bytes, Columns: []column{}, facts: factsOf(t, h.Cached),
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
		d.Columns = append(d.Columns, column{f.Name, f.Type.String(), f.Nullable, f.Metadata.ToMap()})
	}
	return d
}

// jsonBody is the text of one of our own answers, for people too: < and > stay as they are.
func jsonBody(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%T: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
