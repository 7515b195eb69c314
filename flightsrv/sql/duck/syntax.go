//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/array"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// parser parses a text with DuckDB without binding its names: the syntax tree as JSON, which DuckDB
// has for SELECT statements alone.
type parser struct {
	mu        sync.Mutex
	conn      *Conn
	statement *Statement
}

func newParser(in *instance) (*parser, error) {
	c, err := in.connect()
	if err != nil {
		return nil, err
	}
	p := &parser{conn: c, statement: &Statement{conn: c}}
	if p.statement.prepared, err = c.prepare("SELECT json_serialize_sql($1::VARCHAR)"); err != nil {
		c.Close()
		return nil, err
	}
	return p, nil
}

func (p *parser) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.statement.Close()
	p.conn.Close()
}

// tree is the answer of json_serialize_sql: statements, or an error.
type tree struct {
	Error      bool             `json:"error"`
	Type       string           `json:"error_type"`
	Message    string           `json:"error_message"`
	Position   string           `json:"position"`
	Statements []map[string]any `json:"statements"`
}

// explain matches EXPLAIN with its options, and no text that could hide the start of the query.
var explain = regexp.MustCompile(`(?is)^\s*EXPLAIN\s+(?:ANALYZE\s+)?(?:\([a-z_,\s]*\)\s*)?`)

var pivot = regexp.MustCompile(`(?i)\bPIVOT(_WIDER)?\b`)

// query returns the only query of a text. Anything else is an [Error] of kind Syntax or Denied.
func (p *parser) query(text string) (*Query, error) {
	offset := 0
	t, err := p.parse(text)
	if err == nil && t.notSelect() {
		if offset = len(explain.FindString(text)); offset > 0 {
			t, err = p.parse(text[offset:])
		}
	}
	switch {
	case err != nil:
		return nil, err
	case t.notSelect() && pivot.MatchString(text):
		return nil, denied("PIVOT is allowed with the values that become columns: PIVOT t ON kind IN ('a', 'b') " +
			"USING sum(x)")
	case t.notSelect():
		return nil, denied("only queries are allowed here: SELECT, WITH, VALUES, FROM, DESCRIBE, SHOW, SUMMARIZE " +
			"and EXPLAIN of one of them")
	case t.Error:
		e := newError(t.Type, t.Message, t.Position)
		if e.Position >= 0 {
			e.Position = offset + byteOf(text[offset:], e.Position)
		}
		return nil, e
	case len(t.Statements) == 0:
		return nil, &Error{Kind: Syntax, Message: "the text holds no query", Position: -1}
	case len(t.Statements) > 1:
		return nil, denied("%d statements in one text: one at a time is allowed", len(t.Statements))
	}
	if err := checkAllowed(t.Statements[0], offset); err != nil {
		return nil, err
	}
	text = withOneWGS84(text, t.Statements[0], offset, p.conn.in.database.cfg.wgs84())
	return &Query{text: text, tree: t.Statements[0], explains: offset > 0}, nil
}

// byteOf returns the byte at which character n of a text begins. Syntax errors count characters,
// all other errors bytes.
func byteOf(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

func (t *tree) notSelect() bool {
	return t.Error && strings.HasPrefix(t.Message, "Only SELECT statements")
}

func (p *parser) parse(text string) (*tree, error) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, &Error{Kind: Syntax, Message: "a zero byte", Position: i}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn.conn.Ptr == nil {
		return nil, &Error{Kind: Internal, Message: "the connection's DuckDB has ended", Position: -1}
	}
	ctx := context.Background()
	if duckdb.BindVarchar(p.statement.prepared, 1, text) == duckdb.StateError {
		return nil, &Error{Kind: Syntax, Message: "the text is not UTF-8", Position: -1}
	}
	rows, err := p.statement.run(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	rec, err := rows.Next(ctx)
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	t := new(tree)
	if err := json.Unmarshal([]byte(rec.Column(0).(*array.String).Value(0)), t); err != nil {
		return nil, fmt.Errorf("DuckDB's syntax tree: %w", err)
	}
	return t, nil
}
