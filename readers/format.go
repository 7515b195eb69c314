// Package readers defines the contract of a file format: every engine turns a file into the same
// table, exactly.
//
// It defines formats, joins chunks of parsed rows to one schema, and describes errors in files. It
// imports no format; readers/all lists them.
package readers

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/resident"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Format is one file format and its engines.
type Format struct {
	Name       string   // "geojson"; used in tickets, descriptions and the catalog; never changes
	Extensions []string // of this format's files, in lower case, with dot
	Unit       string   // what the format calls a row: "feature", "record"
	Version    int      // of the parser; incremented when the same file would give another table
	// extensions, in lower case with dot, of the sibling files in the same folder that belong to a
	// file of the format; source.File.Sibling opens them
	Siblings []string
	Bundle   source.Bundle // folders that are one file of the format; zero: none
	Binary   bool          // files are not text: they are not read from .gz and .zst, which lack siblings
	Layered  bool          // a file may hold several layers, each of which is a table of its own
	// a file has a directory of its columns: its parser announces what it reads (source.File.Prefetch)
	Indexed bool
	Series  bool // a part of a file can't be read without all bytes before it

	// Sniff reports whether a file is of this format by its first bytes. It is called if the
	// extension does not determine the format (.json, .txt, none).
	Sniff func(head []byte) bool

	// Recode returns the conversion of a file that begins with head to the text that the parsers
	// read. ok is false if it needs none. A nil Recode means that no file needs one.
	Recode func(head []byte) (r source.Recoder, ok bool)

	// Options are the keys that a ticket's "options" may have in addition to the common ones
	// (CommonOptions).
	Options []Option

	// Open reads what must be known before any row, such as a header or dialect.
	Open func(ctx context.Context, src *source.File, opts Options) (Layout, error)

	// Cover describes the table of a file without reading its rows, as far as its metadata says: its
	// columns, and the starts, spans and boxes of batches. Rows that do not fit are an error when they
	// are read. ok is false if the metadata does not say enough. nil: it never does.
	Cover func(l Layout, src *source.File, limits Limits) (t *Table, ok bool)

	// CPU is the engine that every format has. It is the reference: every other engine gives the
	// same tables and errors.
	CPU func(Layout) Parser

	// GPU returns the engine that uses the slots of GPUs, which formats share. It is nil if the
	// format has none. The caller keeps ownership of the slots.
	GPU func(*slots.Pool) Engine
}

// Engine is a format's parser on devices. Several files may be parsed at once.
type Engine interface {
	// Parser returns a parser with the tables and errors of Format.CPU. It passes to the CPU engine
	// what the devices refuse.
	Parser(Layout) Parser
	// Counts returns what the engine did since it was made. It may be called at any time.
	Counts() EngineCounts
}

// EngineCounts are the numbers of an Engine since it was made.
type EngineCounts struct {
	Chunks      int64  `json:"chunks"`       // chunks that the devices parsed
	Refused     int64  `json:"refused"`      // chunks left to the CPU engine, including faults
	RefusedRows int64  `json:"refused_rows"` // rows of these, parsed by the CPU engine
	Faults      int64  `json:"faults"`       // faults of devices, reported to slots.Config.Fault
	Stages      Stages `json:"stages"`
	Reason      string `json:"last_refusal,omitempty"` // reason of the last refusal; empty if there was none
}

// Stages are the times that chunks spent in each stage, summed over all chunks. Several chunks are
// in flight at a time, so the sum exceeds the duration of the parse.
type Stages struct {
	ReadSeconds   float64 `json:"read_seconds"`   // text, from the file to page-locked memory
	UploadSeconds float64 `json:"upload_seconds"` // from there to the device, after the last byte was read
	WorkSeconds   float64 `json:"work_seconds"`   // kernels, and columns on their way back
}

// EngineCPU is the engine that every format has.
const EngineCPU = "cpu"

// EngineOf returns the name of the engine: EngineCPU, or the parser's own.
func EngineOf(p Parser) string {
	if e, ok := p.(interface{ Engine() string }); ok {
		return e.Engine()
	}
	return EngineCPU
}

