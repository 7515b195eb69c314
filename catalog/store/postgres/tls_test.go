package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store/postgres/pgtest"
)

// TestTLS connects with the modes of TLS that a URL may have.
func TestTLS(t *testing.T) {
	settings, cert := pgtest.Certificate(t)
	_, other := pgtest.Certificate(t)
	p := pgtest.StartOwn(t, settings...)
	for _, tt := range []struct {
		mode    string
		ok, tls bool
	}{
		{"disable", true, false}, {"prefer", true, true}, {"require", true, true},
		{"verify-full&sslrootcert=" + cert, true, true},
		{"verify-ca&sslrootcert=" + cert, true, true},
		{"verify-full&sslrootcert=" + other, false, false},
		{"verify-full", false, false}, // the system does not know the certificate
	} {
		s, _ := connect(t, strings.Replace(p.URL("postgres"), "disable", tt.mode, 1), timeout)
		err := s.Prepare(t.Context())
		if ok := err == nil; ok != tt.ok || !ok && !errors.Is(err, fleet.ErrAway) {
			t.Errorf("sslmode %s: %v", tt.mode, err)
		}
		if err != nil {
			continue
		}
		var tls bool
		const query = `SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`
		if err := s.pool.QueryRow(t.Context(), query).Scan(&tls); err != nil || tls != tt.tls {
			t.Errorf("sslmode %s: TLS %v, %v, want %v", tt.mode, tls, err, tt.tls)
		}
	}
}
