package catalog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Draft is a table on its way to be an entry of the writable root: an Arrow IPC file that nobody
// sees. It is for one goroutine, which calls Commit or Abort.
//
// The file has a hidden name at the top of the root and is locked as long as it is written, so that
// the next catalog knows what a crash has left. It gets its own name in one step, when it is whole
// and on the disk.
type Draft struct {
	c      *Catalog
	name   string // of the entry
	rel    string // below the root
	mode   Mode
	schema *arrow.Schema
	dir    *os.Root
	temp   string // its name below the root, now
	file   *bounded
	out    *ipc.FileWriter
	rows   int64
}

// WriteResult says what a draft has become.
type WriteResult struct {
	Name  string `json:"name"`  // of the entry
	Rows  int64  `json:"rows"`  // that were sent
	Bytes int64  `json:"bytes"` // of the file
}

// draftPrefix begins the names of drafts.
const draftPrefix = ".vibeflight-put-"

// Draft begins a table that will have a name, if that can be. Records of other schemas are refused.
//
// Errors: *NameError, *ExistsError, *NotFoundError, ErrReadOnly, and those of the file system.
func (c *Catalog) Draft(name string, mode Mode, schema *arrow.Schema) (*Draft, error) {
	full, rel, err := c.place(name)
	if err != nil {
		return nil, err
	}
	if err := c.allowed(full, mode); err != nil {
		return nil, err
	}
	dir, err := c.writable.open()
	if err != nil {
		return nil, err
	}
	d := &Draft{c: c, name: full, rel: rel, mode: mode, schema: schema, dir: dir}
	if err := d.create(); err != nil {
		return nil, err
	}
	return d, nil
}

// create makes the file and locks it.
func (d *Draft) create() error {
	const attempts = 16
	for range attempts {
		d.temp = draftPrefix + rand.Text()
		f, err := d.dir.OpenFile(d.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return d.wrong(err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil && d.named(f) {
			d.file = &bounded{file: f, name: d.name, most: d.c.cfg.MaxStoredBytes}
			d.out, err = ipc.NewFileWriter(d.file, ipc.WithSchema(d.schema))
			if err != nil {
				d.Abort()
			}
			return err
		}
		_ = f.Close() // a catalog that was opened meanwhile took it for one of a crash, and removes it
	}
	return fmt.Errorf("%s: %d files that were made for it were removed", d.name, attempts)
}

// named reports whether f still has the draft's name.
func (d *Draft) named(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := d.dir.Lstat(d.temp)
	return err == nil && os.SameFile(mine, there)
}

// Write appends the rows of a record.
func (d *Draft) Write(rec arrow.Record) error {
	if err := d.out.Write(rec); err != nil {
		return d.wrong(err)
	}
	d.rows += rec.NumRows()
	return nil
}

// Commit makes the draft the entry, on the disk for good and listed. After an error there is
// nothing of it.
func (d *Draft) Commit(ctx context.Context) (WriteResult, error) {
	defer d.Abort()
	if err := d.out.Close(); err != nil {
		return WriteResult{}, d.wrong(err)
	}
	if err := d.readable(ctx); err != nil {
		return WriteResult{}, err
	}
	leave, err := d.c.storing.enter(ctx, d.rel)
	if err != nil {
		return WriteResult{}, err
	}
	defer leave()
	rows := d.rows
	if err := d.c.allowed(d.name, d.mode); err != nil { // others may have come meanwhile
		return WriteResult{}, err
	}
	if d.mode.appends() {
		if err := d.behind(ctx); err != nil {
			return WriteResult{}, err
		}
	}
	bytes := d.file.written
	if err := d.publish(); err != nil {
		return WriteResult{}, d.wrong(err)
	}
	return WriteResult{Name: d.name, Rows: rows, Bytes: bytes}, d.c.relist(ctx, d.rel)
}

// readable gives an error for a table that the catalog's own reader would refuse: what nobody can
// read is not stored.
func (d *Draft) readable(ctx context.Context) error {
	f, ok := d.c.cfg.Formats.ByExtension(d.rel)
	if !ok {
		return nil
	}
	src, err := source.OpenIn(d.dir, d.name, d.temp)
	if err != nil {
		return err
	}
	defer src.Close()
	opts, err := f.ParseOptions(nil)
	if err == nil {
		_, err = f.Open(ctx, src, opts)
	}
	return err
}

// publish gives the file its name.
func (d *Draft) publish() error {
	if err := d.file.file.Sync(); err != nil {
		return err
	}
	err := d.dir.MkdirAll(parent(d.rel), 0o755)
	if errors.Is(err, fs.ErrExist) { // as something that is no folder
		return syscall.ENOTDIR
	}
	if err != nil {
		return err
	}
	if d.mode == Create {
		// A link, unlike a rename, replaces nothing: another server may store in the folder too.
		err := d.dir.Link(d.temp, d.rel)
		if err == nil || !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EPERM) {
			if err == nil {
				err = syncFolders(d.dir, d.rel)
			}
			return err
		}
	}
	if err := d.dir.Rename(d.temp, d.rel); err != nil {
		return err
	}
	return syncFolders(d.dir, d.rel)
}

// Abort removes the draft. After Commit or Abort it does nothing.
func (d *Draft) Abort() {
	if d.file == nil {
		return
	}
	_ = d.dir.Remove(d.temp) // it may have another name now
	_ = d.file.file.Close()
	d.file = nil
}

// wrong says what an error of the file system means to who stores.
func (d *Draft) wrong(err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return &ExistsError{Name: d.name}
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return &NameError{d.name, errors.New("a folder has this name, or a file that of a folder in it")}
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &NameError{d.name, errors.New("is too long")}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return &readers.LimitError{What: d.name, Flag: "the free room of the disk (--writable)", Limit: d.file.written}
	}
	return fmt.Errorf("%s: store it: %w", d.name, err)
}

