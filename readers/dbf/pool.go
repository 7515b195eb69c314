package dbf

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/source"
)

// readerPool lends Readers of one table to several goroutines, so that their memory serves again.
type readerPool struct {
	header     *Header
	src        *source.File
	limits     readers.Limits
	blockBytes int
	free       parallel.FreeList[*Reader]
}

// take returns a Reader that nobody uses.
func (p *readerPool) take() (*Reader, error) {
	if r, ok := p.free.Take(); ok {
		return r, nil
	}
	return p.header.newReader(p.src, p.limits, p.blockBytes)
}

// give takes back a Reader, of whose last Run nothing is read any more.
func (p *readerPool) give(r *Reader) { p.free.Give(r) }
