package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/internal/row"
)

// upsert has the values of a row as parameters.
var upsert = `INSERT INTO record (` + row.Columns + `, sum) VALUES (?` + strings.Repeat(`, ?`, len(row.Names())) +
	`) ON CONFLICT (name, options) DO UPDATE SET ` + row.Assignments()

// Get returns the record of a key.
func (s *Store) Get(ctx context.Context, key store.Key) (store.Record, bool, error) {
	if err := store.CheckName(key.Name); err != nil {
		return store.Record{}, false, err
	}
	var page page
	err := s.do(func(d *database) (err error) {
		page, err = s.page(ctx, d, `WHERE name = ? AND options = ?`, key.Name, key.Options[:])
		return err
	})
	if err != nil || len(page.records) == 0 {
		return store.Record{}, false, err
	}
	return page.records[0], true, nil
}

// Newest returns the records of the files that were parsed last.
func (s *Store) Newest(ctx context.Context, n int) ([]store.Record, error) {
	var page page
	err := s.do(func(d *database) (err error) {
		page, err = s.page(ctx, d, "WHERE id IN (SELECT id FROM record ORDER BY parsed_at DESC LIMIT ?) "+
			"ORDER BY parsed_at DESC", n)
		return err
	})
	return page.records, err
}

// Put stores a record. It waits up to 5 s for a writer of another process.
func (s *Store) Put(ctx context.Context, r store.Record) error {
	values, err := row.Encode(&r)
	if err != nil {
		return err
	}
	return s.do(func(d *database) error {
		_, err := d.write.ExecContext(ctx, upsert, values...)
		return err
	})
}

// Delete removes the record of a key.
func (s *Store) Delete(ctx context.Context, key store.Key) error {
	if err := store.CheckName(key.Name); err != nil {
		return err
	}
	return s.do(func(d *database) error {
		_, err := d.write.ExecContext(ctx, `DELETE FROM record WHERE name = ? AND options = ?`, key.Name,
			key.Options[:])
		return err
	})
}

// All calls yield for each record. If the database turns out to be damaged, the listing continues
// in the new, empty one, and so ends.
func (s *Store) All(ctx context.Context, yield func(store.Record) error) error {
	return s.list(ctx, yield, `TRUE`)
}

// Of calls yield for each record of a name, as All does.
func (s *Store) Of(ctx context.Context, name string, yield func(store.Record) error) error {
	if err := store.CheckName(name); err != nil {
		return err
	}
	return s.list(ctx, yield, `name = ?`, name)
}

// Layered calls yield for each record that has layers, as All does.
func (s *Store) Layered(ctx context.Context, yield func(store.Record) error) error {
	return s.list(ctx, yield, `layers IS NOT NULL`)
}

// list calls yield for each record that satisfies a condition with arguments.
func (s *Store) list(ctx context.Context, yield func(store.Record) error, condition string, args ...any) error {
	after, options := "", []byte{} // less than all keys
	for {
		var page page
		err := s.do(func(d *database) (err error) {
			page, err = s.page(ctx, d, `WHERE `+condition+` AND (name, options) > (?, ?) ORDER BY name, options`,
				slices.Concat(args, []any{after, options})...)
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range page.records {
			if err := yield(r); err != nil {
				return err
			}
		}
		if page.end {
			return nil
		}
		after, options = page.last.Name, page.last.Options[:]
	}
}

// Prune removes the records of the names for which keep returns false.
func (s *Store) Prune(ctx context.Context, keep func(name string) bool) (int, error) {
	removed, after := 0, ""
	for {
		var names []string
		err := s.do(func(d *database) (err error) {
			names, err = d.names(ctx, after)
			return err
		})
		if err != nil || len(names) == 0 {
			return removed, err
		}
		after = names[len(names)-1]
		var drop []string
		for _, name := range names {
			if !keep(name) {
				drop = append(drop, name)
			}
		}
		if len(drop) == 0 {
			continue
		}
		n := 0
		err = s.do(func(d *database) (err error) {
			n, err = d.drop(ctx, drop)
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += n
	}
}

type page struct {
	records []store.Record
	last    store.Key // of the last row, even if it was not decoded
	end     bool      // this is the last page
}

// page reads the next rows that satisfy where with its arguments. It deletes rows that do not
// decode.
func (s *Store) page(ctx context.Context, d *database, where string, args ...any) (page, error) {
	var p page
	rows, err := d.read.QueryContext(ctx, `SELECT id, sum, `+row.Columns+` FROM record `+where+` LIMIT ?`,
		append(args, row.PageRows)...)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	var bad []int64
	n, size := 0, 0
	for n < row.PageRows && size < row.PageBytes && rows.Next() {
		var id int64
		var w row.Row
		err := rows.Scan(append([]any{&id}, w.Targets()...)...)
		if ctx.Err() != nil {
			return page{}, ctx.Err() // the error of Scan is then not about the row
		}
		n++
		size += w.Bytes()
		p.last = w.Key()
		var r store.Record
		if err == nil {
			r, err = w.Decode()
		}
		if err != nil {
			s.log.Warn().Err(err).Str("name", p.last.Name).Msg("deleted a row of the store that does not decode")
			bad = append(bad, id)
			continue
		}
		p.records = append(p.records, r)
	}
	p.end = n < row.PageRows && size < row.PageBytes
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return page{}, err
	}
	return p, d.deleteRows(ctx, bad)
}

// deleteRows deletes rows that were read. It may also delete a row that another process has
// replaced in the meantime, which costs a parse.
func (d *database) deleteRows(ctx context.Context, ids []int64) error {
	for _, id := range ids {
		if _, err := d.write.ExecContext(ctx, `DELETE FROM record WHERE id = ?`, id); err != nil {
			return err
		}
	}
	return nil
}

// names returns the first names after the given one, in order.
func (d *database) names(ctx context.Context, after string) ([]string, error) {
	rows, err := d.read.QueryContext(ctx, `SELECT DISTINCT name FROM record WHERE name > ? ORDER BY name LIMIT ?`,
		after, row.PageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// drop removes all records of the names in one transaction, and returns their number.
func (d *database) drop(ctx context.Context, names []string) (int, error) {
	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	removed := 0
	for _, name := range names {
		result, err := tx.ExecContext(ctx, `DELETE FROM record WHERE name = ?`, name)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		removed += int(n)
	}
	return removed, tx.Commit()
}
