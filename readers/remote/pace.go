package remote

import (
	"sync"
	"time"
)

// pace is how fast the requests to one store are answered.
type pace struct {
	mu   sync.Mutex
	rate float64 // bytes per second of one request, an average that favors recent ones; 0: not known
}

// Parameters of a pace.
const (
	firstRate = 1 << 20 // bytes per second, before the first answer
	newest    = 0.2     // weight of the newest answer
	usualLate = 4       // a multiple of the usual time that is not late yet
)

// record records an answer of some bytes.
func (p *pace) record(bytes int64, took time.Duration) {
	rate := float64(bytes) / max(took.Seconds(), 1e-6)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rate == 0 {
		p.rate = rate
	}
	p.rate += newest * (rate - p.rate)
}

// usual returns the time that an answer of some bytes may take without being late.
func (p *pace) usual(bytes int64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	rate := p.rate
	if rate == 0 {
		rate = firstRate
	}
	return time.Duration(usualLate * float64(bytes) / rate * float64(time.Second))
}
