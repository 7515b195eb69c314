package persist

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Save writes a table that was just parsed to the folder, then to the shared cache, and then its
// file's record to the store: when another server finds the record, the table is there. It returns
// after all three. The record is written even if there is no room for the table: its rows are then
// streamed whenever the file is parsed again. For a table in memory, mapped is the same table mapped
// from the folder, or nil if that cannot be opened. held is the lease of the parse, or nil.
//
// A table that cannot be stored in the shared cache is no error.
func (a *Archive) Save(ctx context.Context, j job.Job, l *Data, held *lease.Lease) (mapped *Data, err error) {
	if j.Maker != nil {
		return a.saveMade(ctx, j, l)
	}
	content, blocks, err := a.digest(ctx, j)
	if err != nil {
		return nil, err
	}
	key := a.tableKey(j, content)
	a.keys.add(j, key)
	committed := a.commit(ctx, key, l)
	if committed == nil {
		a.upload(ctx, j.Entry.Name, key)
	}
	r, err := a.record(ctx, j, l.Table)
	if err != nil {
		return nil, errors.Join(committed, err)
	}
	r.Content, r.Blocks = content[:], blocks
	a.putHeld(ctx, held, r)
	if committed != nil {
		return nil, committed
	}
	if l.file == nil {
		mapped = a.openLocal(j, key)
	}
	a.saves.Add(1)
	return mapped, nil
}

// saveMade writes a table that a Maker has made to the folder. Its caller keeps the record of it.
func (a *Archive) saveMade(ctx context.Context, j job.Job, l *Data) (mapped *Data, err error) {
	key := a.tableKey(j, j.Maker.Digest())
	if err := a.commit(ctx, key, l); err != nil {
		return nil, err
	}
	a.upload(ctx, j.Entry.Name, key)
	a.saves.Add(1)
	return a.openLocal(j, key), nil
}

// ForgetMade removes the table of a job that has a Maker from the folder. The shared cache keeps it
// for other servers; for a while, this one does not use it.
func (a *Archive) ForgetMade(j job.Job) error {
	if !a.OnDisk() {
		return nil
	}
	key := a.tableKey(j, j.Maker.Digest())
	a.avoid(key)
	return a.dir.Drop(key)
}

// CountSaveError counts a table that could not be saved.
func (a *Archive) CountSaveError() { a.saveErrors.Add(1) }

// commit gives the table's file its final name. A table in memory is written first, unless its file
// exists.
func (a *Archive) commit(ctx context.Context, key cachedir.Key, l *Data) error {
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
	temp, err := a.create(l.Table.Bytes)
	if err != nil {
		return err
	}
	w := tablefile.NewWriter(evictingTemp{temp, a})
	err = w.Finish(ctx, l.Table)
	if err = errors.Join(err, w.Close()); err != nil {
		return errors.Join(err, temp.Abort())
	}
	held, err := temp.Commit(key)
	if err == nil {
		held.Release()
	}
	return err
}

// record returns the store's record of a parse.
func (a *Archive) record(ctx context.Context, j job.Job, t *readers.Table) (store.Record, error) {
	stats, err := columnStats(ctx, t, a.limits.Workers)
	if err != nil {
		return store.Record{}, err
	}
	return newRecord(j, t, stats, a.limits)
}

// newRecord returns the store's record of a table with the statistics of its columns.
func newRecord(j job.Job, t *readers.Table, stats []store.ColumnStats, limits readers.Limits) (store.Record, error) {
	schema, err := schemaMessage(geoarrow.Schema(t.Batches[0], t.CRS, geoarrow.Encoding{}))
	if err != nil {
		return store.Record{}, err
	}
	shape, err := json.Marshal(metaOf(t, limits))
	if err != nil {
		return store.Record{}, err
	}
	return store.Record{
		Key: StoreKey(j), Identity: j.Entry.Identity, Format: j.Format.Name, FormatVersion: j.Format.Version,
		OptionsJSON: j.Options.JSON(),
		Schema:      schema, Shape: shape, Layers: t.Summary.Layers, Rows: t.Rows, TableBytes: t.Bytes,
		BBox: t.BBox, GeometryTypes: t.GeometryTypes, CRS: t.CRS.String(), Columns: stats,
		Engine: t.Engine, ParseTime: t.ParseTime, ParsedAt: time.Now(),
	}, nil
}

// schemaMessage returns the schema as an encapsulated IPC message.
func schemaMessage(s *arrow.Schema) ([]byte, error) {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		return nil, err
	}
	const endOfStream = 8 // bytes after the schema
	return b.Bytes()[:b.Len()-endOfStream], nil
}
