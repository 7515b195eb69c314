package prompt

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqltext"
)

// completeWithin is the maximum time for completions: a table may have to be parsed for its columns.
const completeWithin = 2 * time.Second

// maxChoices bounds how many completions are shown.
const maxChoices = 200

const tablesQuery = `SELECT schema_name AS "schema", table_name AS "table" FROM duckdb_tables()
WHERE database_name = 'vibeflight' ORDER BY 1, 2`

// words are what a statement may have, as the source tells it.
type words struct {
	from      Querier
	functions []string            // nil: not asked yet
	keywords  []string            // likewise
	columns   map[string][]string // by the name of the table in a statement
}

// name is a table: its folder and its file.
type name struct{ schema, table string }

// listTables returns all tables, as they are now.
func (w *words) listTables(ctx context.Context) ([]name, error) {
	var names []name
	err := w.each(ctx, tablesQuery, func(rec arrow.Record) {
		schemas, tables := rec.Column(0).(*array.String), rec.Column(1).(*array.String)
		for i := range tables.Len() {
			names = append(names, name{strings.Clone(schemas.Value(i)), strings.Clone(tables.Value(i))})
		}
	})
	return names, err
}

// tableNames returns the names of tables as a statement writes them: the stem where that is enough,
// and the name in quotes.
func (w *words) tableNames(ctx context.Context) (names []string) {
	tables, err := w.listTables(ctx)
	if err != nil {
		return nil
	}
	stems := map[string]int{}
	for _, t := range tables {
		stems[stemOf(t.table)]++
	}
	for _, t := range tables {
		if stem := stemOf(t.table); stems[stem] == 1 && sqltext.Plain(stem) && !slices.Contains(w.keywords, stem) {
			names = append(names, stem)
		}
		whole := t.table
		if t.schema != "main" {
			whole = t.schema + "/" + t.table
		}
		names = append(names, sqltext.Quote(whole))
	}
	return names
}

// stemOf returns the name of a file without its extension.
func stemOf(file string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".zst")
	return strings.TrimSuffix(stem, filepath.Ext(stem))
}

// columnsOf returns the columns of the tables that a statement names.
func (w *words) columnsOf(ctx context.Context, statement string) (names []string) {
	for _, table := range sqltext.Tables(statement) {
		known, ok := w.columns[table]
		if !ok {
			rows, err := w.from.Query(ctx, "SELECT * FROM "+table+" LIMIT 0")
			if err != nil {
				continue
			}
			for _, f := range rows.Schema().Fields() {
				known = append(known, f.Name)
			}
			rows.Close()
			if w.columns == nil {
				w.columns = map[string][]string{}
			}
			w.columns[table] = known
		}
		for _, column := range known {
			if !sqltext.Plain(strings.ToLower(column)) {
				column = sqltext.Quote(column)
			}
			names = append(names, column)
		}
	}
	return names
}

// learn asks for functions and keywords, once.
func (w *words) learn(ctx context.Context) {
	if w.functions == nil {
		w.functions = w.texts(ctx, `SELECT DISTINCT function_name FROM duckdb_functions()
WHERE regexp_full_match(function_name, '[A-Za-z][A-Za-z0-9_]*') ORDER BY 1`)
	}
	if w.keywords == nil {
		w.keywords = w.texts(ctx, "SELECT keyword_name FROM duckdb_keywords() ORDER BY 1")
	}
}

// texts returns the only column of a query; nil if it fails.
func (w *words) texts(ctx context.Context, query string) (list []string) {
	if w.each(ctx, query, func(rec arrow.Record) {
		column := rec.Column(0).(*array.String)
		for i := range column.Len() {
			list = append(list, strings.Clone(column.Value(i)))
		}
	}) != nil {
		return nil
	}
	return list
}

// each calls f with each batch of a query.
func (w *words) each(ctx context.Context, query string, f func(rec arrow.Record)) error {
	rows, err := w.from.Query(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f(rec)
		rec.Release()
	}
}

// complete returns what the last word of a line may become, and the line before that word. before is
// the earlier lines of the statement.
func (s *Session) complete(ctx context.Context, before, line string) (head string, list []string) {
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	if strings.TrimSpace(before) == "" && strings.HasPrefix(line, `\`) {
		return s.completeCommand(ctx, line)
	}
	at := sqltext.At(before + line)
	if !at.Writing || at.Start < len(before) {
		return line, nil
	}
	s.words.learn(ctx)
	var known []string
	switch {
	case at.Table:
		known = s.words.tableNames(ctx)
	case at.Word == "":
		return line, nil
	default:
		known = s.words.columnsOf(ctx, before+line)
		if !strings.HasPrefix(at.Word, `"`) {
			known = slices.Concat(known, s.words.tableNames(ctx), s.words.functions,
				inCaseOf(at.Word, s.words.keywords))
		}
	}
	return line[:len(line)-len(at.Word)], beginning(known, at.Word)
}

// completeCommand completes the name of a command, or its table or file.
func (s *Session) completeCommand(ctx context.Context, line string) (head string, list []string) {
	command, argument, ok := strings.Cut(line, " ")
	switch {
	case !ok:
		return "", beginning(commandNames(), line)
	case command == `\d`:
		return command + " ", beginning(s.words.tableNames(ctx), argument)
	case command == `\o`:
		return command + " ", filesBeginning(argument)
	}
	return line, nil
}

// filesBeginning returns the files and folders whose path begins so.
func filesBeginning(path string) (list []string) {
	folder, base := filepath.Split(path)
	found, err := os.ReadDir(filepath.Clean("./" + folder))
	if filepath.IsAbs(folder) {
		found, err = os.ReadDir(folder)
	}
	if err != nil {
		return nil
	}
	for _, f := range found {
		if !strings.HasPrefix(f.Name(), base) || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		path := folder + f.Name()
		if f.IsDir() {
			path += string(filepath.Separator)
		}
		list = append(list, path)
	}
	return list
}

// beginning returns the words that begin with the typed one, in any case, without repetition.
func beginning(known []string, typed string) (list []string) {
	for _, word := range known {
		if len(word) >= len(typed) && strings.EqualFold(word[:len(typed)], typed) && !slices.Contains(list, word) {
			if list = append(list, word); len(list) == maxChoices {
				break
			}
		}
	}
	return list
}

// inCaseOf returns keywords in the case of the typed word: capitals if its first letter is one.
func inCaseOf(typed string, keywords []string) []string {
	if typed[:1] != strings.ToUpper(typed[:1]) || typed[0] == '_' {
		return keywords
	}
	upper := make([]string, len(keywords))
	for i, word := range keywords {
		upper[i] = strings.ToUpper(word)
	}
	return upper
}
