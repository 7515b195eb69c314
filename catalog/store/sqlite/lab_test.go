package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

// TestMain runs the test binary as a child process if childVar is set.
func TestMain(m *testing.M) {
	if job := os.Getenv(childVar); job != "" {
		os.Exit(child(job))
	}
	os.Exit(m.Run())
}

func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "catalog.db") }

// open opens a store and returns it with its log. It closes the store at the end of the test.
func open(t testing.TB, path string) (*Store, *storetest.Log) {
	t.Helper()
	log := &storetest.Log{}
	s, err := Open(path, zerolog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, log
}
