package records

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// Guard returns a panic of f as an error.
func Guard(f func() error) (err error) {
	defer func() {
		switch caught := recover().(type) {
		case nil:
		case *RoomError:
			err = caught
		case error:
			err = &panicError{caught.Error(), debug.Stack()}
		default:
			err = &panicError{fmt.Sprint(caught), debug.Stack()}
		}
	}()
	return f()
}

// panicError is a library's panic.
type panicError struct {
	what  string
	stack []byte // for debugging
}

func (e *panicError) Error() string { return "malformed: " + e.what }

// Fault returns a file's error with its position, as a *readers.ParseError or a
// *readers.LimitError. It returns errors with a position, and other errors, unchanged.
func (p Parser) Fault(src *source.File, limits readers.Limits, offset int64, err error) error {
	var parse *readers.ParseError
	var limit *readers.LimitError
	var room *RoomError
	switch {
	case err == nil, errors.As(err, &parse), errors.As(err, &limit), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, source.ErrChanged):
		return err
	case errors.As(err, &room):
		return &readers.LimitError{
			What: fmt.Sprintf("%s: what the rows at byte %d take in memory", src.Name, offset),
			Flag: "--memory", Limit: limits.Memory,
		}
	}
	e := &readers.ParseError{
		Name: src.Name, Format: p.Format, Offset: min(offset, src.Size), Row: -1,
		Unit: Unit, Err: err,
	}
	var field *FieldError
	if errors.As(err, &field) {
		e.Field, e.Err = field.Field, field.Err
	}
	return e
}

// at returns an error of a piece with its position.
func (p *parse) at(b *piece, column string, err error) error {
	if errors.Is(err, geoarrow.ErrBatchTooLarge) {
		return p.tooLarge(b.row, err)
	}
	e := &readers.ParseError{
		Name: p.src.Name, Format: p.Format, Offset: b.batch.From, Row: -1, Unit: Unit,
		Field: column, Err: err,
	}
	var row *rowError
	if errors.As(err, &row) {
		e.Row, e.Err = b.row+int64(row.row), row.err
		if !p.Null && (errors.Is(err, errTime) || column == readers.GeometryColumn && p.isEncoded(row.err)) {
			e.Mode = "null"
		}
	}
	var deep *wkt.CellError
	if errors.As(err, &deep) && deep.Depth {
		e.Err, e.Mode = nil, ""
		return &readers.LimitError{
			What: deep.Error() + " of collections", Flag: "--max-depth",
			Limit: int64(p.limits.MaxDepth), Err: e,
		}
	}
	return e
}

// isEncoded reports whether an error is of one geometry in WKB or WKT, and not of its column.
func (p *parse) isEncoded(err error) bool {
	return p.Plan.geometry != nil && p.Plan.geometry.kind == geoarrow.NoKind && !errors.Is(err, errUTF8)
}

func isDeep(err error) bool {
	var deep *wkt.CellError
	return errors.As(err, &deep) && deep.Depth
}

// deviation returns a deviation of a row of a piece.
func (p *parse) deviation(b *piece, row int, column, rule, done string) readers.Deviation {
	return readers.Deviation{Offset: b.batch.From, Row: b.row + int64(row), Field: column, Rule: rule, Done: done}
}

func (p *parse) tooLarge(row int64, err error) error {
	return &readers.LimitError{
		What: fmt.Sprintf("%s: the rows from %d on (%v)", p.src.Name, row, err),
		Flag: "--batch-rows", Limit: int64(p.limits.BatchRows),
	}
}
