package flightsrv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// MaxTicketBytes bounds tickets, commands, criteria and the bodies of actions.
const MaxTicketBytes = 64 << 10

// Ticket says which rows and columns of which entry go out, and how. Nil fields select everything.
type Ticket struct {
	Name        string
	Columns     []string
	BBox        *[4]float64 // xmin ymin xmax ymax
	Rows        *[2]int64   // half-open range of the file's rows
	Limit       *int64
	Encoding    geoarrow.Encoding
	Compression Compression
	CRS         string         // that the table is to have; empty: as the server names it
	Version     string         // of the file; empty: any
	Options     map[string]any // of the format: string, bool or float64
	Poll        string         // which poll of PollFlightInfo a command goes on with; tickets have none
}

// Compression of the IPC bodies.
type Compression uint8

// What a ticket's "compression" can say.
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

// TicketError says which field of a ticket, a command, a criterion or an action's body is wrong.
// Field is empty where the text as a whole is.
type TicketError struct {
	Field string
	Err   error
}

func (e *TicketError) Error() string {
	if e.Field == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("field %s: %v", strconv.Quote(clip(e.Field, 100)), e.Err)
}

func (e *TicketError) Unwrap() error { return e.Err }

// ParseTicket reads a ticket: a UTF-8 name alone, or a JSON object where the first byte is '{'.
// Errors wrap *TicketError.
func ParseTicket(b []byte) (Ticket, error) {
	t, err := parseTicket(b)
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
	t, err := parsePolled(b)
	if err != nil {
		return Ticket{}, err
	}
	if err := t.refusePoll(); err != nil {
		return Ticket{}, fmt.Errorf("command: %w", err)
	}
	return t, nil
}

// refusePoll gives an error if t goes on with a poll.
func (t Ticket) refusePoll() error {
	if t.Poll != "" {
		return &TicketError{"poll", errors.New(
			"stands in the commands that PollFlightInfo gives, for the next PollFlightInfo and for CancelFlightInfo",
		)}
	}
	return nil
}

// parsePolled is ParseCommand of a command that may go on with a poll.
func parsePolled(b []byte) (Ticket, error) {
	t, err := parseTicket(b)
	if err == nil && t.Rows != nil {
		err = &TicketError{"rows", errors.New("stands in tickets only, as GetFlightInfo gives them")}
	}
	if err != nil {
		return Ticket{}, fmt.Errorf("command: %w", err)
	}
	return t, nil
}

func parseTicket(b []byte) (Ticket, error) {
	if err := checkSize(b); err != nil {
		return Ticket{}, err
	}
	if len(b) == 0 {
		return Ticket{}, &TicketError{"name", errors.New("is missing")}
	}
	if b[0] != '{' {
		if !utf8.Valid(b) {
			return Ticket{}, &TicketError{"name", errors.New("is not UTF-8")}
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
		return Ticket{}, &TicketError{"name", errors.New("is missing")}
	}
	return t, nil
}

func checkSize(b []byte) error {
	if len(b) > MaxTicketBytes {
		return &TicketError{Err: fmt.Errorf("has %d bytes, more than %d", len(b), MaxTicketBytes)}
	}
	return nil
}

// inField names the field unless err names one below it.
func inField(key string, err error) error {
	var at *TicketError
	if errors.As(err, &at) {
		return err
	}
	return &TicketError{key, err}
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
	case "bbox":
		t.BBox, err = bboxOf(m.value)
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
		err = errors.New("is unknown; known are name, columns, bbox, rows, limit, geometry_encoding, coords, " +
			"compression, crs, version, options")
	}
	return err
}

// crsNameOf reads the name of a reference system.
func crsNameOf(v json.RawMessage) (string, error) {
	name, err := textOf(v)
	if err != nil {
		return "", err
	}
	if _, ok := geoarrow.ParseCRS(name); !ok {
		return "", fmt.Errorf("%s names no reference system; want OGC:CRS84, EPSG:4326 or a like name", excerpt(v))
	}
	return name, nil
}

func columnsOf(v json.RawMessage) ([]string, error) {
	a, err := arrayOf(v)
	if err != nil {
		return nil, err
	}
	if len(a) == 0 {
		return nil, errors.New("is empty; leave it out for all columns")
	}
	var names []string
	for _, e := range a {
		name, err := stringOf(e) // a column may well have the empty name: GeoJSON allows that key
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("%s is given twice", excerpt(e))
		}
		names = append(names, name)
	}
	return names, nil
}

