package sqlite

import (
	"fmt"
	"os"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.TestStore(t, func(t testing.TB) storetest.Opener {
		path := fresh(t)
		return func(log zerolog.Logger) (store.Store, error) { return Open(path, log) }
	})
}

// TestSettings checks the settings that speed and privacy depend on.
func TestSettings(t *testing.T) {
	path := fresh(t)
	s, _ := open(t, path)
	storetest.Put(t, s, storetest.Sample("a", 1))
	for pragma, want := range map[string]string{
		"synchronous": "1", "journal_mode": "wal", "busy_timeout": "5000",
		"user_version":   fmt.Sprint(len(migrations())),
		"application_id": fmt.Sprint(applicationID),
	} {
		var got string
		if err := s.db.write.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", pragma, got, err, want)
		}
	}
	for _, suffix := range []string{"", "-wal", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode() != fileMode {
			t.Errorf("%q: %v, %v, want mode %v", suffix, info.Mode(), err, os.FileMode(fileMode))
		}
	}
}
