package grants

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// scope is the rules of a policy that match a caller, bounded by the scopes of its token.
type scope struct {
	key   string
	rules []rule
	bound privileges
}

// scope returns the rights of a caller.
func (p *policy) scope(of *auth.Principal) *scope {
	s := &scope{bound: boundOf(of)}
	for _, r := range p.rules {
		if r.user.matches(of.Name) && (r.group == anyUser || slices.ContainsFunc(of.Groups, r.group.matches)) {
			s.rules = append(s.rules, r)
		}
	}
	s.key = s.digest()
	return s
}

// boundOf returns the privileges that the scopes of a token permit.
func boundOf(of *auth.Principal) privileges {
	if of.Scopes == nil {
		return allPrivileges
	}
	var set privileges
	for _, name := range of.Scopes {
		if p, ok := access.ParsePrivilege(name); ok {
			set = set.with(p)
		}
	}
	return set
}

// digest identifies the rights: the patterns of names with what they grant, in order.
func (s *scope) digest() string {
	type grant struct {
		Name        string
		Privileges  privileges
		Restriction *access.Restriction
	}
	grants := []grant{{Privileges: s.bound}}
	for _, r := range s.rules {
		grants = append(grants, grant{r.name.text, r.rights.privileges & s.bound, r.rights.restriction})
	}
	text, _ := json.Marshal(grants) // texts and numbers have no error; the keys of maps are sorted
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Key identifies the rights.
func (s *scope) Key() string { return s.key }

// Allows reports whether the caller has a privilege on an entry, or on the server.
func (s *scope) Allows(p access.Privilege, name string) bool {
	return s.bound.has(p) && s.rights(name).privileges.has(p)
}

// Restriction returns the part of an entry that the caller may know; nil: the whole table.
func (s *scope) Restriction(name string) *access.Restriction { return s.rights(name).restriction }

// rights returns the rights of the first rule that matches a name.
//
// The name of a file is also a name of its first layer, and any layer may be the first one. So if
// earlier rules name layers of the file, a privilege on the file's own name has to be granted by all
// of them. If they differ in the part of the table that they show, there is no privilege.
func (s *scope) rights(name string) rights {
	var layers []rights
	isFile := name != access.Server && !strings.Contains(name, "#")
	for i := range s.rules {
		r := &s.rules[i]
		if r.name.matches(name) {
			return common(r.rights, layers)
		}
		if isFile && r.name.mayMatchLayer(name) {
			layers = append(layers, r.rights)
		}
	}
	return rights{}
}

// common returns the rights that the rules of a file and of its layers have in common.
func common(of rights, layers []rights) rights {
	for _, l := range layers {
		if !reflect.DeepEqual(l.restriction, of.restriction) {
			return rights{}
		}
		of.privileges &= l.privileges
	}
	return of
}
