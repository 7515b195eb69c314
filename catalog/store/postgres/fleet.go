package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

// forgetTime is after how long expired leases and silent replicas are forgotten. A lease that was
// forgotten has a larger epoch when it is acquired again, because epochs begin at the time in µs.
const (
	forgetLease   = time.Hour
	forgetReplica = 24 * time.Hour
	purgeInterval = time.Minute
)

// interval returns a time as SQL.
func interval(d time.Duration) string {
	return fmt.Sprintf(`interval '%d milliseconds'`, d.Milliseconds())
}

// micros returns the Unix time in µs of an expression, as SQL.
func micros(expression string) string {
	return `(extract(epoch FROM ` + expression + `) * 1000000)::bigint`
}

// leaseColumns are the columns that scanLease reads.
var leaseColumns = `key, name, owner, epoch, progress, ` + micros(`expires_at`)

func leaseTargets(l *fleet.Lease, key *[]byte, expires *int64) []any {
	return []any{key, &l.Name, &l.Owner, &l.Epoch, &l.Progress, expires}
}

// expiry is the time at which a lease expires that is renewed now. clock_timestamp is the time at
// which a row is locked; now would be the time at which the statement began to wait for it.
var expiry = `clock_timestamp() + ` + interval(fleet.LeaseTime)

var (
	// acquire returns the lease of the new owner, or of the present one.
	acquire = `WITH taken AS (
			INSERT INTO vibeflight.lease AS l (key, owner, name, epoch, expires_at, progress)
			VALUES ($1, $2, $3, ` + micros(`clock_timestamp()`) + `, ` + expiry + `, 0)
			ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, name = excluded.name, progress = 0,
				epoch = greatest(l.epoch + 1, excluded.epoch),
				expires_at = ` + expiry + `
			WHERE l.expires_at <= clock_timestamp()
			RETURNING *
		)
		SELECT true, ` + leaseColumns + ` FROM taken
		UNION ALL
		SELECT false, ` + leaseColumns + ` FROM vibeflight.lease
		WHERE key = $1 AND expires_at > clock_timestamp() AND NOT EXISTS (SELECT FROM taken)`
	holder = `SELECT ` + leaseColumns + ` FROM vibeflight.lease WHERE key = $1 AND expires_at > clock_timestamp()`
	renew  = `UPDATE vibeflight.lease SET progress = $4, expires_at = ` + expiry + `
		WHERE key = $1 AND owner = $2 AND epoch = $3 AND owner <> ''`
)

const release = `UPDATE vibeflight.lease SET owner = '', expires_at = clock_timestamp()
	WHERE key = $1 AND owner = $2 AND epoch = $3`

// errBusy says that a lease changed hands again and again.
var errBusy = errors.New("other replicas acquire and release the lease all the time")

// Acquire takes the lease of a key, if it is free.
func (s *Store) Acquire(ctx context.Context, key fleet.WorkKey, owner, name string) (fleet.Lease, bool, error) {
	if err := checkID(owner); err != nil {
		return fleet.Lease{}, false, err
	}
	const tries = 10
	for range tries {
		l := fleet.Lease{Key: key}
		var ok, found bool
		var text []byte
		var expires int64
		// It is not repeated after an error: the first try may have acquired the lease.
		_, err := s.runOnce(ctx, statement{
			sql: acquire, args: []any{key[:], owner, clean(name)},
			rows: one(&found, append([]any{&ok}, leaseTargets(&l, &text, &expires)...)...),
		})
		if err != nil {
			return fleet.Lease{}, false, err
		}
		if found {
			l.Expires = time.UnixMicro(expires)
			return l, ok, nil
		}
		// Another replica acquired the lease after the statement began. The next one sees it.
	}
	return fleet.Lease{}, false, fmt.Errorf("lease of %s: %w: %w", name, fleet.ErrAway, errBusy)
}

// Renew extends a lease and records its progress.
func (s *Store) Renew(ctx context.Context, l fleet.Lease) error {
	n, err := s.run(ctx, statement{sql: renew, args: []any{l.Key[:], l.Owner, l.Epoch, l.Progress}})
	if err == nil && n == 0 {
		return fmt.Errorf("lease of %s: %w", l.Name, fleet.ErrLost)
	}
	return err
}

// Release frees a lease, unless it is lost.
func (s *Store) Release(ctx context.Context, l fleet.Lease) error {
	_, err := s.run(ctx, statement{sql: release, args: []any{l.Key[:], l.Owner, l.Epoch}})
	return err
}

// Holder returns the present lease of a key.
func (s *Store) Holder(ctx context.Context, key fleet.WorkKey) (fleet.Lease, bool, error) {
	l := fleet.Lease{Key: key}
	var found bool
	var text []byte
	var expires int64
	_, err := s.run(ctx, statement{
		sql: holder, args: []any{key[:]}, rows: one(&found, leaseTargets(&l, &text, &expires)...),
	})
	if err != nil || !found {
		return fleet.Lease{}, false, err
	}
	l.Expires = time.UnixMicro(expires)
	return l, true, nil
}

