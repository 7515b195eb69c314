package localfile

import (
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// LimitFlags are the flags for the limits of a parse. Every command that parses has them, since
// errors name them.
type LimitFlags struct {
	Depth        int        // open brackets; default readers.DefaultMaxDepth
	featureBytes units.Size // text of one row; default and maximum readers.DefaultMaxFeatureBytes
	columns      int        // of a table; default readers.DefaultMaxColumns
	Workers      int        // goroutines that parse one file; 0: one per core

	UnpackedBytes units.Size // that a packed file unpacks to; default source.DefaultMaxUnpackedBytes
}

// Define adds the flags to f.
func (c *LimitFlags) Define(f *pflag.FlagSet) {
	c.featureBytes, c.UnpackedBytes = readers.DefaultMaxFeatureBytes, source.DefaultMaxUnpackedBytes
	f.IntVar(&c.Depth, "max-depth", readers.DefaultMaxDepth, "how deep brackets may nest")
	f.IntVar(&c.columns, "max-columns", readers.DefaultMaxColumns,
		"maximum number of columns of a table, without its geometry")
	f.IntVar(&c.Workers, "workers", 0, "goroutines that parse one file; 0 is one per core")
	f.Var(&c.UnpackedBytes, "max-unpacked-bytes", "what a .gz, .zst, .zip or .kmz file may hold, unpacked")
	f.Var(&c.featureBytes, "max-feature-bytes",
		"longest text of one feature or record; the default is the maximum, and a sixteenth of a server's --memory")
}

// Limits returns the limits of a parse, or the usage error of a flag out of range.
func (c *LimitFlags) Limits() (readers.Limits, error) {
	if c.Depth < 1 {
		return readers.Limits{}, usage.Errorf("--max-depth: %d is less than 1", c.Depth)
	}
	if c.columns < 1 {
		return readers.Limits{}, usage.Errorf("--max-columns: %d is less than 1", c.columns)
	}
	if c.Workers < 0 {
		return readers.Limits{}, usage.Errorf("--workers: %d is less than 0", c.Workers)
	}
	if c.UnpackedBytes < 1 {
		return readers.Limits{}, usage.Errorf("--max-unpacked-bytes: %v is less than 1 byte", c.UnpackedBytes)
	}
	const limit = readers.DefaultMaxFeatureBytes
	if c.featureBytes < 1 || c.featureBytes > limit {
		return readers.Limits{}, usage.Errorf("--max-feature-bytes: %v is not between 1 byte and %v",
			c.featureBytes, units.Size(limit))
	}
	return readers.Limits{
		MaxDepth: c.Depth, MaxFeatureBytes: int64(c.featureBytes), MaxColumns: c.columns, Workers: c.Workers,
	}, nil
}

// Unpacking returns how packed files are unpacked, in the folder for temporary files.
func (c *LimitFlags) Unpacking() source.UnpackOptions {
	return source.UnpackOptions{
		MaxBytes: int64(c.UnpackedBytes),
		Workers:  readers.Limits{Workers: c.Workers}.WithDefaults().Workers,
	}
}
