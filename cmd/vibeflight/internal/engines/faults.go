package engines

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// faultInterval is the minimum time between two log lines about one device: a broken one may fail
// with every chunk.
const faultInterval = time.Second

// faults counts and logs the faults of devices.
type faults struct {
	log zerolog.Logger

	mu       sync.Mutex
	byDevice map[string]*deviceFaults
}

// deviceFaults are those of one device.
type deviceFaults struct {
	all    int64
	silent int64 // since the last log line
	logged time.Time
	last   error
}

// add implements slots.Config.Fault.
func (f *faults) add(device string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byDevice == nil {
		f.byDevice = map[string]*deviceFaults{}
	}
	c := f.byDevice[device]
	if c == nil {
		c = &deviceFaults{}
		f.byDevice[device] = c
	}
	c.all++
	c.last = err
	now := time.Now()
	if c.all > 1 && now.Sub(c.logged) < faultInterval {
		c.silent++
		return
	}
	line := f.log.Warn().Err(err).Str("device", device)
	if c.silent > 0 {
		line.Int64("suppressed", c.silent)
	}
	line.Msg("a GPU failed: the CPU engine reads its rows")
	c.silent, c.logged = 0, now
}

// count returns the number of faults of a device, and the last one.
func (f *faults) count(device string) (n int64, last string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.byDevice[device]
	if c == nil {
		return 0, ""
	}
	return c.all, oneLine(c.last)
}