func bboxOf(v json.RawMessage) (*[4]float64, error) {
	a, err := arrayOf(v)
	if err != nil {
		return nil, err
	}
	if len(a) != 4 {
		return nil, fmt.Errorf("want 4 numbers, xmin ymin xmax ymax, have %d", len(a))
	}
	var box [4]float64
	for i, e := range a {
		if box[i], err = numberOf(e); err != nil {
			return nil, err
		}
	}
	for i, axis := range []string{"x", "y"} {
		if box[i] > box[i+2] {
			return nil, fmt.Errorf("%smin %v is greater than %smax %v", axis, box[i], axis, box[i+2])
		}
	}
	return &box, nil
}

func rowsOf(v json.RawMessage) (*[2]int64, error) {
	a, err := arrayOf(v)
	if err != nil {
		return nil, err
	}
	if len(a) != 2 {
		return nil, fmt.Errorf("want 2 numbers, start and end, have %d", len(a))
	}
	var rows [2]int64
	for i, e := range a {
		if rows[i], err = countOf(e); err != nil {
			return nil, err
		}
	}
	if rows[0] > rows[1] {
		return nil, fmt.Errorf("start %d is greater than end %d", rows[0], rows[1])
	}
	return &rows, nil
}

func choiceOf[E ~uint8](v json.RawMessage, names []string) (E, error) {
	s, err := textOf(v)
	if err != nil {
		return 0, err
	}
	i := slices.Index(names, s)
	if i < 0 {
		return 0, fmt.Errorf("%s is none of %q", excerpt(v), names)
	}
	return E(i), nil
}

func optionsOf(v json.RawMessage) (map[string]any, error) {
	ms, err := members(v)
	var at *TicketError
	if errors.As(err, &at) {
		return nil, optionError(at.Field, at.Err)
	}
	options := make(map[string]any, len(ms))
	for _, m := range ms {
		if options[m.key], err = scalarOf(m.value); err != nil {
			return nil, optionError(m.key, err)
		}
	}
	return options, nil
}

func optionError(key string, err error) error {
	if key == "" {
		return &TicketError{"options", err}
	}
	return &TicketError{"options." + key, err}
}

// Encode is the shortest text that ParseTicket reads as t: the name alone where nothing else is
// said.
func (t Ticket) Encode() []byte {
	if t.isName() {
		return []byte(t.Name)
	}
	var j struct {
		Name        string         `json:"name"`
		Columns     []string       `json:"columns,omitempty"`
		BBox        *[4]float64    `json:"bbox,omitempty"`
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
	j.CRS = t.CRS
	j.Geometry = unlessFirst(geometryEncodings, int(t.Encoding.Geometry))
	j.Coords = unlessFirst(coordLayouts, int(t.Encoding.Coords))
	j.Compression = unlessFirst(compressions, int(t.Compression))

	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read tickets
	if err := enc.Encode(j); err != nil {
		// only a NaN in BBox or a strange type in Options can do that
		panic(fmt.Errorf("ticket of %s: %w", t.Name, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// isName reports that t says nothing beside the name, and that the name can stand alone.
func (t Ticket) isName() bool {
	return t.Name != "" && t.Name[0] != '{' && t.Columns == nil && t.BBox == nil && t.Rows == nil && t.Limit == nil &&
		t.Encoding == (geoarrow.Encoding{}) && t.Compression == NoCompression && t.CRS == "" &&
		t.Version == "" && len(t.Options) == 0 && t.Poll == ""
}

func unlessFirst(names []string, i int) string {
	if i == 0 {
		return ""
	}
	return names[i]
}

// selection is t without what the wire and the parse need.
func (t Ticket) selection() catalog.Selection {
	return catalog.Selection{
		Columns: t.Columns, BBox: t.BBox, Rows: t.Rows, Limit: t.Limit, Encoding: t.Encoding,
		CRS: t.CRS,
	}
}

// selection is that of a ticket with what the server names OGC:CRS84.
func (c *Config) selection(t Ticket) catalog.Selection {
	sel := t.selection()
	sel.CRS84As = c.CRS84As
	return sel
}

// rowName says which row row n of the answer is. It is a row of the file, unless a bbox leaves some
// out.
func (t Ticket) rowName(n int64) string {
	if t.BBox != nil {
		return fmt.Sprintf("row %d of those of %s in the bbox", n, t.Name)
	}
	if t.Rows != nil {
		n += t.Rows[0]
	}
	return fmt.Sprintf("row %d of %s", n, t.Name)
}
