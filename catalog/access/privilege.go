package access

import (
	"context"
	"fmt"
)

// privilegeNames are the names of the privileges in files and messages, by Privilege.
var privilegeNames = [...]string{"describe", "read", "sql", "write", "admin"}

// String returns the privilege's name, as "read".
func (p Privilege) String() string {
	if int(p) < len(privilegeNames) {
		return privilegeNames[p]
	}
	return fmt.Sprintf("privilege %d", uint8(p))
}

// ParsePrivilege returns the privilege of a name.
func ParsePrivilege(name string) (Privilege, bool) {
	for i, n := range privilegeNames {
		if n == name {
			return Privilege(i), true
		}
	}
	return 0, false
}

// Server is the name that stands for the server itself, which no entry has. Admin on it permits the
// actions that concern all entries, and Read permits the parse of an uploaded file.
const Server = ""

// DeniedError says that a caller lacks a privilege on an entry that it may know of, or on the
// server.
type DeniedError struct {
	Privilege Privilege
	Name      string // of the entry, or Server
}

// Error is `roads.csv: you need the privilege "read" for this`.
func (e *DeniedError) Error() string {
	if e.Name == Server {
		return fmt.Sprintf("you need the privilege %q on the server for this", e.Privilege)
	}
	return fmt.Sprintf("%s: you need the privilege %q for this", e.Name, e.Privilege)
}

// Check returns a *DeniedError unless a scope has a privilege. It is for names that the caller may
// know of, such as Server.
func Check(s Scope, p Privilege, name string) error {
	if !s.Allows(p, name) {
		return &DeniedError{Privilege: p, Name: name}
	}
	return nil
}

// KnowsAll reports whether a caller may know all rows and columns of an entry. Others do not get the
// texts and statistics that quote single values or name single columns.
func KnowsAll(s Scope, name string) bool {
	return (s.Allows(Read, name) || s.Allows(SQL, name)) && s.Restriction(name) == nil
}

type ownerKey struct{}

// WithOwner returns a context with the name of the caller to whom polls and handles belong.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// OwnerOf returns the owner of a context; "" if the server has no login.
func OwnerOf(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}
