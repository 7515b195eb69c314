package flightsrv

import (
	"cmp"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// errorPeriod is the interval in which one error of each kind is logged.
const errorPeriod = time.Second

// errorSampler bounds the log of clients' errors: a client can cause thousands per second.
type errorSampler struct {
	period time.Duration // errorPeriod, unless a test sets it

	mu    sync.Mutex
	kinds map[errorKind]*kindSampler
}

// errorKind identifies errors that are counted together.
type errorKind struct{ what, code string } // the method and the code, or what is refused

// kindSampler lets one event pass in each period, and counts the others.
type kindSampler struct {
	zerolog.BurstSampler
	suppressed atomic.Int64
}

type suppressedCounter struct{ sampler *kindSampler }

// Sample counts an event that is not logged.
func (c suppressedCounter) Sample(zerolog.Level) bool {
	c.sampler.suppressed.Add(1)
	return false
}

// sampler returns the sampler of a kind. There are few kinds, since an unknown method makes no
// call.
func (m *errorSampler) sampler(k errorKind) *kindSampler {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.kinds[k]
	if r == nil {
		r = &kindSampler{BurstSampler: zerolog.BurstSampler{Burst: 1, Period: cmp.Or(m.period, errorPeriod)}}
		r.NextSampler = suppressedCounter{r}
		if m.kinds == nil {
			m.kinds = map[errorKind]*kindSampler{}
		}
		m.kinds[k] = r
	}
	return r
}

// event begins the log line of an error; nil if it is not logged. The line has the number of errors
// that were suppressed since the last one.
func (m *errorSampler) event(log zerolog.Logger, k errorKind) *zerolog.Event {
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

// overloaded logs a connection or a call that is refused because there are too many.
func (s *service) overloaded(what string, client net.Addr) {
	e := s.clientErrors.event(s.cfg.Log, errorKind{what: what})
	if client != nil && client.String() != "" {
		e = e.Str("client", client.String())
	}
	e.Str("error", what).Msg("refused")
}

// refused logs a connection that the server closes, and the reason.
func (s *service) refused(client net.Addr, why error) {
	s.clientErrors.event(s.cfg.Log, errorKind{what: why.Error()}).Str("client", client.String()).Err(why).Msg(
		"the connection is closed",
	)
}
