// Package target is the source of a command's data: a server, or the files of this machine. Both list,
// describe and read entries in the same way.
package target

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// Target is a server, or the files of this machine.
type Target interface {
	// Describe describes an entry. It parses the file if necessary, which p shows.
	Describe(ctx context.Context, name string, options map[string]any, p *output.Progress) (*metadata.Description,
		error)
	// Scan returns the rows that a ticket selects.
	Scan(ctx context.Context, t ticket.Ticket, p *output.Progress) (RowStream, error)
	Close()
}

// RowStream is a sequence of record batches of one schema.
type RowStream interface {
	Schema() *arrow.Schema
	// Rows is the number of rows, or -1 if unknown. It is called before the first Next.
	Rows() int64
	// Next returns a batch, which the caller releases, or io.EOF.
	Next(ctx context.Context) (arrow.Record, error)
	Close()
}

// Flags are the flags for a target and for its parses.
type Flags struct {
	Server  Server
	Options []string
	Limits  localfile.LimitFlags
}

// Define adds the flags to f.
func (c *Flags) Define(f *pflag.FlagSet) {
	localfile.OptionFlag(f, &c.Options)
	settings.Add(f, c.Server.Define, c.Limits.Define)
}

// Open returns the target, which the caller closes.
func (c *Flags) Open(f *pflag.FlagSet) (Target, error) {
	limits, err := c.Limits.Limits()
	if err != nil {
		return nil, err
	}
	if err := c.Server.Check(f); err != nil {
		return nil, err
	}
	if c.Server.Address == "" {
		return NewLocal(limits, c.Limits.Unpacking()), nil
	}
	if err := RefuseFileFlags(f); err != nil {
		return nil, err
	}
	return c.Server.Dial()
}

// RefuseFileFlags refuses the flags for reading files, and others, if a server is used. The
// environment may set them, for other calls.
func RefuseFileFlags(f *pflag.FlagSet, more ...string) error {
	for _, name := range append([]string{"max-depth", "max-columns", "max-feature-bytes", "max-unpacked-bytes"},
		more...) {
		if settings.Given(f, name) {
			return usage.Errorf("--%s: is for files; a server has its own", name)
		}
	}
	return nil
}

// ServerOrPathsError is the error of paths with a server. hint names the alternative.
func ServerOrPathsError(f *pflag.FlagSet, hint string) error {
	if !settings.Given(f, "server") {
		return usage.Errorf("want either a server or paths: %s names a server; --server= reads files all the same",
			settings.Variable("server"))
	}
	return usage.Errorf("want either --server or paths; %s", hint)
}
