package server

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

// closeTime is how long the end may take after the drain: the cache is written, and parses and SQL
// workers end.
const closeTime = 10 * time.Second

// stopTime is how long the end may take in all.
func (c *Config) stopTime() time.Duration { return c.DrainDelay + c.Drain + closeTime }

// exitAfter ends the process with status 1 if it still runs limit after the end of ctx: a parse may be
// in a read that can't be interrupted. The system ends its workers, whose sockets are closed. The
// returned function stops that.
func exitAfter(ctx context.Context, limit time.Duration, exit func(code int), log zerolog.Logger) (done func()) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-ended:
		case <-timer.C:
			log.Error().Dur("ms", limit).Msg("something does not end: the process is ended")
			exit(1)
		}
	})
	return func() {
		stop()
		close(ended)
	}
}

// saveTime returns how long the cache may be written after the drain: the rest of the drain, and half
// of closeTime at least.
func (c *Config) saveTime(stopped time.Time) time.Duration {
	rest := time.Until(stopped.Add(c.DrainDelay + c.Drain))
	return max(rest, closeTime/2)
}
