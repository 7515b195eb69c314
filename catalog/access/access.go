// Package access says what a caller may do with the entries of a catalog.
package access

import "context"

// Privilege is what a caller may do with an entry.
type Privilege uint8

// Privileges. None of them includes another one.
const (
	Describe Privilege = iota // learn that the entry exists, its schema and its counts
	Read                      // read its rows by a ticket
	SQL                       // read its rows by SQL
	Write                     // store it, append to it, and drop it
	Admin                     // evict its tables, and see what others do with it
)

// Restriction is the part of a table that a caller may know. The rest does not exist for the
// caller: rows, counts, boxes and statistics are those of this part.
type Restriction struct {
	Hidden []string          // columns that are left out, sorted
	Masks  map[string]string // SQL expressions that replace the values of columns, by column
	Filter string            // SQL predicate of the rows that are kept; "": all rows
}

// Scope is the rights of a caller. It is safe for use by several goroutines.
type Scope interface {
	// Key identifies the rights: scopes with equal keys have equal rights.
	Key() string
	// Allows reports whether the caller has a privilege on an entry, by its name.
	Allows(p Privilege, name string) bool
	// Restriction returns the part of an entry that the caller may know; nil: the whole table.
	Restriction(name string) *Restriction
}

// All is the scope with every privilege on every entry.
var All Scope = all{}

type all struct{}

func (all) Key() string                     { return "all" }
func (all) Allows(Privilege, string) bool   { return true }
func (all) Restriction(string) *Restriction { return nil }

// None is the scope without any privilege.
var None Scope = none{}

type none struct{ all }

func (none) Key() string                   { return "none" }
func (none) Allows(Privilege, string) bool { return false }

type scopeKey struct{}

// With returns a context with the scope of a caller.
func With(ctx context.Context, s Scope) context.Context { return context.WithValue(ctx, scopeKey{}, s) }

// Of returns the scope of a context, or nil if it has none.
func Of(ctx context.Context) Scope {
	s, _ := ctx.Value(scopeKey{}).(Scope)
	return s
}
