package host

import (
	"runtime"
	"sync"
	"time"
)

// ExtraProcessor returns Go's scheduler one processor more than there are cores as long as files are
// parsed. A worker computes on each core then, without a pause, and with no processor to spare the
// scheduler looks every 10 ms only which connections can be written to or have something to say.
// With one, the system shares the cores out, and whoever waits for rows that are there, or for a
// table that has long been parsed, gets them. Without a parse it is in the way: more threads than
// cores send rows no faster, and wait for each other.
type ExtraProcessor struct {
	cores int
	delay time.Duration // behind the last parse: a change stops all goroutines for a moment

	mu     sync.Mutex
	parses int        // under way
	change sync.Mutex // of the scheduler's processors
}

// NewExtraProcessor takes the processors that Go uses now as the cores of the machine.
func NewExtraProcessor() *ExtraProcessor {
	return &ExtraProcessor{cores: runtime.GOMAXPROCS(0), delay: time.Second}
}

// Parsing says that a parse begins; end is called when it is over. Neither waits for anything.
func (s *ExtraProcessor) Parsing() (end func()) {
	s.count(1)
	go s.adjust()
	return func() {
		s.count(-1)
		time.AfterFunc(s.delay, s.adjust)
	}
}

func (s *ExtraProcessor) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parses += n
}

// adjust has as many processors as the parses under way ask for.
func (s *ExtraProcessor) adjust() {
	s.change.Lock()
	defer s.change.Unlock()
	want := s.cores
	s.mu.Lock()
	if s.parses > 0 {
		want++
	}
	s.mu.Unlock()
	if runtime.GOMAXPROCS(0) != want {
		runtime.GOMAXPROCS(want)
	}
}
