package parallel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/source"
)

// lineScanner parses lines of one integer each. A line that follows a backslash is not read: a guess
// may take it for a row.
type lineScanner struct {
	text           []byte
	keep           func(readers.Chunk) error
	sink           *rows.Sink
	at, stop, line int64
	err            error
}

// lineError is the error of a line that is not an integer.
type lineError struct{ offset, line int64 }

func (e lineError) Error() string { return fmt.Sprintf("line %d at byte %d", e.line, e.offset) }

func (s *lineScanner) Find(sink *rows.Sink, from, stop int64) bool {
	if from > 0 {
		end := bytes.IndexByte(s.text[from-1:], '\n')
		if end < 0 {
			return false
		}
		from += int64(end)
	}
	return from < min(stop, int64(len(s.text))) && s.Open(sink, from, stop, 0)
}

func (s *lineScanner) Open(sink *rows.Sink, from, stop, row int64) bool {
	s.sink, s.at, s.stop, s.line, s.err = sink, from, stop, row, nil
	return true
}

func (s *lineScanner) Scan() (Extent, bool) {
	x := Extent{Start: s.at}
	for s.at < min(s.stop, int64(len(s.text))) {
		end := s.at + int64(bytes.IndexByte(s.text[s.at:], '\n'))
		digits, continued := bytes.CutSuffix(s.text[s.at:end], []byte{'\\'})
		v, err := strconv.ParseUint(string(digits), 10, 31)
		if err != nil {
			s.err = lineError{s.at, s.line}
			return x, false
		}
		s.sink.Column(geoarrow.RoleAttribute, []byte("n")).AddNumber(number.Num{Int: v, Float: float64(v)}, nil)
		s.sink.Geom.Null()
		s.sink.Commit(s.at)
		if s.at, s.line = end+1, s.line+1; continued {
			s.at += 1 + int64(bytes.IndexByte(s.text[s.at:], '\n'))
		}
	}
	x.Next, x.Row, x.Stopped = s.at, s.line, s.at < int64(len(s.text))
	columns, err := s.sink.Columns(0)
	if err != nil {
		s.err = err
		return x, false
	}
	return x, s.keep(readers.Chunk{Columns: columns}) == nil
}

func (s *lineScanner) Err() error { return s.err }

// fileTest reads lines with several workers.
type fileTest struct {
	text   string
	limits readers.Limits
	open   bool // schema
	inline bool // the goroutine that adds a part copies its rows
	commit func(p *readers.Part) error
	emit   func(c readers.Chunk) error

	numbers []int32 // of the batches that were emitted
	batches []readers.Chunk
}

func (c *fileTest) read(ctx context.Context) (end, next int64, err error) {
	emit := func(chunk readers.Chunk) error {
		if c.emit != nil {
			if err := c.emit(chunk); err != nil {
				return err
			}
		}
		c.batches = append(c.batches, chunk)
		c.numbers = append(c.numbers, geoarrow.View[int32](chunk.Columns.Attributes[0].Values)...)
		return nil
	}
	size := int64(len(c.text))
	f := NewFile[*rows.Sink](ctx, Config{
		Source:  &source.File{Name: "a.lines"},
		Request: readers.Request{Span: readers.Span{To: size}, Limits: c.limits}, Limits: c.limits.WithDefaults(),
		Summary: &readers.Summary{}, Emit: emit, Commit: c.commit,
	})
	defer f.Close()
	f.Sinks.New, f.OpenSchema, f.batcher.Inline = rows.NewSink, c.open, c.inline
	f.NewScanner = func(keep func(readers.Chunk) error) Scanner[*rows.Sink] {
		return &lineScanner{text: []byte(c.text), keep: keep}
	}
	if end, next, err = f.Read(0, size, 0, nil); err != nil {
		return 0, 0, err
	}
	return end, next, f.Finish()
}

// lines are the integers from 0 on, the given ones replaced by a text that is not an integer. Some
// are followed by a line that is not read.
func lines(n int, invalid ...int) string {
	var b []byte
	for i := range n {
		if slices.Contains(invalid, i) {
			b = append(b, 'x')
		} else {
			b = strconv.AppendInt(b, int64(i), 10)
		}
		if i%5 == 1 {
			b = append(b, "\\\n77"...)
		}
		b = append(b, '\n')
	}
	return string(b)
}

