package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv"
)

// exchangeConfig is what clients may send to have it parsed (DoExchange).
type exchangeConfig struct {
	bytes   byteSize      // of one file; default flightsrv.DefaultMaxExchangeBytes
	most    int           // files at the same time; default catalog.DefaultMaxSent
	timeout time.Duration // of one call; default flightsrv.DefaultExchangeTimeout
}

func (c *exchangeConfig) flags(f *pflag.FlagSet) {
	c.bytes = flightsrv.DefaultMaxExchangeBytes
	f.Var(&c.bytes, "max-exchange-bytes", "largest file that a client may send to have it parsed (DoExchange)")
	f.IntVar(&c.most, "max-exchanges", catalog.DefaultMaxSent,
		"how many such files are taken at the same time; others wait, and they share the memory")
	f.DurationVar(&c.timeout, "exchange-timeout", flightsrv.DefaultExchangeTimeout, "how long such a call may take")
}

func (c *exchangeConfig) check() error {
	switch {
	case c.bytes < 1:
		return wrongUsage("--max-exchange-bytes: %v is less than 1 byte", c.bytes)
	case c.most < 1:
		return wrongUsage("--max-exchanges: %d is less than 1", c.most)
	case c.timeout <= 0:
		return wrongUsage("--exchange-timeout: %v is not greater than 0", c.timeout)
	}
	return nil
}
