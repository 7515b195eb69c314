package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/audit"
	"github.com/vibeflight/vibeflight/flightsrv/telemetry"
)

// observeFlags say how the server is observed.
type observeFlags struct {
	audit      string        // file of the audit log, or "-"; empty: none
	auditBytes units.Size    // of the file, before it is rotated
	auditFiles int           // rotated files that are kept
	slow       time.Duration // of calls that are logged with their plan; 0: none
}

func (c *observeFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.audit, "audit", "", "`file` with a line for each call, JSON; - is the standard error output")
	c.auditBytes = audit.DefaultMaxBytes
	f.Var(&c.auditBytes, "audit-bytes", "size from which that file is renamed to FILE.1, and FILE.1 to FILE.2")
	f.IntVar(&c.auditFiles, "audit-files", audit.DefaultMaxFiles, "how many renamed files are kept")
	f.DurationVar(&c.slow, "slow", 0,
		"time from which a call is logged as slow, with the plan of its query, as 1s; 0 is for none")
}

func (c *observeFlags) check() error {
	switch {
	case c.auditBytes < 1<<16:
		return usage.Errorf("--audit-bytes: %v is less than 64 KiB", c.auditBytes)
	case c.auditFiles < 1:
		return usage.Errorf("--audit-files: %d is less than 1", c.auditFiles)
	case c.slow < 0:
		return usage.Errorf("--slow: %v is less than 0", c.slow)
	}
	return nil
}

// observers are the parts that observe a server.
type observers struct {
	*telemetry.Telemetry
	audit *audit.Log // nil: none
}

// open starts what is configured. The caller closes it after the server.
func (c *observeFlags) open(ctx context.Context, prometheus bool, version string, log zerolog.Logger) (
	o *observers, err error,
) {
	o = &observers{}
	o.Telemetry, err = telemetry.New(ctx, telemetry.Config{Prometheus: prometheus, Version: version, Log: log})
	if err != nil {
		return nil, err
	}
	if c.audit != "" {
		o.audit, err = audit.Open(audit.Config{
			File: c.audit, MaxBytes: int64(c.auditBytes), MaxFiles: c.auditFiles, Log: log,
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--audit: %w", err), o.close())
		}
	}
	return o, nil
}

// closeTimeout bounds the end of each observer: a collector may not answer.
const closeTimeout = 3 * time.Second

// export ends metrics and traces, after the last export.
func (o *observers) export() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = o.Shutdown(ctx) // a collector that does not answer was logged before
}

func (o *observers) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	if err := o.audit.Close(ctx); err != nil {
		errs = append(errs, fmt.Errorf("--audit: %w", err))
	}
	return errors.Join(errs...)
}
