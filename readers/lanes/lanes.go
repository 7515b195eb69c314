// Package lanes has what cards need to parse chunks of text, whatever their format: memory for
// their text, streams, memory for the work on them, and page-locked memory for what comes and goes.
// It is taken once and serves all formats, file by file and chunk by chunk.
//
//	file --pread, several at once--> ring --lane's stream--> text of a lane --kernels--> columns --lane's stream--> results --> batches
//
// It knows bytes, lanes and cards: no row and no format. readers/internal/device puts a format's
// parser on it.
package lanes

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Config is what may be taken of cards, and who is told of their faults. The zero value is one of
// defaults.
type Config struct {
	// Memory is how many bytes of device memory may be taken on each card, for all formats
	// together; 0: the smaller of DefaultMemory and a quarter of the card's (--gpu-memory).
	Memory int64

	// Fault is told of each fault of a card, by its CardName: a call that failed, memory that ran
	// out, a card that is gone. The rows at hand are read by the CPU engine, so whoever waits for
	// them notices nothing. It may be called from several goroutines; nil: nobody is told.
	Fault func(card string, err error)

	// Plan says what each card takes, where Memory does not. Only tests set it.
	Plan Plan
}

// DefaultMemory is how many bytes of device memory are taken at most where nobody says, on a card
// that has four times as much.
const DefaultMemory = 1 << 30

// of is how many bytes may be taken of a card.
func (c Config) of(card *kernels.Set) int64 {
	if c.Memory > 0 {
		return c.Memory
	}
	return min(DefaultMemory, card.Device().Info().MemoryBytes/4)
}

// CardName names a card among those of a host, in logs and statistics: "GPU 0, NVIDIA H200".
func CardName(card *kernels.Set) string {
	info := card.Device().Info()
	return fmt.Sprintf("GPU %d, %s", info.Ordinal, info.Name)
}

// Pool lends the lanes of cards. Whoever has a chunk waits for a lane, first come first served, on
// whichever card there is one: files share cards by chunks, and so do cards a file. Its methods may
// be called from any goroutine.
type Pool struct {
	chunk int64 // text of a chunk
	cards []*card
	free  queue[*Lane]
	alive atomic.Int64 // lanes that are not lost
	fault func(card string, err error)
}

// Open takes of each card the memory that cfg allows, and some 500 MiB of page-locked memory. There
// is at least one card. The caller closes the pool, and the cards after it.
func Open(cards []*kernels.Set, cfg Config) (*Pool, error) {
	plan := cfg.Plan
	if plan == (Plan{}) {
		least := cfg.of(cards[0])
		for _, k := range cards[1:] {
			least = min(least, cfg.of(k))
		}
		var err error
		if plan, err = planFor(least); err != nil {
			return nil, err
		}
	}
	p := &Pool{chunk: plan.ChunkBytes, fault: cfg.Fault}
	for _, k := range cards {
		c, err := openCard(k, plan)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("memory for chunks of %d bytes: %w", plan.ChunkBytes, err), p.Close())
		}
		p.cards = append(p.cards, c)
	}
	for i := range plan.Lanes { // cards in turns
		for _, c := range p.cards {
			p.free.give(c.lanes[i])
		}
	}
	p.alive.Store(int64(len(cards) * plan.Lanes))
	return p, nil
}

// Close gives everything back, what formats keep on lanes too. No file may be under way.
func (p *Pool) Close() error {
	var err error
	for _, c := range p.cards {
		err = errors.Join(err, c.close())
	}
	p.cards = nil
	return err
}

// ChunkBytes is how much text a chunk has. A lane has room for a little more: the rest of the
// chunk's last row.
func (p *Pool) ChunkBytes() int64 { return p.chunk }

// Alive is how many lanes there are that are not lost.
func (p *Pool) Alive() int { return int(p.alive.Load()) }

// Take waits for a lane, for a chunk at an offset of a file. Files take turns; of one file it is
// the chunk that stands first which gets what is free. Not ok: no card is left.
func (p *Pool) Take(file any, at int64) (l *Lane, ok bool) { return p.free.take(file, at) }

// Give takes a lane back. err is what went wrong on its card, or nil; the Config's Fault is told of
// it. After an error that the card does not recover from nobody gets the lane any more, and with
// the last one everybody is sent away.
func (p *Pool) Give(l *Lane, err error) {
	if err != nil && p.fault != nil {
		p.fault(CardName(l.card.k), err)
	}
	if !errors.Is(err, gpu.ErrLost) {
		p.free.give(l)
		return
	}
	if p.alive.Add(-1) == 0 {
		p.free.shutDown()
	}
}
