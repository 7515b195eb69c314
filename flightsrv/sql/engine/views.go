package engine

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
)

// DuckDB looks up the names in a query, and knows only views. So each name in a query first becomes
// a view of that name, for the entry that it means. A view holds only the entry's name, so that it
// outlives versions of the file. It is replaced if a new or a removed file changes what the name
// means.

// maxViews is how many views are kept. Statements of removed views are prepared again.
const maxViews = 4096

// views are the views of a DuckDB. They do not change while a query is bound.
type views struct {
	mu      sync.RWMutex
	entries map[tableName]string // entries
	max     int                  // of views; a query that needs more may exceed it
}

func newViews() views { return views{entries: map[tableName]string{}, max: maxViews} }

// bindWith calls bind while the mentioned names mean their entries, and the hidden names mean
// nothing.
func (v *views) bindWith(db worker.Database, mentions []mention, hidden []mention, bind func() error) error {
	v.mu.RLock()
	if v.match(mentions, hidden) {
		defer v.mu.RUnlock()
		return bind()
	}
	v.mu.RUnlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.make(db, mentions, hidden); err != nil {
		return err
	}
	return bind()
}

func (v *views) match(mentions, hidden []mention) bool {
	for _, m := range mentions {
		if entry, ok := v.entries[tableNameOf(m.schema, m.name)]; !ok || entry != m.entry {
			return false
		}
	}
	for _, m := range hidden {
		if _, ok := v.entries[tableNameOf(m.schema, m.name)]; ok {
			return false
		}
	}
	return true
}

// make creates views; v.mu is held.
func (v *views) make(db worker.Database, mentions, hidden []mention) error {
	for _, m := range hidden {
		if err := v.drop(db, tableNameOf(m.schema, m.name)); err != nil {
			return err
		}
	}
	if err := v.trim(db, len(mentions)); err != nil {
		return err
	}
	for _, m := range mentions {
		p := tableNameOf(m.schema, m.name)
		if entry, ok := v.entries[p]; ok && entry == m.entry {
			continue
		}
		if err := db.View(lower(m.schema), m.name, m.entry); err != nil {
			return err
		}
		v.entries[p] = m.entry
	}
	return nil
}

// trim makes room for more views. Any view may be removed.
func (v *views) trim(db worker.Database, more int) error {
	if len(v.entries)+more <= v.max {
		return nil
	}
	for p := range v.entries {
		if err := v.drop(db, p); err != nil {
			return err
		}
		if len(v.entries)+more <= v.max*3/4 {
			break
		}
	}
	return nil
}

func (v *views) drop(db worker.Database, p tableName) error {
	if _, ok := v.entries[p]; !ok {
		return nil
	}
	delete(v.entries, p)
	return db.DropView(p.schema, p.name)
}

// mentions finds what the names of a query mean: the names of entries, the names of the session's
// schema that must be hidden, and the error for the first unknown name. The caller ignores that
// error if DuckDB knows the name.
func (e *Engine) mentions(ctx context.Context, refs []duck.Reference, schema string) (
	found, hidden []mention, unknown, err error,
) {
	seen := map[tableName]mention{}
	for _, ref := range refs {
		m, err := e.resolveName(ctx, ref, schema)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if unknown == nil {
				unknown = err
			}
			hidden = append(hidden, mention{schema: cmp.Or(ref.Schema, schema, MainSchema), name: ref.Name},
				mention{schema: cmp.Or(ref.Schema, MainSchema), name: ref.Name})
			continue
		case err != nil:
			return nil, nil, nil, err
		case m == nil:
			continue
		}
		p := tableNameOf(m.schema, m.name)
		if other, ok := seen[p]; ok && other.entry != m.entry {
			return nil, nil, nil, caseError(other, *m)
		}
		seen[p] = *m
		found = append(found, *m)
		if ref.Schema == "" && schema != "" && !strings.EqualFold(m.schema, schema) {
			hidden = append(hidden, mention{schema: schema, name: ref.Name})
		}
	}
	return found, hidden, unknown, nil
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
