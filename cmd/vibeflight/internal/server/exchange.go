package server

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv"
)

// exchangeFlags are the limits of files that clients send for parsing (DoExchange).
type exchangeFlags struct {
	bytes    units.Size    // of one file; default flightsrv.DefaultMaxExchangeBytes
	maxFiles int           // files at the same time; default catalog.DefaultMaxSent
	timeout  time.Duration // of one call; default flightsrv.DefaultExchangeTimeout
}

func (c *exchangeFlags) flags(f *pflag.FlagSet) {
	c.bytes = flightsrv.DefaultMaxExchangeBytes
	f.Var(&c.bytes, "max-exchange-bytes", "largest file that a client may send to have it parsed (DoExchange)")
	f.IntVar(&c.maxFiles, "max-exchanges", catalog.DefaultMaxSent,
		"how many such files are taken at the same time; others wait, and they share the memory")
	f.DurationVar(&c.timeout, "exchange-timeout", flightsrv.DefaultExchangeTimeout, "how long such a call may take")
}

func (c *exchangeFlags) check() error {
	switch {
	case c.bytes < 1:
		return usage.Errorf("--max-exchange-bytes: %v is less than 1 byte", c.bytes)
	case c.maxFiles < 1:
		return usage.Errorf("--max-exchanges: %d is less than 1", c.maxFiles)
	case c.timeout <= 0:
		return usage.Errorf("--exchange-timeout: %v is not greater than 0", c.timeout)
	}
	return nil
}
