package tiles

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/readers/source"
)

// tableKey identifies what a caller may know of one version of a table.
type tableKey struct {
	name, layer, version string
	scope                string          // the rights of the caller, if they hide a part of the table
	identity             source.Identity // of the file
}

// key identifies a tile.
type key struct {
	tableKey
	columns string
	z, x, y uint32
}

func tableKeyOf(ctx context.Context, ref *catalog.TableRef) tableKey {
	k := tableKey{name: ref.Entry.Name, layer: ref.Entry.Layer, version: ref.Version, identity: ref.Entry.Identity}
	if s := access.Of(ctx); s != nil && catalog.IsPart(ref) {
		k.scope = s.Key()
	}
	return k
}

func keyOf(ctx context.Context, ref *catalog.TableRef, columns []int, z, x, y uint32) key {
	return key{tableKeyOf(ctx, ref), fmt.Sprint(columns), z, x, y}
}

// cache keeps the tiles that were used last, up to a number of bytes. Callers that request one tile
// at the same time share its making.
type cache struct {
	limit int64

	mu     sync.Mutex
	bytes  int64
	recent *list.List    // of *cacheEntry, the most recently used first
	making map[key]*call // that are being made
	tables map[string]*tableTiles
}

// tableTiles are the tiles of one entry of the catalog.
type tableTiles struct {
	identity source.Identity // of the file that they are of
	tiles    map[key]*list.Element
}

// cacheEntry is a tile. No bytes: the tile is empty.
type cacheEntry struct {
	key  key
	tile []byte
}

// entryOverhead is about what a tile needs in addition to its bytes.
const entryOverhead = 512

func (e *cacheEntry) size() int64 { return int64(len(e.tile)) + entryOverhead }

// call is a tile that is being made.
type call struct {
	done chan struct{}
	tile []byte
	err  error
}

func newCache(limit int64) *cache {
	return &cache{
		limit: limit, recent: list.New(), making: map[key]*call{},
		tables: map[string]*tableTiles{},
	}
}

// get returns a tile of the cache, or makes it. If the caller that makes it leaves, another one of
// those that wait makes it.
func (c *cache) get(ctx context.Context, k key, f func(context.Context) ([]byte, error)) ([]byte, error) {
	for {
		tile, ok, m, first := c.begin(k)
		switch {
		case ok:
			return tile, nil
		case first:
			return c.run(ctx, k, m, f)
		}
		select {
		case <-m.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !isEndOfCall(m.err) {
			return m.tile, m.err
		}
	}
}

// isEndOfCall reports whether an error says that a call has ended, and nothing of the tile.
func isEndOfCall(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// begin returns a tile of the cache, or what makes it. first says that the caller makes it.
func (c *cache) begin(k key) (tile []byte, ok bool, m *call, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(k.tableKey)
	if at := c.find(k); at != nil {
		c.recent.MoveToFront(at)
		return at.Value.(*cacheEntry).tile, true, nil, false
	}
	if m := c.making[k]; m != nil {
		return nil, false, m, false
	}
	m = &call{done: make(chan struct{}), err: context.Canceled}
	c.making[k] = m
	return nil, false, m, true
}

// forget removes the tiles of a file that has changed since; c.mu is held.
func (c *cache) forget(k tableKey) {
	if t := c.tables[k.name]; t != nil && t.identity != k.identity {
		for _, at := range t.tiles {
			c.remove(at)
		}
	}
}

// put keeps a tile; c.mu is held.
func (c *cache) put(e *cacheEntry) {
	if e.size() > c.limit {
		return
	}
	c.forget(e.key.tableKey)
	t := c.tables[e.key.name]
	if t == nil {
		t = &tableTiles{e.key.identity, map[key]*list.Element{}}
		c.tables[e.key.name] = t
	}
	t.tiles[e.key] = c.recent.PushFront(e)
	for c.bytes += e.size(); c.bytes > c.limit; {
		c.remove(c.recent.Back())
	}
}

// run makes a tile, and keeps it.
func (c *cache) run(ctx context.Context, k key, m *call, f func(context.Context) ([]byte, error)) ([]byte, error) {
	defer func() { // also after a panic
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.making, k)
		close(m.done)
		if m.err == nil {
			c.put(&cacheEntry{k, m.tile})
		}
	}()
	m.tile, m.err = f(ctx)
	return m.tile, m.err
}

// find returns a tile, or nil; c.mu is held.
func (c *cache) find(k key) *list.Element {
	if t := c.tables[k.name]; t != nil {
		return t.tiles[k]
	}
	return nil
}

// remove removes a tile; c.mu is held.
func (c *cache) remove(at *list.Element) {
	e := c.recent.Remove(at).(*cacheEntry)
	t := c.tables[e.key.name]
	delete(t.tiles, e.key)
	if len(t.tiles) == 0 {
		delete(c.tables, e.key.name)
	}
	c.bytes -= e.size()
}
