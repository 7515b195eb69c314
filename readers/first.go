package readers

import "time"

// First names the rows at the beginning of a file that a caller waits for: those of the first
// batch. They are parsed before all others. It changes when rows come, and nothing else; a parser
// that reads a file in one go may ignore it.
//
// No row after End is begun before Rest is closed, so that processors, memory and devices are free
// for the first batch and for sending it. The other rows wait for at most firstLease after it.
type First struct {
	End  int64 // offset after the rows
	Rest <-chan struct{}
}

// firstLease is longer than it takes to send a batch of 10 MB, and to join it, on most hosts.
const firstLease = 20 * time.Millisecond
