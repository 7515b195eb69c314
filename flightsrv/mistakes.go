package flightsrv

import (
	"cmp"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// mistakePeriod is how often a mistake of clients is logged, each kind by itself.
const mistakePeriod = time.Second

// mistakes has few of the mistakes of clients logged: a client can make thousands a second.
type mistakes struct {
	period time.Duration // as the constant says; tests have more time

	mu    sync.Mutex
	kinds map[mistake]*repeated
}

// mistake is a kind of them.
type mistake struct{ what, code string } // the method and the code, or what is refused

// repeated lets one event pass in a period, and counts the others.
type repeated struct {
	zerolog.BurstSampler
	suppressed atomic.Int64
}

type counter struct{ of *repeated }

// Sample counts an event that is not logged.
func (c counter) Sample(zerolog.Level) bool {
	c.of.suppressed.Add(1)
	return false
}

// of gives the sampler of a kind. There are few kinds: methods that are not known have no call.
func (m *mistakes) of(k mistake) *repeated {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.kinds[k]
	if r == nil {
		r = &repeated{BurstSampler: zerolog.BurstSampler{Burst: 1, Period: cmp.Or(m.period, mistakePeriod)}}
		r.NextSampler = counter{r}
		if m.kinds == nil {
			m.kinds = map[mistake]*repeated{}
		}
		m.kinds[k] = r
	}
	return r
}

// event begins the line of a mistake, which is nil if it isn't logged. It has the number of those
// that were not since the last line.
func (m *mistakes) event(log zerolog.Logger, k mistake) *zerolog.Event {
	r := m.of(k)
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
	e := s.mistakes.event(s.cfg.Log, mistake{what: what})
	if client != nil && client.String() != "" {
		e = e.Str("client", client.String())
	}
	e.Str("error", what).Msg("refused")
}

// refused logs a connection that the server closes, and why.
func (s *service) refused(client net.Addr, why error) {
	s.mistakes.event(s.cfg.Log, mistake{what: why.Error()}).Str("client", client.String()).Err(why).Msg(
		"the connection is closed",
	)
}
