package main

import (
	"context"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/readers"
)

// target is where info and get look: a server, or the files of this machine.
type target interface {
	// describe says what is in an entry. The file is parsed if it was not yet, which p shows.
	describe(ctx context.Context, name string, options map[string]any, p *progress) (*description, error)
	// scan gives the rows that a ticket asks for.
	scan(ctx context.Context, t flightsrv.Ticket, p *progress) (rowStream, error)
	close()
}

// rowStream is a run of record batches of one schema.
type rowStream interface {
	schema() *arrow.Schema
	// rows is how many there will be, or -1 where that is not known; it is asked before the first
	// batch.
	rows() int64
	// next gives a batch, which the caller releases, or io.EOF.
	next(ctx context.Context) (arrow.Record, error)
	close()
}

// entry is a line of ls.
type entry struct {
	Name     string     `json:"name"`
	Format   string     `json:"format"`
	Bytes    *int64     `json:"bytes,omitempty"`    // of the file; a server does not say
	Modified *time.Time `json:"modified,omitempty"` // a server does not say
	Rows     *int64     `json:"rows,omitempty"`     // once a server has parsed the file
}

// description is what info prints: the answer of the server's action describe, which is made of a
// local file in the same form.
type description struct {
	Name      string       `json:"name"`
	Version   string       `json:"version,omitempty"` // a server's
	FileBytes int64        `json:"file_bytes"`
	Modified  time.Time    `json:"modified"`
	Rows      int64        `json:"rows"`
	Bytes     int64        `json:"bytes"` // of the parsed table
	Columns   []columnInfo `json:"columns"`
	facts
	Positions     int64            `json:"positions"`
	UnclosedRings int64            `json:"unclosed_rings"`
	ShortRings    int64            `json:"short_rings"`
	ShortLines    int64            `json:"short_lines"`
	Layers        []string         `json:"layers,omitempty"` // of the file
	Links         *readers.Links   `json:"links,omitempty"`
	Foreign       map[string]int64 `json:"foreign_members"`
}

// facts are what app_metadata of a FlightInfo says of a parsed file.
type facts struct {
	Format        string      `json:"format"`
	Engine        string      `json:"engine"`
	CRS           *string     `json:"crs"`
	UnreadCRS     string      `json:"unread_crs,omitempty"`
	BBox          *[4]float64 `json:"bbox"`
	GeometryTypes []string    `json:"geometry_types"`
	BytesRead     int64       `json:"bytes_read"`
	ParseSeconds  float64     `json:"parse_seconds"`
	Cached        bool        `json:"cached"`

	Skipped            *readers.Skipped    `json:"skipped,omitempty"`
	Deviations         *readers.Deviations `json:"deviations,omitempty"`
	RoundedIntegers    int64               `json:"rounded_integers,omitempty"`
	IgnoredOrdinates   int64               `json:"ignored_ordinates,omitempty"`
	ReplacedCharacters int64               `json:"replaced_characters,omitempty"`
}

type columnInfo struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"` // Arrow's
	Nullable bool              `json:"nullable"`
	Metadata map[string]string `json:"metadata,omitempty"` // of the field
}

// typeName is the extension type's name where there is one.
func (c columnInfo) typeName() string {
	if name, ok := c.Metadata["ARROW:extension:name"]; ok {
		return name
	}
	return c.Type
}

func columnsOf(schema *arrow.Schema) []columnInfo {
	columns := []columnInfo{}
	for _, f := range schema.Fields() {
		columns = append(columns, columnInfo{f.Name, f.Type.String(), f.Nullable, f.Metadata.ToMap()})
	}
	return columns
}

// targetConfig says which target, and how it is to parse.
type targetConfig struct {
	server  serverConfig
	options []string
	parse   limitConfig
}

func (c *targetConfig) flags(f *pflag.FlagSet) {
	optionFlag(f, &c.options)
	settings(f, c.server.flags, c.parse.flags)
}

// open gives the target, which the caller closes.
func (c *targetConfig) open(f *pflag.FlagSet) (target, error) {
	limits, err := c.parse.limits()
	if err != nil {
		return nil, err
	}
	if err := c.server.check(f); err != nil {
		return nil, err
	}
	if c.server.address == "" {
		return newLocal(limits, c.parse.unpacking()), nil
	}
	if err := refuseFileFlags(f); err != nil {
		return nil, err
	}
	return c.server.dial()
}

// refuseFileFlags refuses what says how files are read, and more flags like it, where a server is
// asked. The environment may say it: that is for other calls.
func refuseFileFlags(f *pflag.FlagSet, more ...string) error {
	for _, name := range append([]string{"max-depth", "max-columns", "max-feature-bytes", "max-unpacked-bytes"},
		more...) {
		if told(f, name) {
			return wrongUsage("--%s: is for files; a server has its own", name)
		}
	}
	return nil
}

// serverOrPaths refuses paths where a server is asked. hint says what a server has in their place.
func serverOrPaths(f *pflag.FlagSet, hint string) error {
	if !told(f, "server") {
		return wrongUsage("want either a server or paths: %s names a server; --server= reads files all the same",
			variable("server"))
	}
	return wrongUsage("want either --server or paths; %s", hint)
}

func optionFlag(f *pflag.FlagSet, options *[]string) {
	f.StringArrayVar(options, "option", nil, "an option of the format, as `KEY=VALUE`; may repeat")
}

// parseOptions reads KEY=VALUE pairs.
func parseOptions(pairs []string) (map[string]any, error) {
	options := map[string]any{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, wrongUsage("--option: %q is not KEY=VALUE", pair)
		}
		if _, twice := options[key]; twice {
			return nil, wrongUsage("--option: %s is given twice", key)
		}
		options[key] = value
	}
	return options, nil
}
