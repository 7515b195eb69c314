package main

import (
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// limitConfig is what a file may ask for, wherever it is parsed: an error that names one of these
// flags names one that is there.
type limitConfig struct {
	depth        int      // open brackets; default readers.DefaultMaxDepth
	featureBytes byteSize // text of one row; default readers.DefaultMaxFeatureBytes, which is also the most
	columns      int      // of a table; default readers.DefaultMaxColumns
	workers      int      // goroutines that parse one file; 0: one a core

	unpackedBytes byteSize // that a packed file unpacks to; default source.DefaultMaxUnpackedBytes
}

func (c *limitConfig) flags(f *pflag.FlagSet) {
	c.featureBytes, c.unpackedBytes = readers.DefaultMaxFeatureBytes, source.DefaultMaxUnpackedBytes
	f.IntVar(&c.depth, "max-depth", readers.DefaultMaxDepth, "how deep brackets may nest")
	f.IntVar(&c.columns, "max-columns", readers.DefaultMaxColumns, "most columns of a table, its geometry aside")
	f.IntVar(&c.workers, "workers", 0, "goroutines that parse one file; 0 is one a core")
	f.Var(&c.unpackedBytes, "max-unpacked-bytes", "what a .gz, .zst, .zip or .kmz file may hold, unpacked")
	f.Var(&c.featureBytes, "max-feature-bytes",
		"longest text of one feature or record; the default is the most, and a sixteenth of a server's --memory")
}

func (c *limitConfig) limits() (readers.Limits, error) {
	if c.depth < 1 {
		return readers.Limits{}, wrongUsage("--max-depth: %d is less than 1", c.depth)
	}
	if c.columns < 1 {
		return readers.Limits{}, wrongUsage("--max-columns: %d is less than 1", c.columns)
	}
	if c.workers < 0 {
		return readers.Limits{}, wrongUsage("--workers: %d is less than 0", c.workers)
	}
	if c.unpackedBytes < 1 {
		return readers.Limits{}, wrongUsage("--max-unpacked-bytes: %v is less than 1 byte", c.unpackedBytes)
	}
	const most = readers.DefaultMaxFeatureBytes
	if c.featureBytes < 1 || c.featureBytes > most {
		return readers.Limits{}, wrongUsage("--max-feature-bytes: %v is not between 1 byte and %v",
			c.featureBytes, byteSize(most))
	}
	return readers.Limits{
		MaxDepth: c.depth, MaxFeatureBytes: int64(c.featureBytes), MaxColumns: c.columns, Workers: c.workers,
	}, nil
}

// unpacking is how packed files are unpacked, in the system's folder for temporary files.
func (c *limitConfig) unpacking() source.Unpacking {
	return source.Unpacking{
		MaxBytes: int64(c.unpackedBytes),
		Workers:  readers.Limits{Workers: c.workers}.WithDefaults().Workers,
	}
}
