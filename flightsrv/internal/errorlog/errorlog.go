// Package errorlog logs the errors of clients, of which there may be thousands per second.
package errorlog

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// Period is the interval in which one error of each kind is logged.
const Period = time.Second

// Sampler logs one error of each kind in a period. Its zero value is ready, and safe for concurrent
// use.
type Sampler struct {
	Period time.Duration // 0: the constant

	mu    sync.Mutex
	kinds map[Kind]*counter
}

// Kind identifies errors that are counted together.
type Kind struct{ What, Code string } // the method and the code, or what is refused

// counter lets one event pass in each period, and counts the others.
type counter struct {
	zerolog.BurstSampler
	suppressed atomic.Int64
}

type rest struct{ sampler *counter }

// Sample counts an event that is not logged.
func (c rest) Sample(zerolog.Level) bool {
	c.sampler.suppressed.Add(1)
	return false
}

// sampler returns the sampler of a kind. There are few kinds, since an unknown method makes no
// call.
func (m *Sampler) sampler(k Kind) *counter {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.kinds[k]
	if r == nil {
		r = &counter{BurstSampler: zerolog.BurstSampler{Burst: 1, Period: cmp.Or(m.Period, Period)}}
		r.NextSampler = rest{r}
		if m.kinds == nil {
			m.kinds = map[Kind]*counter{}
		}
		m.kinds[k] = r
	}
	return r
}

// Event begins the log line of an error; nil if it is not logged. The line has the number of errors
// that were suppressed since the last one.
func (m *Sampler) Event(log zerolog.Logger, k Kind) *zerolog.Event {
	r := m.sampler(k)
	log = log.Sample(r)
	e := log.Info()
	if e.Enabled() {
		if n := r.suppressed.Swap(0); n > 0 {
			e = e.Int64("suppressed", n)
		}
	}
	return e
}
