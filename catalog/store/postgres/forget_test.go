package postgres

import (
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store/postgres/pgtest"
)

// TestForget lets leases and replicas become old enough to be forgotten.
func TestForget(t *testing.T) {
	p := pgtest.Start(t)
	name := p.Database(t)
	s, _ := connect(t, p.URL(name), timeout)
	ctx := t.Context()
	old, fresh := fleet.WorkKey{1}, fleet.WorkKey{2}
	var first fleet.Lease
	for _, key := range []fleet.WorkKey{fresh, old} {
		l, ok, err := s.Acquire(ctx, key, "a", "")
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		first = l
	}
	table := fleet.TableKey{1}
	for _, id := range []string{"silent", "crashed"} {
		if err := s.Keep(ctx, id, []fleet.TableKey{table}, nil); err != nil {
			t.Fatal(err)
		}
	}
	p.Exec(t, name, `UPDATE vibeflight.lease SET expires_at = expires_at - interval '2 hours' WHERE get_byte(key, 0) = 1;
		UPDATE vibeflight.replica SET seen = seen - interval '2 hours' WHERE id = 'silent';
		UPDATE vibeflight.replica SET seen = seen - interval '2 days' WHERE id = 'crashed'`)
	rows := func(query string) (all []string) {
		t.Helper()
		r, err := s.pool.Query(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			var text string
			if err := r.Scan(&text); err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return all
	}
	for range 2 { // the second one is too early to purge
		if err := s.Announce(ctx, fleet.Replica{ID: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := rows(`SELECT get_byte(key, 0)::text FROM vibeflight.lease`); !slices.Equal(got, []string{"2"}) {
		t.Errorf("leases %q, want 2 only", got)
	}
	if got := rows(`SELECT replica FROM vibeflight.keeper`); !slices.Equal(got, []string{"silent"}) {
		t.Errorf("keepers %q, want the one that is silent for a short time", got)
	}
	if again, ok, err := s.Acquire(ctx, old, "b", ""); !ok || err != nil || again.Epoch <= first.Epoch {
		t.Errorf("acquired %+v, %v, %v after %+v", again, ok, err, first)
	}
}
