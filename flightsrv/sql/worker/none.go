//go:build !linux

package worker

import (
	"os"
	"runtime"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// Other systems than Linux have the types, so that what is above them compiles, and no workers.
type (
	// Pool starts workers.
	Pool struct{ Source }
	// SharedBuffers is buffers in a memory file.
	SharedBuffers struct{}
)

// NewPool returns [duck.ErrNoSQL].
func NewPool(Config, duck.Resolver) (*Pool, error) { return nil, duck.ErrNoSQL }

// Socket is the descriptor of the socket that a worker is started with.
const Socket = 3

// Serve returns [duck.ErrNoSQL].
func Serve(*os.File, func(string) string) error { return duck.ErrNoSQL }

// Missing returns what workers lack here: everything.
func Missing() []string { return []string{"workers: they need Linux, not " + runtime.GOOS} }

// Share returns [duck.ErrNoSQL].
func Share(...[]byte) (*SharedBuffers, error) { return nil, duck.ErrNoSQL }

// Part is nil.
func (*SharedBuffers) Part(int) []byte { return nil }

// Retain does nothing.
func (*SharedBuffers) Retain() {}

// Release does nothing.
func (*SharedBuffers) Release() {}
