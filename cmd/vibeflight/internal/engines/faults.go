package engines

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// faultInterval is the time between two lines of the log about one card: a broken one fails with
// every chunk.
const faultInterval = time.Second

// faults counts what cards do wrong, and logs it.
type faults struct {
	log zerolog.Logger

	mu     sync.Mutex
	byCard map[string]*cardFaults
}

// cardFaults are those of one card.
type cardFaults struct {
	all    int64
	silent int64 // since the last line of the log
	logged time.Time
	last   error
}

// add is a slots.Config's Fault.
func (f *faults) add(card string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byCard == nil {
		f.byCard = map[string]*cardFaults{}
	}
	c := f.byCard[card]
	if c == nil {
		c = &cardFaults{}
		f.byCard[card] = c
	}
	c.all++
	c.last = err
	now := time.Now()
	if c.all > 1 && now.Sub(c.logged) < faultInterval {
		c.silent++
		return
	}
	line := f.log.Warn().Err(err).Str("card", card)
	if c.silent > 0 {
		line.Int64("suppressed", c.silent)
	}
	line.Msg("a GPU failed: the CPU engine reads the rows at hand")
	c.silent, c.logged = 0, now
}

// of says how many faults a card had, and the last one.
func (f *faults) of(card string) (n int64, last string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.byCard[card]
	if c == nil {
		return 0, ""
	}
	return c.all, oneLine(c.last)
}
