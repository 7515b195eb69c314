package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/vibeflight/vibeflight/readers/source"
)

// TestAgainstSQLite writes random databases with SQLite, and reads the same rows as it does: pages
// of all sizes, three encodings, deleted and updated rows, overflow pages, pointer maps, a WAL.
func TestAgainstSQLite(t *testing.T) {
	n := 24
	if testing.Short() {
		n = 8
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareRandom(t, uint64(seed)) })
	}
}

func compareRandom(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 35))
	path := filepath.Join(t.TempDir(), "a.gpkg")
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	do := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	do(fmt.Sprintf("PRAGMA page_size = %d", 512<<r.IntN(8)))
	do(fmt.Sprintf("PRAGMA encoding = '%s'", []string{"UTF-8", "UTF-16le", "UTF-16be"}[r.IntN(3)]))
	do(fmt.Sprintf("PRAGMA auto_vacuum = %d", r.IntN(3)))
	if r.IntN(2) == 0 {
		do("PRAGMA journal_mode = WAL")
		do("PRAGMA wal_autocheckpoint = 3")
	}
	do("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c)")
	do("CREATE TABLE other (a)")
	for range 1 + r.IntN(6) {
		do("BEGIN")
		for range r.IntN(80) {
			id := r.Int64N(2000) - 500
			switch r.IntN(8) {
			case 0:
				do("DELETE FROM t WHERE id BETWEEN ? AND ?", id, id+r.Int64N(200))
			case 1:
				do("INSERT INTO other VALUES (?)", value(r))
			default:
				do("INSERT OR REPLACE INTO t VALUES (?, ?, ?, ?)", id<<r.IntN(40), value(r), value(r), value(r))
			}
		}
		do([]string{"COMMIT", "COMMIT", "ROLLBACK"}[r.IntN(3)])
		if r.IntN(8) == 0 {
			do("VACUUM")
		}
	}
	got := readAll(t, path)
	rows, err := db.QueryContext(t.Context(), "SELECT id, a, b, c FROM t ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	count := 0
	for ; rows.Next(); count++ {
		var v [4]any
		if err := rows.Scan(&v[0], &v[1], &v[2], &v[3]); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%#v", v); count >= len(got) || got[count] != want {
			t.Fatalf("row %d of %d\ngot:  %.200v\nwant: %.200s", count, len(got), got[min(count, len(got)-1):], want)
		}
	}
	if err := rows.Err(); err != nil || count != len(got) {
		t.Fatalf("%d rows, want %d, %v", len(got), count, err)
	}
}

// value returns a random value of any storage class.
func value(r *rand.Rand) any {
	size := r.IntN(40)
	if r.IntN(6) == 0 {
		size = r.IntN(9000)
	}
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		return int64(r.Uint64()) >> r.IntN(64)
	case 2:
		return math.Float64frombits(r.Uint64()&^(1<<62)) + 0.5
	case 3:
		return r.Int64N(3)
	case 4:
		text := []rune("aé𝄞 ")
		b := make([]rune, size)
		for i := range b {
			b[i] = text[r.IntN(len(text))]
		}
		return string(b)
	}
	return bytes.Repeat([]byte{byte(r.UintN(256))}, size)
}

// readAll reads the rows of table t.
func readAll(t *testing.T, path string) (all []string) {
	t.Helper()
	src, err := source.Open("a.gpkg", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	walFile, err := src.Sibling(".gpkg-wal")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(src, walFile)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := d.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.Name != "t" {
			continue
		}
		err := d.Each(t.Context(), o.Root, func(r *Row, values []Value) error {
			row := [4]any{r.ID}
			for i := 1; i < len(values); i++ {
				v := &values[i]
				switch v.Class {
				case Integer:
					row[i] = v.Int
				case Float:
					row[i] = v.Float()
				case Text:
					text, err := d.AppendText(nil, v.Bytes)
					if err != nil {
						return err
					}
					row[i] = string(text)
				case Blob:
					row[i] = bytes.Clone(v.Bytes)
				}
			}
			all = append(all, fmt.Sprintf("%#v", row))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Log("with a WAL")
	}
	return all
}
