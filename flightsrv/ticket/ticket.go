// Package ticket reads what clients request: tickets, commands and paths of descriptors, criteria
// of ListFlights, and the bodies of actions.
//
// Each is a UTF-8 name or a JSON object (RFC 8259). A key that is unknown or repeated, a value out
// of range, and a text above [MaxBytes] are an [*Error] that names the field. The package knows no
// gRPC code and opens no file.
package ticket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// MaxBytes bounds tickets, commands, criteria and the bodies of actions.
const MaxBytes = 64 << 10

// Ticket selects rows and columns of an entry, and how they are encoded. Nil fields select
// everything.
type Ticket struct {
	Name    string
	Columns []string
	Where   string      // SQL predicate of the rows; "": all
	BBox    *[4]float64 // xmin ymin xmax ymax
	// Partitions are the values that columns of a dataset's folders must have: string, int64 or nil.
	Partitions  map[string]any
	Rows        *[2]int64 // half-open range of the file's rows, of those that Where keeps
	Limit       *int64
	Encoding    geoarrow.Encoding
	Compression Compression
	CRS         string         // of the table that is sent; empty: as the server names it
	Version     string         // of the file; empty: any
	Options     map[string]any // of the format: string, bool or float64
	Poll        string         // ID of the poll that a command of PollFlightInfo continues; tickets have none
}

// Compression is the compression of record batches (Arrow columnar format, "Compression").
type Compression uint8

// Values of the field "compression".
const (
	NoCompression Compression = iota
	LZ4
	Zstd
)

// Names of the values in a ticket; the first is the default.
var (
	geometryEncodings = []string{geoarrow.Native: "native", geoarrow.AsWKB: "wkb", geoarrow.AsWKT: "wkt"}
	coordLayouts      = []string{geoarrow.Separated: "separated", geoarrow.Interleaved: "interleaved"}
	compressions      = []string{NoCompression: "none", LZ4: "lz4", Zstd: "zstd"}
)

// Parse reads a ticket: a UTF-8 name alone, or a JSON object where the first byte is '{'.
// Errors wrap [*Error].
func Parse(b []byte) (Ticket, error) {
	t, err := parseBody(b)
	if err == nil {
		err = t.refusePoll()
	}
	if err != nil {
		return Ticket{}, fmt.Errorf("ticket: %w", err)
	}
	return t, nil
}

// ParseCommand reads a descriptor's command: a ticket without rows.
func ParseCommand(b []byte) (Ticket, error) {
	t, err := ParsePollCommand(b)
	if err != nil {
		return Ticket{}, err
	}
	if err := t.refusePoll(); err != nil {
		return Ticket{}, fmt.Errorf("command: %w", err)
	}
	return t, nil
}

// refusePoll returns an error if t continues a poll.
func (t Ticket) refusePoll() error {
	if t.Poll != "" {
		return &Error{Field: "poll", Err: errors.New(
			"is valid in commands that PollFlightInfo returned, for the next PollFlightInfo and for CancelFlightInfo",
		)}
	}
	return nil
}

// ParsePollCommand is [ParseCommand] for a command that may continue a poll.
func ParsePollCommand(b []byte) (Ticket, error) {
	t, err := parseBody(b)
	if err == nil && t.Rows != nil {
		err = &Error{Field: "rows", Err: errors.New("is valid in tickets only, as GetFlightInfo returns them")}
	}
	if err != nil {
		return Ticket{}, fmt.Errorf("command: %w", err)
	}
	return t, nil
}

// parseBody reads a ticket or a command without the rules of either.
func parseBody(b []byte) (Ticket, error) {
	if err := checkSize(b); err != nil {
		return Ticket{}, err
	}
	if len(b) == 0 {
		return Ticket{}, &Error{Field: "name", Err: errors.New("is missing")}
	}
	if b[0] != '{' {
		if !utf8.Valid(b) {
			return Ticket{}, &Error{Field: "name", Err: errors.New("is not UTF-8")}
		}
		return Ticket{Name: string(b)}, nil
	}
	ms, err := members(b)
	if err != nil {
		return Ticket{}, err
	}
	var t Ticket
	for _, m := range ms {
		if err := t.set(m); err != nil {
			return Ticket{}, inField(m.key, err)
		}
	}
	if t.Name == "" {
		return Ticket{}, &Error{Field: "name", Err: errors.New("is missing")}
	}
	return t, nil
}

func checkSize(b []byte) error {
	if len(b) > MaxBytes {
		return &Error{Err: fmt.Errorf("has %d bytes, more than %d", len(b), MaxBytes)}
	}
	return nil
}

