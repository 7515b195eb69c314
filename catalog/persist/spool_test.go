package persist

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestTableWithoutCache reads a table that can only be kept in memory. It may exceed the budget if
// its file is proportionally large, but not if its file has only a few bytes.
func TestTableWithoutCache(t *testing.T) {
	for _, tt := range []struct {
		name                string
		memory, file, memos int64
		limit               int64
	}{
		{"a small file", 1, 100, 0, 64 << 20},
		{"a larger budget", 100 << 20, 100, 0, 100 << 20},
		{"a large file", 1, 10 << 20, 0, 160 << 20},
		{"a file with memos", 1, 1 << 20, 9 << 20, 160 << 20},
		{"no tables are kept", -1, 100, 0, 64 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.dbf")
			must(t, os.WriteFile(path, nil, 0o600))
			must(t, os.Truncate(path, tt.file))
			if tt.memos > 0 {
				memos := path[:len(path)-1] + "t"
				must(t, os.WriteFile(memos, nil, 0o600))
				must(t, os.Truncate(memos, tt.memos))
			}
			src, err := source.Open("a.dbf", path, ".dbt")
			must(t, err)
			defer src.Close()
			s := InMemory(readers.Limits{}).NewSpool("a.dbf", tt.memory, src)
			defer s.Close()
			chunk := geoarrow.Columns{Rows: 1, Attributes: []geoarrow.Column{{Values: make([]byte, tt.limit/4)}}}
			for i := range 4 {
				if kept, err := s.Keep(&chunk); err != nil || kept != &chunk {
					t.Fatalf("chunk %d of %d bytes: %v, want it as it is", i, chunk.Bytes(), err)
				}
			}
			_, err = s.Keep(&geoarrow.Columns{Rows: 1, Attributes: []geoarrow.Column{{Values: []byte{0}}}})
			if limit := (*readers.LimitError)(nil); !errors.As(err, &limit) || limit.Flag != "--memory" ||
				limit.Limit != tt.limit {
				t.Errorf("a byte more: %v, want the limit %d of --memory", err, tt.limit)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
