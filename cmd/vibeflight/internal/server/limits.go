package server

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/admission"
)

// limitFlags are the limits of users. 0 is no limit.
type limitFlags struct {
	maxCalls    int           // calls of all users that run at a time
	userCalls   int           // of one user
	userQueries int           // SQL queries of one user that run at a time
	userParses  int           // parses of one user that run at a time
	userWaiting int           // calls of one user that wait
	queueTime   time.Duration // of one of them
	userBytes   units.Size    // of rows sent to a user in a second
	resultRows  int64         // of one answer
	queryTime   time.Duration // that one query is computed
}

func (c *limitFlags) flags(f *pflag.FlagSet) {
	f.IntVar(&c.maxCalls, "max-calls", admission.DefaultMaxCalls,
		"how many calls run at a time, of all users; the others wait, and users take turns; 0 is no limit")
	f.IntVar(&c.userCalls, "user-calls", admission.DefaultUserCalls,
		"how many calls of a user run at a time; a user is a login, or else a client's address; 0 is no limit")
	f.IntVar(&c.userQueries, "user-queries", 0, "how many SQL queries of a user run at a time; 0 is no limit")
	f.IntVar(&c.userParses, "user-parses", 0, "how many files are parsed for a user at a time; 0 is no limit")
	f.IntVar(&c.userWaiting, "user-waiting", admission.DefaultUserWaiting,
		"how many calls of a user may wait for their turn; those beyond are ResourceExhausted")
	f.DurationVar(&c.queueTime, "queue-timeout", admission.DefaultQueueTime,
		"how long a call may wait for its turn; then it is ResourceExhausted")
	f.Var(&c.userBytes, "user-bytes-per-second", "how much is sent to a user per second, over all streams, as 50MB; "+
		"0 is no limit")
	f.Int64Var(&c.resultRows, "max-result-rows", 0, "how many rows one answer may have; 0 is no limit")
	f.DurationVar(&c.queryTime, "query-timeout", 0,
		"how long a SQL query may be computed, without the time in which its client does not read; 0 is no limit")
}

func (c *limitFlags) check() error {
	for name, n := range map[string]int64{
		"max-calls": int64(c.maxCalls), "user-calls": int64(c.userCalls), "user-queries": int64(c.userQueries),
		"user-parses": int64(c.userParses), "user-bytes-per-second": int64(c.userBytes),
		"max-result-rows": c.resultRows,
		"query-timeout":   int64(c.queryTime),
	} {
		if n < 0 {
			return usage.Errorf("--%s: %d is less than 0", name, n)
		}
	}
	switch {
	case c.userWaiting < 1:
		return usage.Errorf("--user-waiting: %d is less than 1", c.userWaiting)
	case c.queueTime <= 0:
		return usage.Errorf("--queue-timeout: %v is not greater than 0", c.queueTime)
	}
	return nil
}

// waitingShare is the part of --max-streams that may wait. The rest is for calls that run.
const waitingShare = 2

// limits are those of a user without a rule.
func (c *limitFlags) limits() admission.Limits {
	return admission.Limits{
		Calls: c.userCalls, Queries: c.userQueries, Parses: c.userParses, BytesPerSecond: int64(c.userBytes),
		ResultRows: c.resultRows, QueryTime: c.queryTime,
	}
}

// admission returns the control of a server with the flags, and the rules of the file.
func (c *Config) admission() *admission.Control {
	return admission.New(admission.Config{
		Limits: c.Limits.limits(), Rules: c.File.Limits,
		MaxCalls: c.Limits.maxCalls, MaxParses: catalog.DefaultMaxParses,
		Queue: admission.Queue{
			All: max(1, c.MaxStreams/waitingShare), User: cmp.Or(c.Limits.userWaiting, admission.DefaultUserWaiting),
			Time: c.Limits.queueTime,
		},
	})
}

// addReloads registers what this file and the catalog can read again.
func (c *Config) addReloads(files *catalog.Catalog, control *admission.Control) {
	c.reload.add("the folders", func(ctx context.Context) error {
		return files.Refresh(access.With(ctx, access.All))
	})
	if c.Config != "" {
		c.reload.add("[[limits]] of "+c.Config, func(context.Context) error {
			rules, err := settings.LimitsOf(c.Config)
			if err == nil {
				control.SetLimits(c.Limits.limits(), rules)
			}
			return err
		})
	}
}