func (t *Ticket) set(m member) (err error) {
	switch m.key {
	case "name":
		t.Name, err = textOf(m.value)
	case "poll":
		t.Poll, err = textOf(m.value)
	case "version":
		t.Version, err = textOf(m.value)
	case "columns":
		t.Columns, err = columnsOf(m.value)
	case "where":
		t.Where, err = whereOf(m.value)
	case "bbox":
		t.BBox, err = bboxOf(m.value)
	case "partitions":
		t.Partitions, err = partitionsOf(m.value)
	case "rows":
		t.Rows, err = rowsOf(m.value)
	case "limit":
		var n int64
		n, err = countOf(m.value)
		t.Limit = &n
	case "geometry_encoding":
		t.Encoding.Geometry, err = choiceOf[geoarrow.GeometryEncoding](m.value, geometryEncodings)
	case "coords":
		t.Encoding.Coords, err = choiceOf[geoarrow.CoordLayout](m.value, coordLayouts)
	case "compression":
		t.Compression, err = choiceOf[Compression](m.value, compressions)
	case "crs":
		t.CRS, err = crsNameOf(m.value)
	case "options":
		t.Options, err = optionsOf(m.value)
	default:
		err = errors.New("is unknown; known are name, columns, where, bbox, partitions, rows, limit, " +
			"geometry_encoding, coords, compression, crs, version, options")
	}
	return err
}

// Encode returns the shortest text that [Parse] reads as t: the name alone if no other field is
// set.
func (t Ticket) Encode() []byte {
	if t.isName() {
		return []byte(t.Name)
	}
	var j struct {
		Name        string         `json:"name"`
		Columns     []string       `json:"columns,omitempty"`
		Where       string         `json:"where,omitempty"`
		BBox        *[4]float64    `json:"bbox,omitempty"`
		Partitions  map[string]any `json:"partitions,omitempty"`
		Rows        *[2]int64      `json:"rows,omitempty"`
		Limit       *int64         `json:"limit,omitempty"`
		Geometry    string         `json:"geometry_encoding,omitempty"`
		Coords      string         `json:"coords,omitempty"`
		Compression string         `json:"compression,omitempty"`
		CRS         string         `json:"crs,omitempty"`
		Version     string         `json:"version,omitempty"`
		Options     map[string]any `json:"options,omitempty"`
		Poll        string         `json:"poll,omitempty"`
	}
	j.Name, j.Columns, j.BBox, j.Rows, j.Limit, j.Version, j.Options, j.Poll = t.Name, t.Columns, t.BBox,
		t.Rows, t.Limit, t.Version, t.Options, t.Poll
	j.CRS, j.Partitions, j.Where = t.CRS, t.Partitions, t.Where
	j.Geometry = unlessFirst(geometryEncodings, int(t.Encoding.Geometry))
	j.Coords = unlessFirst(coordLayouts, int(t.Encoding.Coords))
	j.Compression = unlessFirst(compressions, int(t.Compression))

	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read tickets
	if err := enc.Encode(j); err != nil {
		// a NaN in BBox, or an unexpected type in Options
		panic(fmt.Errorf("ticket of %s: %w", t.Name, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// isName reports whether the name alone encodes t.
func (t Ticket) isName() bool {
	return t.Name != "" && t.Name[0] != '{' && t.Columns == nil && t.BBox == nil && t.Rows == nil && t.Limit == nil &&
		len(t.Partitions) == 0 && t.Where == "" &&
		t.Encoding == (geoarrow.Encoding{}) && t.Compression == NoCompression && t.CRS == "" &&
		t.Version == "" && len(t.Options) == 0 && t.Poll == ""
}

// unlessFirst returns name i, or "" for the default, which is the first one.
func unlessFirst(names []string, i int) string {
	if i == 0 {
		return ""
	}
	return names[i]
}

// Selection returns the rows and columns that t selects, for the catalog.
func (t Ticket) Selection() catalog.Selection {
	return catalog.Selection{
		Columns: t.Columns, BBox: t.BBox, Rows: t.Rows, Limit: t.Limit, Encoding: t.Encoding,
		CRS: t.CRS, Partitions: t.Partitions,
	}
}

// RowName describes row n of the answer for errors: by its number in the file, unless t has a
// condition.
func (t Ticket) RowName(n int64) string {
	if t.BBox != nil {
		return fmt.Sprintf("row %d of those of %s in the bbox", n, t.Name)
	}
	if t.Where != "" {
		return fmt.Sprintf("row %d of those of %s that where keeps", n, t.Name)
	}
	if len(t.Partitions) > 0 {
		return fmt.Sprintf("row %d of those of %s in the partitions", n, t.Name)
	}
	if t.Rows != nil {
		n += t.Rows[0]
	}
	return fmt.Sprintf("row %d of %s", n, t.Name)
}

// Request returns the table that t needs: the selected columns and the geometry, whose bounding box
// is always reported.
func (t Ticket) Request() catalog.Request {
	columns := t.Columns
	if columns != nil {
		columns = append(slices.Clone(columns), readers.GeometryColumn)
	}
	return catalog.Request{Name: t.Name, Options: t.Options, Version: t.Version, Where: t.Where, Columns: columns}
}
