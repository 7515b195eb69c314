package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

// whole returns a closed database with records, as the bytes of its one file.
func whole(t *testing.T, records int) []byte {
	t.Helper()
	path := fresh(t)
	s, _ := open(t, path)
	for i := range records {
		storetest.Put(t, s, storetest.Sample(fmt.Sprintf("%04d", i), i))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func alter(t *testing.T, path, statements string) {
	t.Helper()
	db, err := driver.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statements)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// brokenFiles lists the files that were set aside from path.
func brokenFiles(t *testing.T, path string) []string {
	t.Helper()
	names, _, err := broken(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], path)
	}
	slices.Sort(names)
	return names
}

func TestUnusableFilesAreSetAside(t *testing.T) {
	good := whole(t, 40)
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string)
		want string // in the warning
	}{
		{"text", func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("text "), 5000)) }, "reserves"},
		{"zeros", func(t *testing.T, path string) { write(t, path, make([]byte, 8192)) }, "not a database"},
		{"one byte", func(t *testing.T, path string) { write(t, path, []byte{0}) }, "not a database"},
		{"half", func(t *testing.T, path string) { write(t, path, good[:len(good)/2]) }, ""},
		{"header alone", func(t *testing.T, path string) { write(t, path, good[:100]) }, ""},
		{"no last page", func(t *testing.T, path string) { write(t, path, good[:len(good)-4096]) }, ""},
		{"zeros after the first page", func(t *testing.T, path string) {
			write(t, path, append(bytes.Clone(good[:4096]), make([]byte, len(good)-4096)...))
		}, ""},
		{"of another application", func(t *testing.T, path string) {
			alter(t, path, `PRAGMA application_id = 7; CREATE TABLE a (b)`)
		}, "another application, 0x00000007"},
		{"of an unnamed application", func(t *testing.T, path string) {
			alter(t, path, `CREATE TABLE a (b)`)
		}, "another application, 0x00000000"},
		{"newer", func(t *testing.T, path string) {
			write(t, path, good)
			alter(t, path, `PRAGMA user_version = 99`)
		}, "version 99"},
		{"version 0", func(t *testing.T, path string) {
			write(t, path, good)
			alter(t, path, `PRAGMA user_version = 0`)
		}, "version 0"},
		{"no table", func(t *testing.T, path string) {
			write(t, path, good)
			alter(t, path, `DROP TABLE record`)
		}, "no such table"},
		{"no column", func(t *testing.T, path string) {
			write(t, path, good)
			alter(t, path, `ALTER TABLE record DROP COLUMN crs`)
		}, "crs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := fresh(t)
			tt.make(t, path)
			was := read(t, path)
			s, log := open(t, path)
			if got := storetest.All(t, s); len(got) != 0 {
				t.Errorf("%d records", len(got))
			}
			storetest.Works(t, s)
			if aside := brokenFiles(t, path); !slices.Contains(aside, ".broken-1") ||
				!bytes.Equal(read(t, path+".broken-1"), was) {
				t.Errorf("set aside %q, not the file as it was", aside)
			}
			if got := log.String(); strings.Count(got, `"level":"warn"`) != 1 || !strings.Contains(got, tt.want) {
				t.Errorf("log %s, want one warning with %q", got, tt.want)
			}
		})
	}
}

func TestOneIsKeptAside(t *testing.T) {
	path := fresh(t)
	write(t, path+".broken-x", nil) // not named by setAside
	for n := 1; n <= 3; n++ {
		write(t, path, []byte("no database"))
		s, _ := open(t, path)
		storetest.Works(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := brokenFiles(t, path), []string{fmt.Sprintf(".broken-%d", n)}; !slices.Equal(got, want) {
			t.Errorf("set aside %q, want %q", got, want)
		}
	}
	if _, err := os.Stat(path + ".broken-x"); err != nil {
		t.Error(err)
	}
}

// TestLogOfARemovedDatabase expects that the files of a removed database are not used for the new
// one.
func TestLogOfARemovedDatabase(t *testing.T) {
	path := fresh(t)
	s, _ := open(t, path)
	storetest.Put(t, s, storetest.Sample("a", 1))
	wal := read(t, path+"-wal")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, nil)
	write(t, path+"-wal", wal)
	s, log := open(t, path)
	if got := storetest.All(t, s); len(got) != 0 || log.String() != "" {
		t.Errorf("%d records, log %s, want none", len(got), log)
	}
	storetest.Works(t, s)
}

