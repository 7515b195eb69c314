package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/internal/row"
)

// headBytes bounds the head of a name, so that a key fits into an index (2,704 bytes).
const headBytes = 1024

// headOf returns the beginning of a name.
func headOf(name string) string {
	if len(name) <= headBytes {
		return name
	}
	end := headBytes
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// digestOf returns the digest that identifies a name.
func digestOf(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return sum[:]
}

// texts and blobs are the columns of these types; the others are of type BIGINT.
var (
	texts = []string{
		"name", "format", "engine", "geometry_types", "options_json", "crs", "last_error", "columns", "layers",
		"object",
	}
	blobs = []string{"options", "content", "bbox", `"schema"`, "blocks", "shape", "siblings"}
)

// insert is INSERT … SELECT of a record. Its parameters are those of values. The source of the rows
// and the condition of an update follow from the caller.
func insert(with, from, condition string) string {
	var params []string
	for i, name := range row.Names() {
		kind := "bigint"
		if slices.Contains(texts, name) {
			kind = "text"
		} else if slices.Contains(blobs, name) {
			kind = "bytea"
		}
		params = append(params, fmt.Sprintf("$%d::%s", i+1, kind))
	}
	n := len(params)
	params = append(params, fmt.Sprintf("$%d::bytea, $%d::text, $%d::bytea, $%d::bigint", n+1, n+2, n+3, n+4))
	return with + ` INSERT INTO vibeflight.record AS r (` + row.Columns + `, sum, head, digest, bytes)
		SELECT ` + strings.Join(params, ", ") + from + `
		ON CONFLICT (head, digest, options) DO UPDATE SET ` + row.Assignments() + `, bytes = excluded.bytes` + condition
}

// values returns the parameters of insert.
func values(r *store.Record) ([]any, error) {
	values, err := row.Encode(r)
	if err != nil {
		return nil, err
	}
	var size int64
	for _, v := range values {
		switch v := v.(type) {
		case string:
			size += int64(len(v))
		case []byte:
			size += int64(len(v))
		}
	}
	return append(values, headOf(r.Name), digestOf(r.Name), size), nil
}

var (
	upsert = insert("", "", "")
	// upsertNewer keeps a record of a later parse.
	upsertNewer = insert("", "", ` WHERE r.parsed_at IS NULL OR r.parsed_at <= excluded.parsed_at`)
	// upsertHeld locks the lease until the record is committed, so that no replica takes it over
	// between the check and the write.
	upsertHeld = insert(fmt.Sprintf(`WITH held AS MATERIALIZED (
		SELECT 1 FROM vibeflight.lease WHERE key = $%d::bytea AND owner = $%d::text AND epoch = $%d::bigint FOR UPDATE
	)`, heldParam, heldParam+1, heldParam+2), " FROM held", "")
)

// heldParam is the number of the first parameter of a lease in upsertHeld.
var heldParam = len(row.Names()) + 5

// Put stores a record.
func (s *Store) Put(ctx context.Context, r store.Record) error {
	values, err := values(&r)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, statement{sql: upsert, args: values})
	return err
}

// PutNewer stores a record, unless the one with its key is of a later parse.
func (s *Store) PutNewer(ctx context.Context, r store.Record) error {
	values, err := values(&r)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, statement{sql: upsertNewer, args: values})
	return err
}

// PutHeld stores a record while the lease has its owner and its epoch. It returns fleet.ErrLost if
// the lease has others, and then stores nothing.
func (s *Store) PutHeld(ctx context.Context, r store.Record, l fleet.Lease) error {
	values, err := values(&r)
	if err != nil {
		return err
	}
	n, err := s.run(ctx, statement{sql: upsertHeld, args: append(values, l.Key[:], l.Owner, l.Epoch)})
	if err == nil && n == 0 {
		return fmt.Errorf("record of %s: %w", r.Name, fleet.ErrLost)
	}
	return err
}

// Get returns the record of a key.
func (s *Store) Get(ctx context.Context, key store.Key) (store.Record, bool, error) {
	if err := store.CheckName(key.Name); err != nil {
		return store.Record{}, false, err
	}
	p, err := s.page(ctx, `SELECT ctid::text, 0::bigint, head, digest, sum, `+row.Columns+` FROM vibeflight.record
		WHERE head = $1 AND digest = $2 AND options = $3`, headOf(key.Name), digestOf(key.Name), key.Options[:])
	if err != nil || len(p.records) == 0 {
		return store.Record{}, false, err
	}
	return p.records[0], true, nil
}

// Delete removes the record of a key.
func (s *Store) Delete(ctx context.Context, key store.Key) error {
	if err := store.CheckName(key.Name); err != nil {
		return err
	}
	_, err := s.run(ctx, statement{
		sql:  `DELETE FROM vibeflight.record WHERE head = $1 AND digest = $2 AND options = $3`,
		args: []any{headOf(key.Name), digestOf(key.Name), key.Options[:]},
	})
	return err
}

// All calls yield for each record.
func (s *Store) All(ctx context.Context, yield func(store.Record) error) error {
	return s.list(ctx, yield, `TRUE`)
}

// Of calls yield for each record of a name.
func (s *Store) Of(ctx context.Context, name string, yield func(store.Record) error) error {
	if err := store.CheckName(name); err != nil {
		return err
	}
	return s.list(ctx, yield, `head = $4 AND digest = $5`, headOf(name), digestOf(name))
}

