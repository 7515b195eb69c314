// Package passwords knows the file of users and the hashes of their passwords.
//
// A line of the file is a user: the name, the hash of the password, and the groups:
//
//	alice:$argon2id$v=19$m=19456,t=2,p=1$c2FsdA…$a2V5…:gis,admins
//	bob:$2y$10$…
//	ci:*:robots
//
// The hash is of argon2id, or of bcrypt as htpasswd -B writes it, or * for a user without a
// password. Empty lines, and lines that begin with #, are comments. There is one line for a user.
package passwords

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// User is a line of the file.
type User struct {
	Name        string
	Groups      []string // sorted
	Fingerprint string   // of the hash; it changes with the password
	Method      string   // argon2id, bcrypt or none
	hash        hash
}

// Users are the users of a file.
type Users struct {
	byName map[string]*User
	list   []*User // in the order of the file
	seed   maphash.Seed
}

// Parse parses the text of a file. Errors have the number of the line and no hash.
func Parse(text []byte) (*Users, error) {
	users := &Users{byName: map[string]*User{}, seed: maphash.MakeSeed()}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		u, err := parseLine(string(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if u == nil {
			continue
		}
		if users.byName[u.Name] != nil {
			return nil, fmt.Errorf("line %d: the user %q has a line already", n, u.Name)
		}
		users.byName[u.Name] = u
		users.list = append(users.list, u)
	}
	return users, nil
}

// parseLine returns the user of a line; nil for a comment.
func parseLine(line string) (*User, error) {
	line = strings.TrimRight(line, "\r\n")
	if strings.TrimSpace(line) == "" || line[0] == '#' {
		return nil, nil //nolint:nilnil // a comment
	}
	fields := strings.Split(line, ":")
	if len(fields) != 2 && len(fields) != 3 {
		return nil, fmt.Errorf("want NAME:HASH or NAME:HASH:GROUPS, got %d fields", len(fields))
	}
	u := &User{Name: fields[0]}
	if err := auth.CheckName("user", u.Name); err != nil {
		return nil, err
	}
	text := strings.TrimSpace(fields[1])
	var err error
	if u.hash, err = parseHash(text); err != nil {
		return nil, fmt.Errorf("user %q: %w", u.Name, err)
	}
	switch u.hash.(type) {
	case noHash:
		u.Method = "none"
	case bcryptHash:
		u.Method = "bcrypt"
	default:
		u.Method = "argon2id"
	}
	digest := sha256.Sum256([]byte(text))
	u.Fingerprint = hex.EncodeToString(digest[:8])
	if len(fields) == 3 && strings.TrimSpace(fields[2]) != "" {
		for g := range strings.SplitSeq(fields[2], ",") {
			g = strings.TrimSpace(g)
			if err := auth.CheckName("group", g); err != nil {
				return nil, fmt.Errorf("user %q: %w", u.Name, err)
			}
			u.Groups = append(u.Groups, g)
		}
	}
	slices.Sort(u.Groups)
	u.Groups = slices.Compact(u.Groups)
	return u, nil
}

// Find returns a user, or nil.
func (u *Users) Find(name string) *User { return u.byName[name] }

// All returns the users in the order of the file.
func (u *Users) All() []*User { return u.list }

// Verify returns the user with a name and a password, or nil. A name without a user costs as much
// as one of the users, always the same one for a name, so that the time does not tell them apart.
func (u *Users) Verify(name, password string) *User {
	user := u.byName[name]
	if user != nil && user.Method != "none" {
		if user.hash.matches(password) {
			return user
		}
		return nil
	}
	u.decoy(name).matches(password)
	return nil
}

// decoy returns the hash of another user, or a new one if no user has a password.
func (u *Users) decoy(name string) hash {
	start := int(maphash.String(u.seed, name) % uint64(max(1, len(u.list))))
	for i := range u.list {
		if other := u.list[(start+i)%len(u.list)]; other.Method != "none" {
			return other.hash
		}
	}
	return &argon2Hash{
		memory: memoryKiB, passes: passes, parallelism: parallelism, salt: make([]byte, saltBytes),
		key: make([]byte, keyBytes),
	}
}
