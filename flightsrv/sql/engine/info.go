package engine

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"
)

// Info describes the engine to clients.
type Info struct {
	Version  string   // DuckDB's, "v1.5.5"
	Spatial  bool     // the spatial extension is loaded
	Keywords []string // sorted, like the lists below
	Numeric  []string // names of scalar functions, by the type of their first parameter
	String   []string
	DateTime []string
	System   []string // of other types
}

// Info returns the description of the engine. It queries DuckDB once.
func (e *Engine) Info() Info { return e.info() }

// functions are the scalar functions that are called by name, without those on geometries, by the
// type of their first parameter.
const functions = `SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN ('scalar', 'macro')
AND regexp_full_match(function_name, '[a-z][a-z0-9_]*') AND NOT starts_with(function_name, '__') AND CASE
WHEN parameter_types[1] IN ('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'FLOAT', 'DOUBLE',
    'DECIMAL') THEN 'numeric'
WHEN parameter_types[1] = 'VARCHAR' THEN 'string'
WHEN parameter_types[1] IN ('DATE', 'TIME', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE', 'INTERVAL') THEN 'datetime'
ELSE 'system' END = `

func (e *Engine) readInfo() Info {
	info := Info{Version: e.databases.source.Version(), Spatial: e.databases.source.Spatial()}
	info.Keywords = e.words("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved' " +
		"ORDER BY 1")
	info.Numeric = e.words(functions + "'numeric' ORDER BY 1")
	info.String = e.words(functions + "'string' ORDER BY 1")
	info.DateTime = e.words(functions + "'datetime' ORDER BY 1")
	info.System = e.words(functions + "'system' ORDER BY 1")
	return info
}

// words returns the text in the only column of a query. A failure of our own query is a defect,
// which is logged.
func (e *Engine) words(query string) []string {
	words, err := e.texts(query)
	if err != nil && e.ctx.Err() == nil {
		e.cfg.Log.Error().Err(err).Str("query", query).Msg("DuckDB does not tell about itself")
	}
	return words
}

func (e *Engine) texts(query string) ([]string, error) {
	ctx := context.Background()
	s, err := e.Prepare(ctx, query, "")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rows, err := s.Query(ctx, nil, 0)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var words []string
	for {
		rec, err := rows.Next(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return words, err
		}
		column := rec.Column(0).(*array.String)
		for i := range column.Len() {
			words = append(words, strings.Clone(column.Value(i)))
		}
		rec.Release()
	}
}
