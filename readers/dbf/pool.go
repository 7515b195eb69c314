package dbf

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/source"
)

// readerPool lends Readers of one table to several goroutines, so that their memory is reused.
type readerPool struct {
	header     *Header
	src        *source.File
	limits     readers.Limits
	blockBytes int
	free       parallel.FreeList[*Reader]
}

// take returns an unused Reader.
func (p *readerPool) take() (*Reader, error) {
	if r, ok := p.free.Take(); ok {
		return r, nil
	}
	return p.header.newReader(p.src, p.limits, p.blockBytes)
}

// give returns a Reader, whose last Run is no longer read, to the pool.
func (p *readerPool) give(r *Reader) { p.free.Give(r) }