// Layout is the result of Open.
type Layout struct {
	Options Options
	Layer   string     // to be read, set by a caller that requests a Parser; "": the first one. Of Layered formats
	Columns Projection // whose values are to be read, set by a caller that requests a Parser
	Dialect any        // the format's own findings
}

// Parser is one engine's code for one format. Equal files give equal columns in equal order, or an
// equal error, on every engine. A Parser keeps nothing between calls and may be used by several
// goroutines.
type Parser interface {
	// Parse reads the rows of a span in file order and hands them to emit in chunks, each with the
	// narrowest types that its own rows allow; a file without rows gives one empty chunk. emit owns
	// the chunk; an error of emit ends the parse and is returned unchanged. When ctx is cancelled,
	// Parse returns ctx.Err() soon. Bad input gives a *ParseError, a limit a *LimitError.
	Parse(ctx context.Context, src *source.File, req Request, emit func(Chunk) error) (Summary, error)
}

// RowPrefetcher is a Parser that knows where rows are in a file.
type RowPrefetcher interface {
	// PrefetchRows announces that rows [from, to) of each range will be read soon, in this order
	// (source.File.Prefetch).
	PrefetchRows(src *source.File, ranges [][2]int64)
}

// Request describes what to parse and within which limits.
type Request struct {
	Span   Span
	Limits Limits
	First  *First // rows that come before all others; nil: all rows are equal
	Keep   bool   // the columns of the whole file may stay on a GPU: Summary.Resident
}

// Span is a range of whole rows. If it is not Inside and does not begin at 0, it continues after
// known rows: it begins where a chunk of an Appendable file began.
type Span struct {
	From, To int64 // bytes [From, To); To < 0: to the end of the file
	Row      int64 // number of the first row
	// the span is a chunk that an earlier Parse of this file emitted: From and To are between rows
	Inside bool
	Text   []geoarrow.ColumnID // columns to be read as text
	State  uint64              // what the format needs to start at From; from the Chunk
	// of the table, if it determines which geometries are null; nil: not known yet. In a Table, all
	// spans have it. Again takes it from the Shape
	CRS *geoarrow.CRS `json:"-"`
}

// Chunk is a run of parsed rows and their place in the file. Every chunk but the last of a file has
// Limits.BatchRows rows, or fewer if Limits.BatchBytes ended it.
type Chunk struct {
	Columns *geoarrow.Columns
	Span    Span // parsing it again gives this chunk again
}

// Summary is what a parse found in addition to the rows.
type Summary struct {
	CRS geoarrow.CRS
	// every layer of the file in order of appearance, whichever was read; of Layered formats. Names
	// are unique and not empty
	Layers           []string `json:",omitempty"`
	BytesRead        int64
	Skipped          SkippedRows
	Links            Links            // to other files
	Deviations       Deviations       // where the table differs from the literal content of the file
	IgnoredOrdinates int64            // 4th and later ordinates of positions
	UnclosedRings    int64            // rings whose last position is not the first
	ShortRings       int64            // rings of fewer than 4 positions
	ShortLines       int64            // lines of one position
	Foreign          map[string]int64 // members that no column holds, by name
	// the columns that stay on a GPU; nil: none. Only of a Request with Keep
	Resident *resident.Handle `json:"-"`
	// rows may be appended to the file: if it grows, its earlier rows stay the same. None of them
	// has a CRS
	Appendable bool
}

// SkippedRows counts the rows left out under on_error: skip.
type SkippedRows struct {
	Count int64   `json:"count"`
	First []int64 `json:"first"` // offsets of the first ones, at most MaxSkippedOffsets
}

// Add adds the summary of the rows that follow.
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

// ByExtension finds the format that the name's extension belongs to.
func (r Registry) ByExtension(name string) (Format, bool) {
	ext := strings.ToLower(path.Ext(name))
	for _, f := range r {
		if ext != "" && slices.Contains(f.Extensions, ext) {
			return f, true
		}
	}
	return Format{}, false
}
