package sqlite

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

var update = flag.Bool("update", false, "write testdata/v<n>.db of the current version, if there is none")

// TestOlderVersions opens a database of every released version. testdata/v<n>.db has three samples,
// written by the code of version n with -update.
func TestOlderVersions(t *testing.T) {
	for version := 1; version <= len(migrations()); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			old := filepath.Join("testdata", fmt.Sprintf("v%d.db", version))
			if _, err := os.Stat(old); err != nil && *update && version == len(migrations()) {
				write(t, old, whole(t, 3))
			}
			path := fresh(t)
			write(t, path, read(t, old))
			s, log := open(t, path)
			got := storetest.All(t, s)
			if len(got) != 3 || log.String() != "" {
				t.Errorf("%d records, log %s, want 3", len(got), log)
			}
			for _, r := range got {
				storetest.Intact(t, r)
			}
			storetest.Works(t, s)
		})
	}
}

// TestMigrations adds steps after the released ones, as later versions will do.
func TestMigrations(t *testing.T) {
	now := migrations()
	then := append(slices.Clone(now), `ALTER TABLE record ADD COLUMN note TEXT`, `UPDATE record SET note = name || '!'`)
	for from := len(now); from <= len(then); from++ {
		t.Run(fmt.Sprintf("from %d", from), func(t *testing.T) {
			path := fresh(t)
			for _, steps := range [][]string{then[:from], then, then} {
				s, err := openWith(path, zerolog.Nop(), steps)
				if err != nil {
					t.Fatal(err)
				}
				if len(storetest.All(t, s)) == 0 {
					storetest.Put(t, s, storetest.Sample("a", 1))
				}
				if len(steps) == len(then) && from < len(then) {
					var note string
					if err := s.db.write.QueryRow(`SELECT note FROM record`).Scan(&note); err != nil || note != "a!" {
						t.Errorf("migrated to %q, %v", note, err)
					}
				}
				var version int
				if err := s.db.write.QueryRow(`PRAGMA user_version`).Scan(&version); err != nil ||
					version != len(steps) {
					t.Errorf("version %d, %v, want %d", version, err, len(steps))
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if aside := brokenFiles(t, path); len(aside) != 0 {
				t.Errorf("set aside %q", aside)
			}
		})
	}
}

// TestMigrationThatDoesNotGoThrough expects that a failing step changes nothing. Here the old
// database is set aside, and a new one cannot be created either.
func TestMigrationThatDoesNotGoThrough(t *testing.T) {
	path := fresh(t)
	s, _ := open(t, path)
	storetest.Put(t, s, storetest.Sample("a", 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := openWith(path, zerolog.Nop(),
		append(migrations(), `UPDATE record SET crs = 'half'; INSERT INTO none VALUES (1)`))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("migration to version %d", len(migrations())+1)) {
		t.Fatalf("opened %v, error %v", s, err)
	}
	if err := os.Rename(path+".broken-1", path); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, path)
	got := storetest.All(t, s)
	if len(got) != 1 {
		t.Fatalf("%d records, want 1", len(got))
	}
	storetest.Intact(t, got[0])
}