// eachLimit runs a test with several numbers of workers and sizes of parts, each in a bubble that
// fails if a goroutine is left.
func eachLimit(t *testing.T, test func(t *testing.T, c *fileTest)) {
	for _, workers := range []int{1, 2, 5} {
		for _, part := range []int64{1, 7, 64, 1 << 20} {
			for i := range 4 {
				open, inline := i&1 == 1, i&2 == 2
				name := fmt.Sprintf("%d workers, parts of %d, open schema %t, inline %t", workers, part, open, inline)
				t.Run(name, func(t *testing.T) {
					limits := readers.Limits{Workers: workers, PartBytes: part, BatchRows: 10}
					c := &fileTest{open: open, inline: inline, limits: limits}
					synctest.Test(t, func(t *testing.T) { test(t, c) })
				})
			}
		}
	}
}

func TestFileKeepsTheOrder(t *testing.T) {
	const n = 333
	eachLimit(t, func(t *testing.T, c *fileTest) {
		c.text = lines(n)
		at, row := int64(0), int64(0) // of the parts that were committed
		c.commit = func(p *readers.Part) error {
			if p.Start != at {
				t.Errorf("a part begins at byte %d, want %d", p.Start, at)
			}
			at, row = p.Next, row+p.Rows
			return nil
		}
		end, next, err := c.read(t.Context())
		if size := int64(len(c.text)); err != nil || end != size || at != size || next != n || row != n {
			t.Fatalf("got end %d, committed to %d, next row %d, %d rows committed, error %v", end, at, next, row, err)
		}
		for i, v := range c.numbers {
			if int(v) != i {
				t.Fatalf("row %d is %d", i, v)
			}
		}
		if len(c.numbers) != n || len(c.batches) != (n+9)/10 {
			t.Errorf("%d rows in %d batches", len(c.numbers), len(c.batches))
		}
		for i, b := range c.batches {
			if want := min(10, n-10*i); b.Columns.Rows != want || b.Span.Row != int64(10*i) {
				t.Errorf("batch %d has %d rows from %d on, want %d", i, b.Columns.Rows, b.Span.Row, want)
			}
		}
	})
}

// TestFileReturnsTheFirstError has several lines that are invalid.
func TestFileReturnsTheFirstError(t *testing.T) {
	for _, invalid := range [][]int{{0}, {1, 2}, {7, 90, 91}, {150, 332}, {332}} {
		eachLimit(t, func(t *testing.T, c *fileTest) {
			c.text = lines(333, invalid...)
			_, _, err := c.read(t.Context())
			want := lineError{int64(len(lines(invalid[0]))), int64(invalid[0])}
			if got := (lineError{}); !errors.As(err, &got) || got != want {
				t.Errorf("got %v, want %v", err, want)
			}
			if n := len(c.numbers); n > invalid[0] || n%10 != 0 {
				t.Errorf("%d rows were emitted, of %d", n, invalid[0])
			}
		})
	}
}

// TestFileStops has the parse end early: nothing is emitted after the error.
func TestFileStops(t *testing.T) {
	stop := errors.New("stop")
	for _, tt := range []struct {
		name  string
		begin func(c *fileTest, cancel context.CancelFunc)
		want  error
	}{
		{"emit fails", func(c *fileTest, _ context.CancelFunc) {
			c.emit = func(readers.Chunk) error {
				if len(c.batches) == 3 {
					return stop
				}
				return nil
			}
		}, stop},
		{"commit fails", func(c *fileTest, _ context.CancelFunc) {
			left := 30 // rows
			c.commit = func(p *readers.Part) error {
				if left -= int(p.Rows); left < 0 {
					return stop
				}
				return nil
			}
		}, stop},
		{"cancelled before", func(_ *fileTest, cancel context.CancelFunc) { cancel() }, context.Canceled},
		{"cancelled at a part", func(c *fileTest, cancel context.CancelFunc) {
			c.commit = func(p *readers.Part) error {
				if p.Next > int64(len(c.text)/10) {
					cancel()
				}
				return nil
			}
		}, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachLimit(t, func(t *testing.T, c *fileTest) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c.text = lines(333)
				tt.begin(c, cancel)
				if _, _, err := c.read(ctx); !errors.Is(err, tt.want) && c.limits.PartBytes < int64(len(c.text)) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if len(c.numbers) == 333 && c.limits.PartBytes < 64 {
					t.Error("all rows were emitted")
				}
			})
		})
	}
}
