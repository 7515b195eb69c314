// Package readers is the contract between file formats and the rest: a file becomes one table,
// exactly, on every engine.
//
// It knows what a format is, how chunks of parsed rows join to one schema, and what an error of a
// file says. It knows no format: readers/all lists them.
package readers

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Format is one file format and its engines.
type Format struct {
	Name       string   // "geojson"; stands in tickets, descriptions and the catalog, never changes
	Extensions []string // lower case, with dot: a file that ends so is of this format
	Unit       string   // what the format calls a row: "feature", "record"
	Version    int      // of the parser; raised when the same file would give another table
	// extensions, lower case, with dot, of the files that belong to a file of the format if they
	// lie next to it: source.File.Sibling gives them
	Siblings []string
	Binary   bool // files are no text: they are not read from .gz and .zst, where not all siblings would be found
	Layered  bool // a file may hold several layers, each of which is a table of its own
	Series   bool // a part of a file is not read without all that lies before it

	// Sniff tells from the first bytes of a file whose extension says nothing (.json, .txt, none)
	// that it is of this format.
	Sniff func(head []byte) bool

	// Recode says how a file that begins with head becomes text that the parsers read. ok is false
	// where it is that already. nil: so it always is.
	Recode func(head []byte) (r source.Recoder, ok bool)

	// Options are the keys that a ticket's "options" may have in addition to the common ones
	// (CommonOptions).
	Options []Option

	// Open reads what must be known before any row: header, dialect.
	Open func(ctx context.Context, src *source.File, opts Options) (Layout, error)

	// Cover describes the table of a file without reading its rows, as far as its metadata says: its
	// columns, and the starts, spans and boxes of batches. Rows that do not fit are an error when they
	// are read. ok is false if the metadata does not say enough. nil: it never does.
	Cover func(l Layout, src *source.File, limits Limits) (t *Table, ok bool)

	// CPU is the engine that every format has. It decides: every other engine gives its tables and
	// its errors.
	CPU func(Layout) Parser

	// GPU gives the engine on the slots of GPUs, which formats share. It is nil where the format
	// has none. The slots stay the caller's.
	GPU func(*slots.Pool) Engine
}

// Engine is a format's parser on devices. Several files may be parsed at once.
type Engine interface {
	// Parser gives the tables and errors of Format.CPU. It leaves to that what the devices do not
	// accept.
	Parser(Layout) Parser
	// Counts says what the engine did since it was made. It may be called at any time.
	Counts() EngineCounts
}

// EngineCounts are the numbers of an Engine since it was made.
type EngineCounts struct {
	Chunks      int64  `json:"chunks"`       // runs of rows that the devices read
	Refused     int64  `json:"refused"`      // those that they left to the CPU engine, faults among them
	RefusedRows int64  `json:"refused_rows"` // rows that the CPU engine read in their place
	Faults      int64  `json:"faults"`       // faults of devices, of which slots.Config.Fault was told
	Stages      Stages `json:"stages"`
	Reason      string `json:"last_refusal,omitempty"` // why the last one of Refused was left; empty: none was
}

// Stages are where chunks spent their time, summed over all of them. Several are on their way at a
// time, so the sum is longer than the parse.
type Stages struct {
	ReadSeconds   float64 `json:"read_seconds"`   // text, from the file to page-locked memory
	UploadSeconds float64 `json:"upload_seconds"` // from there to the device, behind the last byte that was read
	WorkSeconds   float64 `json:"work_seconds"`   // kernels, and columns on their way back
}

// EngineCPU is the engine that every format has.
const EngineCPU = "cpu"

// EngineOf names what parses: EngineCPU, or what the parser says of itself.
func EngineOf(p Parser) string {
	if e, ok := p.(interface{ Engine() string }); ok {
		return e.Engine()
	}
	return EngineCPU
}

// Layout is what Open found.
type Layout struct {
	Options Options
	Layer   string     // to be read, set by a caller that asks for a Parser; "": the first one. Of Layered formats
	Columns Projection // whose values are to be read, set by a caller that asks for a Parser
	Dialect any        // the format's own findings
}

