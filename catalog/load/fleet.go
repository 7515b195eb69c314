package load

import (
	"context"
	"time"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/tables"
)

// work is the parse of a file, which one replica of a fleet does for all.
type work struct {
	loader *Loader
	job    job.Job
	record *persist.Record // of the file, as it was read last
	found  *persist.Data   // the table that another replica has made
	queued time.Duration   // wait for the slot of the parse
	lease.Work
}

func (c *Loader) work(f *tables.Call, j job.Job, record *persist.Record) *work {
	w := &work{loader: c, job: j, record: record}
	w.Work = lease.Work{
		Name: j.Entry.Name, Done: w.done, Slot: w.slot, Progress: f.Progress, Waits: f.Waits,
	}
	return w
}

// begin waits for the turn of this replica to parse a file. It returns nil if w.found is the table. An
// archive without a folder has no tables for other replicas: the file is parsed without a lease.
func (c *Loader) begin(ctx context.Context, w *work) (*lease.Turn, error) {
	k := c.Leases
	if !c.Archive.OnDisk() {
		k = nil
	}
	if k != nil {
		w.Key = c.Archive.WorkKey(w.job)
	}
	return k.Begin(ctx, &w.Work)
}

// done looks for the table that another replica may have made. Without a record, the archive may have
// to read the file for its digest. Load has done that before, and it is done again after a wait.
func (w *work) done(ctx context.Context, waited bool) bool {
	a := w.loader.Archive
	if w.job.Maker == nil {
		w.record = a.Recorded(ctx, w.job)
		if !waited && !w.recorded() {
			return false
		}
	}
	w.found = a.Find(ctx, w.job, w.record, waited)
	return w.found != nil
}

// recorded reports whether the record is of the present version of the file.
func (w *work) recorded() bool { return w.record != nil && w.record.Identity == w.job.Entry.Identity }

// slot waits until the file may be parsed.
func (w *work) slot(ctx context.Context) (free func(), err error) {
	began := time.Now()
	free, err = w.loader.Slot(ctx)
	w.queued = time.Since(began)
	return free, err
}