// Layered calls yield for each record that has layers.
func (s *Store) Layered(ctx context.Context, yield func(store.Record) error) error {
	return s.list(ctx, yield, `layers IS NOT NULL`)
}

// list calls yield for each record that satisfies a condition, whose parameters begin with $4.
func (s *Store) list(ctx context.Context, yield func(store.Record) error, condition string, args ...any) error {
	// the first comparison lets the index find where the page begins
	query := bounded(condition+` AND head >= $1 AND (head, name, options) > ($1, $2, $3)`, byKey, row.PageRows)
	head, after, options := "", "", []byte{} // less than all keys
	for {
		p, err := s.page(ctx, query, slices.Concat([]any{head, after, options}, args)...)
		if err != nil {
			return err
		}
		for _, r := range p.records {
			if err := yield(r); err != nil {
				return err
			}
		}
		if p.end {
			return nil
		}
		head, after, options = p.head, p.last.Name, p.last.Options[:]
	}
}

// Orders of pages.
const (
	byKey  = `head, name, options`
	newest = `parsed_at DESC NULLS LAST`
)

// bounded returns a query for a page: at most n rows that satisfy a condition, in an order, up to
// the row that exceeds row.PageBytes. The database does not read the values of rows that follow.
func bounded(condition, order string, n int) string {
	return fmt.Sprintf(`SELECT place::text, total, head, digest, sum, %[1]s FROM (
			SELECT *, sum(bytes) OVER (ORDER BY %[3]s ROWS UNBOUNDED PRECEDING)::bigint AS total FROM (
				SELECT ctid AS place, head, digest, bytes, sum, %[1]s FROM vibeflight.record
				WHERE %[2]s ORDER BY %[3]s LIMIT %[4]d
			) page
		) summed WHERE total - bytes < %[5]d ORDER BY %[3]s`,
		row.Columns, condition, order, n, row.PageBytes)
}

// Newest returns the records of the files that were parsed last.
func (s *Store) Newest(ctx context.Context, n int) ([]store.Record, error) {
	if n <= 0 {
		return nil, ctx.Err()
	}
	p, err := s.page(ctx, bounded(`TRUE`, newest, min(n, row.PageRows)))
	return p.records, err
}

type page struct {
	records []store.Record
	head    string    // of the last row, even if it was not decoded
	last    store.Key // of the last row
	end     bool      // this is the last page
}

// page reads the rows of a query. It deletes rows that do not decode.
func (s *Store) page(ctx context.Context, query string, args ...any) (page, error) {
	var p page
	var bad []statement
	scan := func(rows pgx.Rows) error {
		p, bad = page{}, nil // run may try again
		n, total := 0, int64(0)
		for rows.Next() {
			n++
			var place string
			var digest []byte
			var w row.Row
			err := rows.Scan(append([]any{&place, &total, &p.head, &digest}, w.Targets()...)...)
			if err != nil {
				return err
			}
			p.last = w.Key()
			r, err := w.Decode()
			if err == nil && (p.head != headOf(r.Name) || !bytes.Equal(digest, digestOf(r.Name))) {
				err = errors.New("the index has another name")
			}
			if err != nil {
				s.log.Warn().Err(err).Str("name", p.last.Name).Msg("deleted a row of the store that does not decode")
				// The row may have been replaced meanwhile: it then has another checksum.
				bad = append(bad, statement{
					sql:  `DELETE FROM vibeflight.record WHERE ctid = $1::text::tid AND sum = $2`,
					args: []any{place, w.Sum()},
				})
				continue
			}
			p.records = append(p.records, r)
		}
		p.end = n < row.PageRows && total < row.PageBytes
		return nil
	}
	if _, err := s.run(ctx, statement{sql: query, args: args, rows: scan}); err != nil {
		return page{}, err
	}
	if len(bad) > 0 {
		if _, err := s.run(ctx, bad...); err != nil {
			return page{}, err
		}
	}
	return p, nil
}

// Prune removes the records of the names for which keep returns false.
func (s *Store) Prune(ctx context.Context, keep func(name string) bool) (int, error) {
	removed, after := 0, ""
	for {
		names, err := s.names(ctx, after)
		if err != nil || len(names) == 0 {
			return removed, err
		}
		after = names[len(names)-1]
		var heads []string
		var digests [][]byte
		for _, name := range names {
			if !keep(name) {
				heads, digests = append(heads, headOf(name)), append(digests, digestOf(name))
			}
		}
		if len(heads) == 0 {
			continue
		}
		n, err := s.run(ctx, statement{
			sql: `DELETE FROM vibeflight.record
				WHERE (head, digest) IN (SELECT * FROM unnest($1::text[], $2::bytea[]))`,
			args: []any{heads, digests},
		})
		if err != nil {
			return removed, err
		}
		removed += int(n)
	}
}

// names returns the first names after the given one, in order.
func (s *Store) names(ctx context.Context, after string) ([]string, error) {
	var names []string
	_, err := s.run(ctx, statement{
		sql: fmt.Sprintf(`SELECT DISTINCT ON (head, name) name FROM vibeflight.record
			WHERE head >= $1 AND (head, name) > ($1, $2) ORDER BY head, name LIMIT %d`, row.PageRows),
		args: []any{headOf(after), after},
		rows: func(rows pgx.Rows) (err error) {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		},
	})
	return names, err
}
