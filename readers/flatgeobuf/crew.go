package flatgeobuf

import (
	"cmp"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// crew reads one file with several workers.
type crew struct {
	ctx     context.Context
	cpu     parser
	req     readers.Request
	lead    *scanner // that gets what all of them learned
	from    int64    // where the first feature is
	batcher *readers.Batcher
	sinks   rows.Lent[*sink]
}

func newCrew(ctx context.Context, c parser, req readers.Request, lead *scanner, from int64) *crew {
	w := &crew{ctx: ctx, cpu: c, req: req, lead: lead, from: from}
	w.sinks.New = func() *sink { return newSink(lead.header, c.layout.Columns) }
	w.sinks.Learn(lead.sink.Text)
	w.batcher = readers.NewBatcher(ctx, c, lead.Src, req.Span.Row, lead.End, req.Limits, lead.emit)
	w.batcher.Inline = true
	return w
}

// read reads the features, and waits for all chunks.
func (w *crew) read() error {
	s := w.lead
	parts := readers.Parts{
		From: w.from, To: s.End, Row: s.row, Size: s.limits.PartBytes, Workers: s.limits.Workers,
		Reader: w.reader,
	}
	if _, _, err := parts.Read(w.ctx, w.take); err != nil {
		return err
	}
	return w.batcher.Finish()
}

// take puts a part that is known to be right behind the ones before.
func (w *crew) take(p readers.Part) error {
	s := w.lead
	if count := s.header.count; count > 0 && s.row+p.Rows > count { // a guess does not know how many were before
		return rows.Refuse(w.reader(), p, s.row)
	}
	s.row += p.Rows
	s.sum.Add(&p.Summary)
	return w.batcher.Add(p)
}

// partReader reads parts of the file for one worker.
type partReader struct {
	*crew
	s    *scanner
	rows readers.Chunk // of the part at hand
}

func (w *crew) reader() readers.PartReader {
	r := &partReader{crew: w, s: w.cpu.scanner(w.req)}
	r.s.limits = r.s.limits.Unbatched()
	r.s.emit = func(c readers.Chunk) error {
		r.rows = c
		return nil
	}
	return r
}

// mostGuessed is how long a feature may be that is read before it is known to be one.
const mostGuessed = 16 << 20

// Guess reads the features between two offsets, from what looks like the first one on.
func (r *partReader) Guess(from, stop int64) readers.Part {
	s := r.s
	s.guess, s.most = true, min(r.lead.most, mostGuessed)
	p := -1
	if r.open(from, stop, 0) {
		p = 0
		if from > r.from {
			p = r.find(p)
		}
	}
	return r.read(p, 0)
}

// Read reads the features between two offsets; at the first one feature number row begins, or
// should.
func (r *partReader) Read(from, stop, row int64) (readers.Part, error) {
	s := r.s
	s.guess, s.most = false, r.lead.most
	p := -1
	if r.open(from, stop, row) {
		p = 0
	}
	part := r.read(p, row)
	if part.Failed {
		return part, s.err
	}
	return part, nil
}

func (r *partReader) open(from, stop, row int64) bool {
	s := r.s
	s.use(r.sinks.Take())
	s.sum = readers.Summary{}
	s.stop = stop
	r.rows = readers.Chunk{}
	return s.open(r.ctx, r.lead.Src, from, r.lead.End, row, cmp.Or(r.cpu.readBytes, window.Bytes))
}

// read reads the part from the feature at p on, which is number row; p < 0 is a part that failed.
func (r *partReader) read(p int, row int64) readers.Part {
	s := r.s
	start := s.Base + int64(p)
	if p < 0 || !s.features(p) {
		r.sinks.Give(s.sink)
		return readers.Part{Failed: true}
	}
	part := r.sinks.Part(s.sink, r.rows, start, s.next)
	part.End, part.Rows, part.Summary = !s.stopped, s.row-row, s.sum
	part.Summary.Deviations.Shift(-row)
	part.Summary.BytesRead = s.Read
	return part
}

// frontBytes is in how many bytes of a feature's flatbuffer the root and its vtable are found:
// writers put both in front of everything else.
const frontBytes = 64

// find gives the index of the first bytes at p or behind that look like a feature, or -1.
//
//	length (4), offset of the root (4), … vtable … root
func (r *partReader) find(p int) int {
	s := r.s
	for {
		if p = s.hold(p, lengthBytes+frontBytes); p < 0 || s.Base+int64(p) >= s.stop || p == s.N {
			return -1
		}
		if s.looks(p, 1) {
			return p
		}
		p++
	}
}

// looks reports whether what stands at p looks like a feature with so many more behind it, as far
// as the window shows them.
func (s *scanner) looks(p, more int) bool {
	w := s.Word(p)
	n, at := int64(uint32(w)), int(w>>32)
	end := s.Base + int64(p) + lengthBytes + n
	if at < 8 || at > frontBytes-4 || int64(at) > n-4 || end > s.End {
		return false
	}
	front := s.Text(p+lengthBytes, min(s.N, p+lengthBytes+frontBytes, p+lengthBytes+int(n)))
	t, f := root(front)
	if f != nil || t.fields > featureColumns+1 {
		return false
	}
	next := end - s.Base
	if more == 0 || next+lengthBytes+frontBytes > int64(s.N) {
		return true
	}
	return s.looks(int(next), more-1)
}
