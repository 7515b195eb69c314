package host

import (
	"runtime"
	"sync"
	"time"
)

// ExtraProcessor adds one processor to Go's scheduler while files are parsed. A parse keeps a
// worker on each core busy. Without an idle processor, the scheduler polls the network only every
// 10 ms. With an extra one, the system shares the cores, and clients get rows that are ready, and
// tables that were parsed before. At other times it is removed: more threads than cores do not send
// rows faster, and wait for each other.
type ExtraProcessor struct {
	cores int
	delay time.Duration // after the last parse: a change stops all goroutines for a moment

	mu     sync.Mutex
	parses int        // in progress
	change sync.Mutex // of the number of processors
}

// NewExtraProcessor uses the current number of Go's processors as the number of cores.
func NewExtraProcessor() *ExtraProcessor {
	return &ExtraProcessor{cores: runtime.GOMAXPROCS(0), delay: time.Second}
}

// Parsing marks the start of a parse, and end marks its end. Neither waits.
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

// adjust sets the number of processors for the parses in progress.
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
