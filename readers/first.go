package readers

import "time"

// First gives priority to the rows of the first batch, which a caller waits for. They are parsed
// before all others. It affects only when rows arrive, and a parser that reads a file in one go may
// ignore it.
//
// No row after End is parsed until Rest is closed, so that processors, memory and devices are free
// for the first batch and for sending it. The other rows wait at most firstLease.
type First struct {
	End  int64 // offset after the rows
	Rest <-chan struct{}
}

// firstLease is longer than it takes to send a batch of 10 MB, and to join it, on most hosts.
const firstLease = 20 * time.Millisecond
