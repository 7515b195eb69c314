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

// Key identifies one way to read one file.
type Key struct {
	Name    string   // in the catalog; not empty
	Options [32]byte // digest of the format's options
}

// Record is what is known about one file, read in one way. Empty slices and texts read back as nil
// or "".
type Record struct {
	Key
	Identity source.Identity // of the file when it was parsed
	Content  []byte          // digest of the content, DigestBytes long; nil if unknown

	Format        string // name of the format
	FormatVersion int    // version of its parser
	OptionsJSON   string // the options as canonical JSON, for people; the key has their digest

	Schema     []byte // an Arrow IPC schema message; nil after an error
	Rows       int64  // of the table
	TableBytes int64  // size of the parsed table
	// xmin ymin xmax ymax, with exactly the bits that were put; nil if there is no box
	BBox          *[4]float64
	GeometryTypes []string // "Polygon", "Point Z", …
	CRS           string   // JSON, as the caller gave it
	Columns       []ColumnStats

	Engine    string        // that parsed the file: "cpu" or "cuda"
	ParseTime time.Duration // duration of the parse
	// time of the parse, in the years 1678 to 2261; zero if unknown; reads back in UTC
	ParsedAt  time.Time
	LastError string   // "" if the last parse succeeded
	Blocks    []byte   // digests of the content's blocks, for growing files; opaque here
	Layers    []string // of the file, in order; nil for a format without layers
	// Shape is what all batches of the table have in common, so that they can be returned while the
	// file is parsed. It is opaque here.
	Shape []byte
}

// ColumnStats is what is known about the values of one column.
type ColumnStats struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"` // as Arrow writes it
	Nulls int64   `json:"nulls"`
	Min   *string `json:"min,omitempty"` // as text; nil if unknown
	Max   *string `json:"max,omitempty"`
}

// CheckName returns an error for a name that a record cannot have.
func CheckName(name string) error {
	if name == "" {
		return errors.New("the name of a record is empty")
	}
	return checkText("name", name)
}

// Check returns an error for a record that cannot be stored.
func (r *Record) Check() error {
	if err := CheckName(r.Name); err != nil {
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
		{"object", string(r.Identity.Object)},
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
		// Data may contain NUL, which JSON writes as \u0000. So it is allowed here.
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
