package sql

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// binding is the parameters of a prepared statement: for each row a run of the query.
type binding struct {
	records []arrow.Record
	bytes   int64 // of the messages that they came in
	client  string
	uses    int // under Server.mu
}

func (b *binding) release() {
	for _, rec := range b.records {
		rec.Release()
	}
	b.records = nil
}

// bind gives a prepared statement its parameters in place of those that it had, and takes b over. A
// statement that has none stays without.
func (s *Server) bind(p *prepared, b *binding) error {
	var closing []Statement
	defer func() { closeAll(closing) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prepared[p.id] != p {
		b.release()
		return s.unknown("prepared statement", p.id)
	}
	for s.bound+b.bytes > maxBoundBytes {
		h, ok := loser(s.bindings(p.bound), p.client, b.bytes)
		if !ok {
			b.release()
			return &LimitError{fmt.Sprintf("parameters: all clients together have more than %d bytes bound: close "+
				"prepared statements", maxBoundBytes)}
		}
		closing = append(closing, s.loseBinding(h.binding)...)
	}
	if p.plan.stmt.Parameters().NumFields() == 0 {
		b.release()
		return nil
	}
	s.unbind(p.bound)
	s.bound += b.bytes
	b.uses, b.client = 1, p.client
	p.bound = b
	return nil
}

// unbind gives up one use of a binding. Server.mu is held.
func (s *Server) unbind(b *binding) {
	if b == nil {
		return
	}
	b.uses--
	if b.uses == 0 {
		s.bound -= b.bytes
		b.release()
	}
}

// family is a set of Arrow types whose values DuckDB takes for each other, exactly or with an
// error.
type family int

const (
	anything family = iota // no type is known, every value is null, or each value has a type of its own
	number
	boolean
	text
	binary
	moment
	span
	unfit // for a parameter
)

func (f family) String() string {
	return [...]string{
		"any value", "a number", "a boolean", "a text", "bytes", "a date or a time",
		"an interval", "a value",
	}[f]
}

func familyOf(t arrow.DataType) family {
	switch t.ID() {
	case arrow.NULL, arrow.DENSE_UNION, arrow.SPARSE_UNION:
		return anything
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
		return moment
	case arrow.DURATION, arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return span
	}
	return unfit
}

// announced is the schema of the parameters as clients are told it. Apache's JDBC driver writes the
// milliseconds of a Timestamp or a Time whatever the unit is (apache/arrow-java#838), so that is
// the one to announce. A client may send any other: each is taken for what it says.
func announced(parameters *arrow.Schema) *arrow.Schema {
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

// accept checks the columns of a binding against the parameters of a statement, by position. A text
// is taken for everything: DuckDB reads it as the type that is wanted, or says that it can't.
func accept(want, have *arrow.Schema) error {
	if want.NumFields() != have.NumFields() {
		return malformed("parameters: the statement has %s, and %s came", count(want.NumFields(), "parameter"),
			count(have.NumFields(), "column"))
	}
	for i, f := range have.Fields() {
		w := want.Field(i)
		is, wants := familyOf(f.Type), familyOf(w.Type)
		switch {
		case is == unfit:
			return malformed("parameter %d (%q): a value of type %v can't be bound", i+1, w.Name, f.Type)
		case is == wants, is == anything, is == text, wants == anything, wants == unfit:
		default:
			return malformed("parameter %d (%q): the statement wants %v, %v, and %v came", i+1, w.Name,
				wants, w.Type, f.Type)
		}
	}
	return nil
}
