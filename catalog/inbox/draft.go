package inbox

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
	"syscall"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Draft is a table that is being stored: an Arrow IPC file that is not listed yet. It is for one
// goroutine, which calls Commit or Abort.
//
// The file has a hidden name at the top of the root and is locked while it is written, so that the
// next catalog recognizes what a crash has left. It gets its own name in one step, once it is
// complete and on the disk.
type Draft struct {
	inbox  *Inbox
	name   string // of the entry
	rel    string // below the root
	mode   Mode
	schema *arrow.Schema
	dir    *os.Root
	temp   string // its current name below the root
	file   *limitedFile
	out    *ipc.FileWriter
	rows   int64
}

// WriteResult describes a stored table.
type WriteResult struct {
	Name  string `json:"name"`  // of the entry
	Rows  int64  `json:"rows"`  // that were sent
	Bytes int64  `json:"bytes"` // of the file
}

// draftPrefix is the prefix of the names of drafts.
const draftPrefix = ".vibeflight-put-"

// Draft begins to store a table under a name. Records of another schema are refused.
//
// Errors: *NameError, *ExistsError, *tree.NotFoundError, ErrReadOnly, and those of the file system.
func (c *Inbox) Draft(ctx context.Context, name string, mode Mode, schema *arrow.Schema) (*Draft, error) {
	full, rel, err := c.resolve(name)
	if err != nil {
		return nil, err
	}
	if err := c.allowed(ctx, full, mode); err != nil {
		return nil, err
	}
	dir, err := c.writable.Open()
	if err != nil {
		return nil, err
	}
	d := &Draft{inbox: c, name: full, rel: rel, mode: mode, schema: schema, dir: dir}
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
			return d.fsError(err)
		}
		if mine, err := system.TryLock(f); err == nil && mine && d.named(f) {
			d.file = &limitedFile{file: f, name: d.name, max: d.inbox.cfg.MaxStoredBytes}
			d.out, err = ipc.NewFileWriter(d.file, ipc.WithSchema(d.schema))
			if err != nil {
				d.Abort()
			}
			return err
		}
		_ = f.Close() // a catalog that was opened meanwhile took it for the rest of a crash, and removes it
	}
	return fmt.Errorf("%s: %d files that were made for it were removed", d.name, attempts)
}

// named reports whether f still has the draft's name.
func (d *Draft) named(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	current, err := d.dir.Lstat(d.temp)
	return err == nil && os.SameFile(mine, current)
}

// Write appends the rows of a record.
func (d *Draft) Write(rec arrow.Record) error {
	if err := d.out.Write(rec); err != nil {
		return d.fsError(err)
	}
	d.rows += rec.NumRows()
	return nil
}

// Commit makes the draft an entry: durable on the disk, and listed. After an error nothing of it is
// left.
func (d *Draft) Commit(ctx context.Context) (WriteResult, error) {
	stored, err := d.commit(ctx)
	if known := d.inbox.cfg.Known; known != nil {
		err = known(ctx, d.name, err)
	}
	return stored, err
}

func (d *Draft) commit(ctx context.Context) (WriteResult, error) {
	defer d.Abort()
	if err := d.out.Close(); err != nil {
		return WriteResult{}, d.fsError(err)
	}
	if err := d.readable(ctx); err != nil {
		return WriteResult{}, err
	}
	leave, err := d.inbox.storing.lock(ctx, d.rel)
	if err != nil {
		return WriteResult{}, err
	}
	defer leave()
	rows := d.rows
	if err := d.inbox.allowed(ctx, d.name, d.mode); err != nil { // the folder may have changed meanwhile
		return WriteResult{}, err
	}
	if d.mode.appends() {
		if err := d.prependStored(ctx); err != nil {
			return WriteResult{}, err
		}
	}
	bytes := d.file.written
	if err := d.publish(); err != nil {
		return WriteResult{}, d.fsError(err)
	}
	return WriteResult{Name: d.name, Rows: rows, Bytes: bytes}, d.inbox.cfg.Tree.Relist(ctx, d.inbox.writable, d.rel)
}

// readable returns an error for a table that the catalog's own reader would refuse.
func (d *Draft) readable(ctx context.Context) error {
	f, ok := d.inbox.cfg.Formats.ByExtension(d.rel)
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
	err := d.dir.MkdirAll(path.Dir(d.rel), 0o755)
	if errors.Is(err, fs.ErrExist) { // a part of the path is a file
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

// fsError turns an error of the file system into one for the client.
func (d *Draft) fsError(err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return &ExistsError{Name: d.name}
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return &NameError{d.name, errors.New("a folder has this name, or a file that of a folder in it")}
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &NameError{d.name, errors.New("is too long")}
	case system.Full(err), system.TooLarge(err):
		return &readers.LimitError{What: d.name, Flag: "the free room of the disk (--writable)", Limit: d.file.written}
	}
	return fmt.Errorf("%s: store it: %w", d.name, err)
}

// limitedFile is a file of at most max bytes.
type limitedFile struct {
	file         *os.File
	name         string
	written, max int64
}

// Seek implements io.Seeker, for Arrow's writer.
func (b *limitedFile) Seek(offset int64, whence int) (int64, error) {
	return b.file.Seek(offset, whence)
}

// Write implements io.Writer. It returns a *readers.LimitError if the file would exceed its limit.
func (b *limitedFile) Write(p []byte) (int, error) {
	if b.written+int64(len(p)) > b.max {
		return 0, &readers.LimitError{What: b.name, Flag: "--max-put-bytes", Limit: b.max}
	}
	n, err := b.file.Write(p)
	b.written += int64(n)
	return n, err
}

// prependStored puts the rows of the stored table, if there is one, before those of the draft.
func (d *Draft) prependStored(ctx context.Context) error {
	old, err := d.dir.Open(d.rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return d.fsError(err)
	}
	defer old.Close()
	both := &Draft{inbox: d.inbox, name: d.name, rel: d.rel, mode: d.mode, schema: d.schema, dir: d.dir}
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
		return d.fsError(err)
	}
	d.temp, both.temp, d.file, both.file = both.temp, d.temp, both.file, d.file
	return nil
}

// copy appends the rows of an Arrow file.
func (d *Draft) copy(ctx context.Context, from *os.File) (err error) {
	defer func() {
		if p := recover(); p != nil { // Arrow's reader, on a file of another program
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
		return &NameError{d.name, &DifferenceError{what}}
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

// DifferenceError says how the columns of a stored table differ from those of the rows to append.
type DifferenceError struct{ What string }

func (e *DifferenceError) Error() string {
	return "the table that is there has other columns: " + e.What
}

// differs describes the difference of two schemas, or returns "". Their metadata, which pandas
// uses, may differ.
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

// syncFolders makes the names of a file and of its folders durable.
func syncFolders(dir *os.Root, rel string) error {
	for at := path.Dir(rel); ; at = path.Dir(at) {
		f, err := dir.Open(at)
		if err != nil {
			return err
		}
		if err := errors.Join(system.SyncFolder(f), f.Close()); err != nil || at == "." {
			return err
		}
	}
}

// removeDrafts removes the drafts that a crash has left: those that no process has locked.
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
		f, err := system.OpenPlainIn(dir, name, os.O_RDONLY, 0)
		if err != nil {
			continue // it was removed, or is not a draft
		}
		if mine, _ := system.TryLock(f); mine {
			err = dir.Remove(name)
		}
		if err := errors.Join(err, f.Close()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
