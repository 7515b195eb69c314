package tablefile

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Writer writes the file of one table. Batches arrive one by one, with the types that their own
// rows allow. At the end Finish gets the batches of the table. After an error of the file, every
// method but Close returns that error. A Writer is for one goroutine.
type Writer struct {
	out      output
	views    windows
	appended map[*geoarrow.Columns]appendedBatch
	finished bool
}

// message is the place of one batch in the file, and the CRC-32C of its metadata followed by its
// body.
type message struct {
	offset, metadata, body int64
	sum                    uint32
}

// appendedBatch is a message that Append wrote, and its body in memory.
type appendedBatch struct {
	message
	body []byte
}

func (m message) end() int64 { return m.offset + m.metadata + m.body }

var (
	errLength   = errors.New("a slice of another length than its type and its rows ask for")
	errExtra    = errors.New("slices that the types have no use for")
	errFinished = errors.New("the file is finished")
	errMoved    = errors.New("it is not where it was written")
)

// NewWriter begins the file of a table in f, which is empty. The caller still closes f.
func NewWriter(f files.File) *Writer {
	w := &Writer{
		out:      output{file: f, buffer: make([]byte, 0, bufferBytes)},
		views:    windows{file: f},
		appended: map[*geoarrow.Columns]appendedBatch{},
	}
	w.out.write([]byte(arrowMark))
	w.out.pad()
	return w
}

// Bytes returns the current length of the file.
func (w *Writer) Bytes() int64 { return w.out.at() }

// Append writes a batch and returns it as views of the file's mapping, valid until Close. The
// caller need not keep c. Append returns an error if the slices do not match the rules of
// geoarrow.Columns.
func (w *Writer) Append(c *geoarrow.Columns) (*geoarrow.Columns, error) {
	if w.finished {
		return nil, w.error(errFinished)
	}
	m, err := w.write(c)
	if err != nil {
		return nil, err
	}
	body, err := w.views.view(m.offset+m.metadata, m.end())
	if err != nil {
		return nil, w.error(err)
	}
	mapped := clone(c)
	carver := carver{body: body}
	walk := walk{step: carver.step}
	if err := walk.batch(mapped, measure(c)); err != nil {
		return nil, w.error(err)
	}
	w.appended[mapped] = appendedBatch{m, body}
	return mapped, nil
}

// Finish completes the file of t with its batches, a spatial index for each, and the footer. It
// does not sync. A batch that Append returned, with the same slices, stays where it is; every other
// batch is written now. All batches must have the same columns and types. Everything in t except
// Check and Search is stored. The file is immutable afterwards. If ctx ends, Finish returns its
// error soon after.
func (w *Writer) Finish(ctx context.Context, t *readers.Table) error {
	if w.finished {
		return w.error(errFinished)
	}
	w.finished = true
	if err := check(ctx, t); err != nil {
		return w.error(err)
	}
	messages := make([]message, len(t.Batches))
	for i, b := range t.Batches {
		if m, ok := w.appended[b]; ok && m.holds(b) {
			messages[i] = m.message
			delete(w.appended, b)
			continue
		}
		if err := ctx.Err(); err != nil {
			return w.error(err)
		}
		m, err := w.write(b)
		if err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
		messages[i] = m
	}
	w.out.begin()
	w.out.write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	indices, err := w.writeIndices(ctx, t)
	if err != nil {
		return w.error(err)
	}
	description, err := describe(t, messages, indices).encode()
	if err != nil {
		return w.error(err)
	}
	if err := w.writeFooter(t, messages, description); err != nil {
		return w.error(err)
	}
	if w.out.flush(); w.out.err != nil {
		return w.error(w.out.err)
	}
	return nil
}

// Close ends the mappings of the batches that Append returned. It does not close the file.
func (w *Writer) Close() error {
	w.appended = nil
	if err := w.views.close(); err != nil {
		return w.error(err)
	}
	return nil
}

func (w *Writer) error(err error) error { return fmt.Errorf("%s: %w", w.out.file.Name(), err) }

// write writes one batch as one message and flushes it to the file.
func (w *Writer) write(c *geoarrow.Columns) (message, error) {
	if c.Rows < 0 || c.Geometry != nil && c.Geometry.Rows != c.Rows {
		return message{}, w.error(errLength)
	}
	var gather gatherer
	walk := walk{step: gather.step}
	if err := walk.batch(clone(c), measure(c)); err != nil {
		return message{}, w.error(err)
	}
	if gather.bytes != c.Bytes() {
		return message{}, w.error(errExtra)
	}
	o := &w.out
	metadata := recordBatch(int64(c.Rows), walk.nodes, gather.extents[:walk.buffers], aligned(gather.end))
	m := message{offset: o.begin(), metadata: int64(len(metadata)), body: aligned(gather.end)}
	o.write(metadata)
	for _, b := range gather.slices {
		o.pad()
		o.write(b)
	}
	o.pad()
	m.sum = o.sum
	if o.flush(); o.err != nil {
		return message{}, w.error(o.err)
	}
	return m, nil
}

// holds reports whether a batch still has the slices that Append returned.
func (p appendedBatch) holds(c *geoarrow.Columns) bool {
	carver := carver{body: p.body}
	walk := walk{step: func(have []byte, n int64) ([]byte, error) {
		b, err := carver.step(nil, n)
		if err == nil && (int64(len(have)) != n || n > 0 && unsafe.SliceData(have) != unsafe.SliceData(b)) {
			err = errMoved
		}
		return have, err
	}}
	return walk.batch(clone(c), measure(c)) == nil && aligned(carver.at) == p.message.body
}

// gatherer is the step of a walk that writes: it collects slices and their places in the body.
type gatherer struct {
	slices  [][]byte
	extents []extent
	end     int64 // of the last slice
	bytes   int64 // size of all slices
}

func (g *gatherer) step(have []byte, n int64) ([]byte, error) {
	if int64(len(have)) != n {
		return nil, errLength
	}
	at := aligned(g.end)
	g.slices, g.extents = append(g.slices, have), append(g.extents, extent{at, n})
	g.end, g.bytes = at+n, g.bytes+n
	return have, nil
}

// carver is the step of a walk that reads: it returns the slices of a body.
type carver struct {
	body []byte
	at   int64
}

func (k *carver) step(_ []byte, n int64) ([]byte, error) {
	at := aligned(k.at)
	if !within(extent{at, n}, int64(len(k.body))) {
		return nil, errLength
	}
	k.at = at + n
	return k.body[at : at+n : at+n], nil
}

// writeFooter writes footer and tail.
func (w *Writer) writeFooter(t *readers.Table, messages []message, description []byte) error {
	if len(description)+blockBytes*len(messages) > maxFooterBytes {
		return fmt.Errorf("%d batches of %d columns need a footer of more than %d bytes", len(t.Batches),
			len(t.Batches[0].Attributes), maxFooterBytes)
	}
	text, at, err := footer(geoarrow.Schema(t.Batches[0], t.CRS, geoarrow.Encoding{}), messages, description)
	if err != nil {
		return err
	}
	from := w.out.begin()
	w.out.write(text)
	w.out.write(tail{layoutVersion, sumOf(text), extent{from, int64(len(text))}, at}.bytes())
	return nil
}