// Parser is one engine's code for one format. Equal files give equal columns in equal order, or an
// equal error, on every engine. A Parser keeps nothing between calls and may be used by several
// goroutines.
type Parser interface {
	// Parse reads the rows of a span in file order and hands them to emit in chunks, each with the
	// narrowest types that its own rows allow; a file without rows is one empty chunk. emit owns
	// the chunk; an error of emit ends the parse and is returned as it is. On cancellation of ctx
	// it returns ctx.Err() soon. Bad input gives a *ParseError, a limit a *LimitError.
	Parse(ctx context.Context, src *source.File, req Request, emit func(Chunk) error) (Summary, error)
}

// Request says what to parse and within which limits.
type Request struct {
	Span   Span
	Limits Limits
	First  *First // rows that come before all others; nil: all rows are equal
}

// Span is a run of whole rows. One that is not Inside and does not begin at 0 goes on behind rows
// that are known: it begins where a chunk of an Appendable file began.
type Span struct {
	From, To int64 // bytes [From, To); To < 0: to the end of the file
	Row      int64 // number of the first row
	// the span is a chunk that an earlier Parse of this file emitted: From and To lie between rows
	Inside bool
	Text   []geoarrow.ColumnID // columns to be read as text
	State  uint64              // what the format needs to know to start at From; from the Chunk
	// of the table, where that decides which geometries are null; nil: not known yet. Again has it
	// from the Shape
	CRS *geoarrow.CRS `json:"-"`
}

// Chunk is a run of parsed rows and where they stand in the file. Every chunk but the last of a
// file has Limits.BatchRows rows, or fewer where Limits.BatchBytes ended it.
type Chunk struct {
	Columns *geoarrow.Columns
	Span    Span // parsing it again gives this chunk again
}

// Summary is what a parse learned next to the rows.
type Summary struct {
	CRS geoarrow.CRS
	// every layer of the file in order of appearance, whichever was read; of Layered formats. None
	// is "", no two are equal
	Layers           []string `json:",omitempty"`
	BytesRead        int64
	Skipped          SkippedRows
	Links            Links            // to other files
	Deviations       Deviations       // where the table is not what the file says word for word
	IgnoredOrdinates int64            // 4th and later ordinates of positions
	UnclosedRings    int64            // rings whose last position is not the first
	ShortRings       int64            // rings of fewer than 4 positions
	ShortLines       int64            // lines of one position
	Foreign          map[string]int64 // members that no column holds, by name
	// rows may follow behind the end of the file: if it grows, the rows that it had stay what they
	// are. None of them has a CRS
	Appendable bool
}

// SkippedRows counts the rows left out under on_error: skip.
type SkippedRows struct {
	Count int64   `json:"count"`
	First []int64 `json:"first"` // offsets of the first ones, MaxSkippedOffsets at most
}

// Add adds what the rows behind showed.
func (s *Summary) Add(t *Summary) {
	s.BytesRead += t.BytesRead
	s.IgnoredOrdinates += t.IgnoredOrdinates
	s.UnclosedRings += t.UnclosedRings
	s.ShortRings += t.ShortRings
	s.ShortLines += t.ShortLines
	for name, n := range t.Foreign {
		s.Foreign[name] += n
	}
	s.Links.Append(&t.Links)
	s.Deviations.Append(&t.Deviations)
	s.Skipped.Count += t.Skipped.Count
	room := min(len(t.Skipped.First), MaxSkippedOffsets-len(s.Skipped.First))
	s.Skipped.First = append(s.Skipped.First, t.Skipped.First[:room]...)
}

// MaxSkippedOffsets is how many offsets of skipped rows are kept.
const MaxSkippedOffsets = 100

// Registry is the list of known formats.
type Registry []Format

// ByName finds a format.
func (r Registry) ByName(name string) (Format, bool) {
	i := slices.IndexFunc(r, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return r[i], true
}

// ByExtension finds the format that the name's extension promises.
func (r Registry) ByExtension(name string) (Format, bool) {
	ext := strings.ToLower(path.Ext(name))
	for _, f := range r {
		if ext != "" && slices.Contains(f.Extensions, ext) {
			return f, true
		}
	}
	return Format{}, false
}