// bounded is a file of at most so many bytes.
type bounded struct {
	file          *os.File
	name          string
	written, most int64
}

// Seek is that of the file, for Arrow's writer.
func (b *bounded) Seek(offset int64, whence int) (int64, error) { return b.file.Seek(offset, whence) }

// Write writes, or gives a *readers.LimitError.
func (b *bounded) Write(p []byte) (int, error) {
	if b.written+int64(len(p)) > b.most {
		return 0, &readers.LimitError{What: b.name, Flag: "--max-put-bytes", Limit: b.most}
	}
	n, err := b.file.Write(p)
	b.written += int64(n)
	return n, err
}

// behind puts the rows of the draft behind those of the table that has its name, if there is one.
func (d *Draft) behind(ctx context.Context) error {
	old, err := d.dir.Open(d.rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return d.wrong(err)
	}
	defer old.Close()
	both := &Draft{c: d.c, name: d.name, rel: d.rel, mode: d.mode, schema: d.schema, dir: d.dir}
	if err := both.create(); err != nil {
		return err
	}
	defer both.Abort()
	for _, from := range []*os.File{old, d.file.file} {
		if err := both.copy(ctx, from); err != nil {
			return err
		}
	}
	if err := both.out.Close(); err != nil {
		return d.wrong(err)
	}
	d.temp, both.temp, d.file, both.file = both.temp, d.temp, both.file, d.file
	return nil
}

// copy appends the rows of a file.
func (d *Draft) copy(ctx context.Context, from *os.File) (err error) {
	defer func() {
		if p := recover(); p != nil { // Arrow's reader, over a file that somebody else has put there
			err = &NameError{d.name, fmt.Errorf("the file that is there can't be read: %v", p)}
		}
	}()
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r, err := ipc.NewFileReader(from)
	if err != nil {
		return &NameError{d.name, fmt.Errorf("the file that is there can't be read: %w", err)}
	}
	defer r.Close()
	if what := differs(r.Schema(), d.schema); what != "" {
		return &NameError{d.name, fmt.Errorf("the table that is there has other columns: %s", what)}
	}
	for i := range r.NumRecords() {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := r.Record(i)
		if err != nil {
			return &NameError{d.name, fmt.Errorf("the file that is there can't be read: %w", err)}
		}
		if err := d.Write(rec); err != nil {
			return err
		}
	}
	return nil
}

// differs says in what two schemas differ, or "". What is said of the schema as a whole, as pandas
// does, may.
func differs(have, want *arrow.Schema) string {
	if have.NumFields() != want.NumFields() {
		return fmt.Sprintf("%d, not %d", have.NumFields(), want.NumFields())
	}
	for i, f := range have.Fields() {
		if g := want.Field(i); !f.Equal(g) {
			return fmt.Sprintf("column %d is %v, not %v", i+1, f, g)
		}
	}
	return ""
}

// syncFolders makes the names last on the way to a file.
func syncFolders(dir *os.Root, rel string) error {
	for at := parent(rel); ; at = parent(at) {
		f, err := dir.Open(at)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil || at == "." {
			return err
		}
	}
}

// removeDrafts removes what a crash has left: drafts that nobody has locked.
func removeDrafts(dir *os.Root) error {
	list, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer list.Close()
	names, err := list.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, draftPrefix) {
			continue
		}
		f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue // it went, or is none of ours
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			err = dir.Remove(name)
		}
		if err := errors.Join(err, f.Close()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// turns gives one at a time its turn with a name.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when the turn is over
}

// enter waits for the turn. The caller calls leave.
func (t *turns) enter(ctx context.Context, name string) (leave func(), err error) {
	for {
		t.mu.Lock()
		other, taken := t.taken[name]
		if !taken {
			mine := make(chan struct{})
			if t.taken == nil {
				t.taken = map[string]chan struct{}{}
			}
			t.taken[name] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.taken, name)
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// relist looks at the folders of a file, so that lists have it, or have it no more.
func (c *Catalog) relist(ctx context.Context, rel string) error {
	places := map[place]bool{}
	for at := parent(rel); ; at = path.Dir(at) {
		places[place{c.writable, at}] = true
		if at == "." {
			return c.renewAll(ctx, places)
		}
	}
}
