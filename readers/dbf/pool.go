package dbf

import (
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// pool lends Readers of one table to several goroutines, so that their memory serves again.
type pool struct {
	header     *Header
	src        *source.File
	limits     readers.Limits
	blockBytes int

	mu   sync.Mutex
	free []*Reader
}

// take gives a Reader that nobody uses.
func (p *pool) take() (*Reader, error) {
	if r := p.unused(); r != nil {
		return r, nil
	}
	return p.header.newReader(p.src, p.limits, p.blockBytes)
}

func (p *pool) unused() *Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return nil
	}
	r := p.free[n-1]
	p.free = p.free[:n-1]
	return r
}

// give takes back a Reader, of whose last Run nothing is read any more.
func (p *pool) give(r *Reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, r)
}
