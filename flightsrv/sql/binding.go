package sql

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// binding is the parameters of a prepared statement. The query runs once for each row.
type binding struct {
	records []arrow.Record
	bytes   int64 // of the messages that contained them
	client  string
	uses    int // guarded by Server.mu
}

func (b *binding) release() {
	for _, rec := range b.records {
		rec.Release()
	}
	b.records = nil
}

// bind replaces the parameters of a prepared statement by b, and takes ownership of b. A statement
// without parameters keeps none.
func (s *Server) bind(p *preparedStatement, b *binding) error {
	var closing []Statement
	defer func() { closeAll(closing) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prepared[p.id] != p {
		b.release()
		return s.handleError("prepared statement", p.id)
	}
	for s.boundBytes+b.bytes > maxBoundBytes {
		h, ok := evictionCandidate(s.eachBinding(p.binding), p.client, b.bytes)
		if !ok {
			b.release()
			return &LimitError{fmt.Sprintf("parameters: all clients together have more than %d bytes bound: close "+
				"prepared statements", maxBoundBytes)}
		}
		closing = append(closing, s.evictBinding(h.binding)...)
	}
	if p.plan.stmt.Parameters().NumFields() == 0 {
		b.release()
		return nil
	}
	s.unbind(p.binding)
	s.boundBytes += b.bytes
	b.uses, b.client = 1, p.client
	p.binding = b
	return nil
}

// unbind ends one use of a binding. Server.mu is held.
func (s *Server) unbind(b *binding) {
	if b == nil {
		return
	}
	b.uses--
	if b.uses == 0 {
		s.boundBytes -= b.bytes
		b.release()
	}
}

// typeFamily is a set of Arrow types that DuckDB converts to each other, exactly or with an error.
type typeFamily int

const (
	anyType typeFamily = iota // no type is known, every value is null, or each value has a type of its own
	number
	boolean
	text
	binary
	dateOrTime
	interval
	unsupportedType // for a parameter
)

func (f typeFamily) String() string {
	return [...]string{
		"any value", "a number", "a boolean", "a text", "bytes", "a date or a time",
		"an interval", "a value",
	}[f]
}

func typeFamilyOf(t arrow.DataType) typeFamily {
	switch t.ID() {
	case arrow.NULL, arrow.DENSE_UNION, arrow.SPARSE_UNION:
		return anyType
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128, arrow.DECIMAL256:
		return number
	case arrow.BOOL:
		return boolean
	case arrow.STRING, arrow.LARGE_STRING:
		return text
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return binary
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP:
		return dateOrTime
	case arrow.DURATION, arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return interval
	}
	return unsupportedType
}

// parameterSchema is the schema of the parameters that clients get. Apache's JDBC driver writes the
// milliseconds of a Timestamp or a Time in any unit (apache/arrow-java#838), so milliseconds are
// announced. A client may send any other unit.
func parameterSchema(parameters *arrow.Schema) *arrow.Schema {
	fields := parameters.Fields()
	for i := range fields {
		switch t := fields[i].Type.(type) {
		case *arrow.TimestampType:
			fields[i].Type = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: t.TimeZone}
		case *arrow.Time32Type, *arrow.Time64Type:
			fields[i].Type = arrow.FixedWidthTypes.Time32ms
		}
	}
	return arrow.NewSchema(fields, nil)
}

// checkParameters checks the columns of a binding against the parameters of a statement, by
// position. Text fits every type: DuckDB converts it, or returns an error.
func checkParameters(want, have *arrow.Schema) error {
	if want.NumFields() != have.NumFields() {
		return malformed("parameters: the statement has %s, and %s came", count(want.NumFields(), "parameter"),
			count(have.NumFields(), "column"))
	}
	for i, f := range have.Fields() {
		w := want.Field(i)
		is, wants := typeFamilyOf(f.Type), typeFamilyOf(w.Type)
		switch {
		case is == unsupportedType:
			return malformed("parameter %d (%q): a value of type %v can't be bound", i+1, w.Name, f.Type)
		case is == wants, is == anyType, is == text, wants == anyType, wants == unsupportedType:
		default:
			return malformed("parameter %d (%q): the statement wants %v, %v, and %v came", i+1, w.Name,
				wants, w.Type, f.Type)
		}
	}
	return nil
}
