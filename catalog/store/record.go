package store

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers/source"
)

// DigestBytes is the length of the digest of a file's content.
const DigestBytes = 32

// Key names one way to read one file.
type Key struct {
	Name    string   // in the catalog; not empty
	Options [32]byte // digest of the format's options
}

// Record is what is known of one file, read in one way. Slices and texts that are empty read back
// as nil or "".
type Record struct {
	Key
	Identity source.Identity // of the file when it was parsed
	Content  []byte          // digest of the content, DigestBytes long; nil while unknown

	Format        string // the format's name
	FormatVersion int    // of its parser
	OptionsJSON   string // the options as canonical JSON, for people; the key has their digest

	Schema        []byte      // an Arrow IPC schema message; nil after an error
	Rows          int64       // of the table
	TableBytes    int64       // size of the parsed table
	BBox          *[4]float64 // xmin ymin xmax ymax, bit for bit what was put; nil if there is none
	GeometryTypes []string    // "Polygon", "Point Z", …
	CRS           string      // JSON as the caller gave it
	Columns       []ColumnStats

	Engine    string        // that parsed it: "cpu" or "cuda"
	ParseTime time.Duration // how long that took
	ParsedAt  time.Time     // when; zero while unknown, else of the years 1678 to 2261; reads back in UTC
	LastError string        // "" if the last parse went well
	Blocks    []byte        // digests of the content's blocks, for files that grow; opaque here
	Layers    []string      // of the file, in order; nil for a format without layers
	// what all batches of the table have in common, so that they can be given while the file is
	// parsed; opaque here
	Shape []byte
}

// ColumnStats is what is known of the values of one column.
type ColumnStats struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"` // as Arrow spells it
	Nulls int64   `json:"nulls"`
	Min   *string `json:"min,omitempty"` // as text; nil if there is none
	Max   *string `json:"max,omitempty"`
}

// checkName says why a name cannot be of a record, if so.
func checkName(name string) error {
	if name == "" {
		return errors.New("the name of a record is empty")
	}
	return checkText("name", name)
}

// check says why a record cannot be stored, if so.
func (r *Record) check() error {
	if err := checkName(r.Name); err != nil {
		return err
	}
	if err := r.checkFields(); err != nil {
		return fmt.Errorf("record of %s: %w", r.Name, err)
	}
	return nil
}

func (r *Record) checkFields() error {
	if n := len(r.Content); n != 0 && n != DigestBytes {
		return fmt.Errorf("content: a digest has %d bytes, not %d", DigestBytes, n)
	}
	if !r.ParsedAt.IsZero() && !time.Unix(0, r.ParsedAt.UnixNano()).Equal(r.ParsedAt) {
		return fmt.Errorf("parsed at: year %d is out of range", r.ParsedAt.Year())
	}
	for _, text := range [...]struct{ field, s string }{
		{"format", r.Format},
		{"options", r.OptionsJSON},
		{"crs", r.CRS},
		{"engine", r.Engine},
		{"last error", r.LastError},
	} {
		if err := checkText(text.field, text.s); err != nil {
			return err
		}
	}
	for _, s := range r.GeometryTypes {
		if err := checkText("geometry types", s); err != nil {
			return err
		}
	}
	for _, s := range r.Layers {
		if err := checkText("layers", s); err != nil {
			return err
		}
	}
	for i := range r.Columns {
		if err := r.Columns[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *ColumnStats) check() error {
	for _, s := range [...]*string{&c.Name, &c.Type, c.Min, c.Max} {
		if s == nil {
			continue
		}
		// JSON spells a NUL as \u0000, and data has them: here they pass.
		if !utf8.ValidString(*s) {
			return fmt.Errorf("column %q: not UTF-8: %q", c.Name, *s)
		}
	}
	return nil
}

func checkText(field, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s: not UTF-8: %q", field, s)
	}
	if strings.IndexByte(s, 0) >= 0 {
		return fmt.Errorf("%s: has a NUL: %q", field, s)
	}
	return nil
}