// TestFlippedBits expects that a flipped bit never changes a record: each is unchanged or missing,
// and the store works.
func TestFlippedBits(t *testing.T) {
	const records = 20
	good := whole(t, records)
	dir := t.TempDir()
	setAside, same, fewer := 0, 0, 0
	flip := func(at, bit int) {
		path := filepath.Join(dir, fmt.Sprintf("%d-%d.db", at, bit))
		bad := bytes.Clone(good)
		bad[at] ^= 1 << bit
		write(t, path, bad)
		s, err := Open(path, zerolog.Nop())
		if err != nil {
			t.Errorf("byte %d, bit %d: %v", at, bit, err)
			return
		}
		got := storetest.All(t, s)
		for _, r := range got {
			storetest.Intact(t, r)
		}
		switch aside := len(brokenFiles(t, path)) > 0; {
		case aside:
			setAside++
		case len(got) == records:
			same++
		default:
			fewer++
		}
		storetest.Works(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	header, stride := 1, 97
	if testing.Short() {
		header, stride = 3, 1999
	}
	flip(20, 3) // the header then asks for checksums of pages
	for at := 0; at < 100; at += header {
		flip(at, at%8)
	}
	for at := 100; at < len(good); at += stride {
		flip(at, at%8)
	}
	t.Logf("%d set aside, %d with all records, %d with fewer", setAside, same, fewer)
}

// TestFlippedBitsOfTheLog flips a bit in the log of a crash. The valid part of the log is replayed.
func TestFlippedBitsOfTheLog(t *testing.T) {
	path := fresh(t)
	s, _ := open(t, path)
	const records = 20
	for i := range records {
		storetest.Put(t, s, storetest.Sample(fmt.Sprintf("%04d", i), i))
	}
	base, wal := read(t, path), read(t, path+"-wal")
	dir := t.TempDir()
	stride := 499
	if testing.Short() {
		stride = 9999
	}
	for at := 0; at < len(wal); at += stride {
		bad := bytes.Clone(wal)
		bad[at] ^= 1 << (at % 8)
		path := filepath.Join(dir, fmt.Sprintf("%d.db", at))
		write(t, path, base)
		write(t, path+"-wal", bad)
		s, _ := open(t, path)
		for i, r := range storetest.All(t, s) {
			if want := fmt.Sprintf("%04d", i); r.Name != want {
				t.Errorf("byte %d: record %d is %s", at, i, r.Name)
			}
			storetest.Intact(t, r)
		}
		storetest.Works(t, s)
	}
}

// TestDamageAtRunTime damages the database while the store is open.
func TestDamageAtRunTime(t *testing.T) {
	const records = 400 // more bytes than a connection caches
	good := whole(t, records)
	for _, tt := range []struct {
		name string
		use  func(*testing.T, *Store)
	}{
		{"get", func(t *testing.T, s *Store) {
			for i := range records {
				r, ok, err := s.Get(context.Background(), storetest.Sample(fmt.Sprintf("%04d", i), i).Key)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					storetest.Intact(t, r)
				}
			}
		}},
		{"put", func(t *testing.T, s *Store) {
			for i := range records {
				storetest.Put(t, s, storetest.Sample(fmt.Sprintf("%04d", i), i+1))
			}
		}},
		{"all", func(t *testing.T, s *Store) {
			for _, r := range storetest.All(t, s) {
				storetest.Intact(t, r)
			}
		}},
		{"prune", func(t *testing.T, s *Store) {
			if _, err := s.Prune(context.Background(), func(string) bool { return false }); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := fresh(t)
			write(t, path, good)
			s, log := open(t, path)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt(bytes.Repeat([]byte{0x55}, len(good)-4096), 4096); err != nil {
				t.Fatal(err)
			}
			tt.use(t, s)
			storetest.Works(t, s)
			if aside := brokenFiles(t, path); !slices.Contains(aside, ".broken-1") ||
				strings.Count(log.String(), `"level":"warn"`) != 1 {
				t.Errorf("set aside %q, log %s", aside, log)
			}
		})
	}
}

// TestMovedDatabase removes the database, or sets it aside as another process does.
func TestMovedDatabase(t *testing.T) {
	path := fresh(t)
	a, _ := open(t, path)
	b, log := open(t, path)
	storetest.Put(t, a, storetest.Sample("old", 1))
	if _, err := setAside(path); err != nil {
		t.Fatal(err)
	}
	storetest.Works(t, a)
	aside := []string{".broken-1", ".broken-1-shm", ".broken-1-wal"}
	if got := brokenFiles(t, path); !slices.Equal(got, aside) {
		t.Errorf("set aside %q, want %q", got, aside)
	}
	storetest.Put(t, a, storetest.Sample("new", 1))
	got := storetest.All(t, b)
	if len(got) != 2 || got[0].Name != "new" || log.String() != "" {
		t.Errorf("the other has %d records, log %s, want new and works", len(got), log)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Works(t, b)
	if got := storetest.All(t, a); len(got) != 1 {
		t.Errorf("%d records, want 1", len(got))
	}
}

func TestRowsThatDoNotDecode(t *testing.T) {
	for _, tt := range []struct{ name, set string }{
		{"bad JSON", `columns = '[{'`},
		{"JSON of another kind", `geometry_types = '7'`},
		{"invalid UTF-8 in JSON", `columns = CAST(x'5b7b226e616d65223a22ff227d5d' AS TEXT)`},
		{"digest of options", `options = x'01'`},
		{"digest of the content", `content = x'0102'`},
		{"box", `bbox = x'00'`},
		{"name", `name = CAST(x'62ff' AS TEXT)`},
		{"empty name", `name = ''`},
		{"value", `rows = rows + 1`},
		{"value that is gone", `bbox = NULL`},
		{"checksum", `sum = x'00'`},
		{"digest of siblings", `siblings = x'01'`},
		{"siblings that were none", `siblings = x'01010101010101010101010101010101'`},
		{"layers", `layers = '{'`},
		{"layers that were none", `layers = '["a"]'`},
		{"text", `crs = CAST(x'ff' AS TEXT)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, log := open(t, fresh(t))
			storetest.Put(t, s, storetest.Sample("a", 1), storetest.Sample("b", 1), storetest.Sample("c", 1))
			if _, err := s.db.write.Exec(`UPDATE record SET ` + tt.set + ` WHERE name = 'b'`); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := s.Get(context.Background(), storetest.Sample("b", 1).Key); ok || err != nil {
				t.Errorf("get: %v, %v, want none", ok, err)
			}
			got := storetest.All(t, s)
			if len(got) != 2 || got[0].Name != "a" || got[1].Name != "c" {
				t.Errorf("%d records, want a and c", len(got))
			}
			var rows int
			// A row without a name is in no listing and no call returns it, so Prune need not find
			// it.
			if err := s.db.write.QueryRow(`SELECT count(*) FROM record WHERE name <> ''`).Scan(&rows); err != nil ||
				rows != 2 {
				t.Errorf("%d rows, %v, want 2", rows, err)
			}
			if n := strings.Count(log.String(), `"level":"warn"`); n != 1 && tt.name != "empty name" {
				t.Errorf("log %s, want one warning", log)
			}
		})
	}
}

func TestNoStoreToBeHad(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "none", "catalog.db"), dir, "/proc/self/catalog.db"} {
		if s, err := Open(path, zerolog.Nop()); err == nil {
			t.Errorf("%s: opened", path)
			_ = s.Close()
		} else {
			t.Log(err)
		}
	}
}
