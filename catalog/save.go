package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// save puts the table of a parse into the cache, behind the back of those who asked for it, and
// gives back its pin.
func (c *Catalog) save(j job, p *cacheEntry) {
	defer c.tables.release(p)
	defer func() {
		if r := recover(); r != nil {
			c.cfg.Log.Error().Str("name", j.entry.Name).Interface("panic", r).Stack().Msg("panic while saving a table")
		}
	}()
	select {
	case c.saving <- struct{}{}:
		defer func() { <-c.saving }()
	case <-c.ctx.Done():
		return
	}
	if c.tables.forgotten(p) {
		return
	}
	mapped, err := c.archive.save(c.ctx, j, p.tableData)
	if err == nil && c.tables.forgotten(p) {
		err = c.archive.forget(c.ctx, j)
	}
	if mapped != nil {
		c.tables.exchange(j, p, mapped)
	}
	if err != nil && c.ctx.Err() == nil && !errors.Is(err, source.ErrChanged) {
		c.archive.saveErrors.Add(1)
		c.cfg.Log.Warn().Err(err).Str("name",
			j.entry.Name).Msg("the parsed table is not in the cache: it is parsed again when it is not in memory " +
			"any more")
	}
}

// save puts a table that was just parsed into the cache, and what is known of its file into the
// store. The latter also where there is no room for the table: its rows are given as they come
// then, whenever the file is parsed again. Of a table in memory it gives the one that is mapped
// from the cache, if that can be opened.
func (a *archive) save(ctx context.Context, j job, l *tableData) (mapped *tableData, err error) {
	content, blocks, err := a.digest(ctx, j)
	if err != nil {
		return nil, err
	}
	key := a.tableKey(j, content)
	committed := a.commit(ctx, key, l)
	r, err := a.record(ctx, j, l.table)
	if err != nil {
		return nil, errors.Join(committed, err)
	}
	r.Content, r.Blocks = content[:], blocks
	a.put(ctx, r)
	if committed != nil {
		return nil, committed
	}
	if l.file == nil {
		mapped = a.open(j, key)
	}
	a.saves.Add(1)
	return mapped, nil
}

// commit gives the table's file its name; a table in memory gets a file first, unless there is one.
func (a *archive) commit(ctx context.Context, key cachedir.Key, l *tableData) error {
	if l.temp != nil {
		held, err := l.temp.Commit(key)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held, l.cacheKey = held, key
		return err
	}
	if held, ok, err := a.dir.Get(key); err == nil && ok {
		held.Release()
		return nil
	}
	temp, err := a.create(l.table.Bytes)
	if err != nil {
		return err
	}
	w := tablefile.NewWriter(evictingTemp{temp, a})
	err = w.Finish(ctx, l.table)
	if err = errors.Join(err, w.Close()); err != nil {
		return errors.Join(err, temp.Abort())
	}
	held, err := temp.Commit(key)
	if err == nil {
		held.Release()
	}
	return err
}

// record is what the store keeps of a parse.
func (a *archive) record(ctx context.Context, j job, t *readers.Table) (store.Record, error) {
	stats, err := columnStats(ctx, t, a.limits.Workers)
	if err != nil {
		return store.Record{}, err
	}
	schema, err := schemaMessage(geoarrow.Schema(t.Batches[0], t.CRS, geoarrow.Encoding{}))
	if err != nil {
		return store.Record{}, err
	}
	shape, err := json.Marshal(knownOf(t, a.limits))
	if err != nil {
		return store.Record{}, err
	}
	return store.Record{
		Key: storeKey(j), Identity: j.entry.Identity, Format: j.format.Name, FormatVersion: j.format.Version,
		OptionsJSON: j.options.JSON(),
		Schema:      schema, Shape: shape, Layers: t.Summary.Layers, Rows: t.Rows, TableBytes: t.Bytes,
		BBox: t.BBox, GeometryTypes: t.GeometryTypes, CRS: t.CRS.String(), Columns: stats,
		Engine: t.Engine, ParseTime: t.ParseTime, ParsedAt: time.Now(),
	}, nil
}

// schemaMessage is the schema as an encapsulated IPC message.
func schemaMessage(s *arrow.Schema) ([]byte, error) {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		return nil, err
	}
	const endOfStream = 8 // bytes behind the schema
	return b.Bytes()[:b.Len()-endOfStream], nil
}
