package main

import (
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/readers"
)

// limitConfig is what a file may ask for, wherever it is parsed: an error that names one of these flags names one that is there.
type limitConfig struct {
	depth        int      // open brackets; default readers.DefaultMaxDepth
	featureBytes byteSize // text of one row; default readers.DefaultMaxFeatureBytes, which is also the most
	workers      int      // goroutines that parse one file; 0: one a core
}

func (c *limitConfig) flags(f *pflag.FlagSet) {
	c.featureBytes = readers.DefaultMaxFeatureBytes
	f.IntVar(&c.depth, "max-depth", readers.DefaultMaxDepth, "how deep brackets may nest")
	f.IntVar(&c.workers, "workers", 0, "goroutines that parse one file; 0 is one a core")
	f.Var(&c.featureBytes, "max-feature-bytes", "longest text of one feature or record; the default is the most")
}

func (c *limitConfig) limits() (readers.Limits, error) {
	if c.depth < 1 {
		return readers.Limits{}, wrongUsage("--max-depth: %d is less than 1", c.depth)
	}
	if c.workers < 0 {
		return readers.Limits{}, wrongUsage("--workers: %d is less than 0", c.workers)
	}
	const most = readers.DefaultMaxFeatureBytes
	if c.featureBytes < 1 || c.featureBytes > most {
		return readers.Limits{}, wrongUsage("--max-feature-bytes: %v is not between 1 byte and %v", c.featureBytes, byteSize(most))
	}
	return readers.Limits{MaxDepth: c.depth, MaxFeatureBytes: int64(c.featureBytes), Workers: c.workers}, nil
}
