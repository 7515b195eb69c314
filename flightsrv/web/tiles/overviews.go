package tiles

import (
	"context"
	"sync"

	"github.com/vibeflight/vibeflight/catalog"
)

// overviews keeps the overviews that were used last, up to a number of bytes, and makes one at a
// time.
type overviews struct {
	cfg  Config
	rows int             // of a tile that needs no overview
	ctx  context.Context // canceled by close
	stop context.CancelFunc
	wait sync.WaitGroup
	turn chan struct{} // holds a value while one is made

	mu     sync.Mutex
	bytes  int64
	tables map[tableKey]*overviewCall
	clock  int64
}

// overviewCall is an overview, or the making of one.
type overviewCall struct {
	done     chan struct{}
	overview *overview
	err      error
	used     int64 // time of the last use, by overviews.clock
}

func newOverviews(cfg Config) *overviews {
	o := &overviews{cfg: cfg, rows: overviewRows, turn: make(chan struct{}, 1), tables: map[tableKey]*overviewCall{}}
	o.ctx, o.stop = context.WithCancel(context.Background())
	return o
}

func (o *overviews) close() {
	o.stop()
	o.wait.Wait()
}

// known returns the overview of a table if it is there, or nil.
func (o *overviews) known(k tableKey) *overview {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.tables[k]
	if c == nil {
		return nil
	}
	o.clock++
	c.used = o.clock
	return c.overview
}

// of returns the overview of a table. It is made once for all callers, and also if all of them
// leave: those of a map request other tiles of the table soon.
func (o *overviews) of(ctx context.Context, k tableKey, ref *catalog.TableRef, p projection) (*overview, error) {
	t := ref.Table
	if t.Rows*overviewRowBytes > 4*o.cfg.IndexBytes {
		return &overview{}, nil
	}
	o.mu.Lock()
	o.forget(k)
	c := o.tables[k]
	if c == nil {
		c = &overviewCall{done: make(chan struct{})}
		o.tables[k] = c
		release := ref.Retain()
		b := &overviewBuilder{
			table: t, projection: p, extent: int64(o.cfg.Extent), buffer: int64(o.cfg.Buffer),
			listRows: o.cfg.featureLimit(), leafRows: o.rows,
			bytes: o.cfg.IndexBytes / 2,
		}
		o.wait.Go(func() {
			if release != nil {
				defer release()
			}
			o.make(k, c, b)
		})
	}
	o.mu.Unlock()
	select {
	case <-c.done:
		return c.overview, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// make makes an overview. The error of a failed one goes to those that wait for it.
func (o *overviews) make(k tableKey, c *overviewCall, b *overviewBuilder) {
	select {
	case o.turn <- struct{}{}:
		made, err := b.build(o.ctx)
		<-o.turn
		o.mu.Lock()
		defer o.mu.Unlock()
		c.overview, c.err = made, err
	case <-o.ctx.Done():
		o.mu.Lock()
		defer o.mu.Unlock()
		c.err = o.ctx.Err()
	}
	close(c.done)
	if c.err != nil {
		delete(o.tables, k)
		return
	}
	o.clock++
	c.used = o.clock
	o.bytes += c.overview.bytes
	o.trim(k)
}

// trim removes the overviews that were not used for longest; o.mu is held.
func (o *overviews) trim(keep tableKey) {
	for o.bytes > o.cfg.IndexBytes {
		var oldest tableKey
		var found *overviewCall
		for k, c := range o.tables {
			if k != keep && c.overview != nil && (found == nil || c.used < found.used) {
				oldest, found = k, c
			}
		}
		if found == nil {
			return // the last one is needed by those that wait
		}
		o.remove(oldest)
	}
}

// forget removes the overviews of a file that has changed since; o.mu is held.
func (o *overviews) forget(now tableKey) {
	for k, c := range o.tables {
		if k.name == now.name && k.identity != now.identity && c.overview != nil {
			o.remove(k)
		}
	}
}

// remove removes an overview; o.mu is held.
func (o *overviews) remove(k tableKey) {
	o.bytes -= o.tables[k].overview.bytes
	delete(o.tables, k)
}