// Announce records that a replica is alive. From time to time it also removes what is forgotten.
func (s *Store) Announce(ctx context.Context, r fleet.Replica) error {
	if err := checkID(r.ID); err != nil {
		return err
	}
	locations := make([]string, len(r.Locations))
	for i, location := range r.Locations {
		locations[i] = clean(location)
	}
	_, err := s.run(ctx, statement{
		sql: `INSERT INTO vibeflight.replica (id, locations, load, seen)
			VALUES ($1, $2::text[], $3, clock_timestamp())
			ON CONFLICT (id) DO UPDATE SET locations = excluded.locations, load = excluded.load, seen = excluded.seen`,
		args: []any{r.ID, locations, r.Load},
	})
	if err != nil {
		return err
	}
	if now, last := time.Now().UnixNano(), s.purged.Load(); now-last < int64(purgeInterval) ||
		!s.purged.CompareAndSwap(last, now) {
		return nil
	}
	_, err = s.run(ctx, statement{
		sql: `DELETE FROM vibeflight.lease WHERE key IN (SELECT key FROM vibeflight.lease
			WHERE expires_at < now() - ` + interval(forgetLease) + ` LIMIT 10000 FOR UPDATE SKIP LOCKED)`,
	}, statement{
		sql: `DELETE FROM vibeflight.replica WHERE id IN (SELECT id FROM vibeflight.replica
			WHERE seen < now() - ` + interval(forgetReplica) + ` LIMIT 1 FOR UPDATE SKIP LOCKED)`,
	})
	return err
}

// Leave removes a replica and what is known of its tables.
func (s *Store) Leave(ctx context.Context, id string) error {
	_, err := s.run(ctx, statement{sql: `DELETE FROM vibeflight.replica WHERE id = $1`, args: []any{id}})
	return err
}

var presence = interval(fleet.PresenceTime)

// Replicas returns the replicas that are alive.
func (s *Store) Replicas(ctx context.Context) ([]fleet.Replica, error) {
	var replicas []fleet.Replica
	_, err := s.run(ctx, statement{
		sql: `SELECT id, locations, load, ` + micros(`seen`) + ` FROM vibeflight.replica
			WHERE seen > clock_timestamp() - ` + presence + ` ORDER BY id`,
		rows: func(rows pgx.Rows) error {
			replicas = nil
			for rows.Next() {
				var r fleet.Replica
				var seen int64
				if err := rows.Scan(&r.ID, &r.Locations, &r.Load, &seen); err != nil {
					return err
				}
				r.Seen = time.UnixMicro(seen)
				replicas = append(replicas, r)
			}
			return nil
		},
	})
	return replicas, err
}

// maxKept bounds the tables of one statement.
const maxKept = 5000

// Keep records which tables a replica has. A replica that was never announced is known from then
// on, and not alive.
func (s *Store) Keep(ctx context.Context, id string, added, dropped []fleet.TableKey) error {
	if err := checkID(id); err != nil {
		return err
	}
	for len(added) > 0 || len(dropped) > 0 {
		some, less := added[:min(len(added), maxKept)], dropped[:min(len(dropped), maxKept)]
		added, dropped = added[len(some):], dropped[len(less):]
		_, err := s.run(ctx, statement{
			sql: `INSERT INTO vibeflight.replica (id, locations, load, seen)
				VALUES ($1, '{}', 0, clock_timestamp() - ` + presence + `) ON CONFLICT DO NOTHING`,
			args: []any{id},
		}, statement{
			sql: `INSERT INTO vibeflight.keeper (table_key, replica) SELECT DISTINCT unnest($2::bytea[]), $1::text
				ON CONFLICT DO NOTHING`,
			args: []any{id, tableKeys(some)},
		}, statement{
			sql:  `DELETE FROM vibeflight.keeper WHERE replica = $1 AND table_key = ANY($2::bytea[])`,
			args: []any{id, tableKeys(less)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func tableKeys(tables []fleet.TableKey) [][]byte {
	keys := make([][]byte, len(tables))
	for i := range tables {
		keys[i] = tables[i][:]
	}
	return keys
}

// Keepers returns the live replicas that have a table.
func (s *Store) Keepers(ctx context.Context, table fleet.TableKey) ([]string, error) {
	var ids []string
	_, err := s.run(ctx, statement{
		sql: `SELECT replica FROM vibeflight.keeper JOIN vibeflight.replica ON id = replica
			WHERE table_key = $1 AND seen > clock_timestamp() - ` + presence + ` ORDER BY replica`,
		args: []any{table[:]},
		rows: func(rows pgx.Rows) (err error) {
			ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		},
	})
	return ids, err
}

// checkID returns an error for an ID that a replica cannot have.
func checkID(id string) error {
	if id == "" || !utf8.ValidString(id) || strings.Contains(id, "\x00") {
		return fmt.Errorf("%q cannot be the ID of a replica", id)
	}
	return nil
}

// clean returns a text for people as the database accepts it.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}
