// Package tokens knows API tokens and the file of them.
//
// A token is vf_ and 43 characters for 256 random bits. The file has a JSON object per line for a
// token, with its SHA-256 digest and not the token:
//
//	{"sha256":"9f86d0…","user":"ci","expires":"2027-06-01T00:00:00Z","scopes":["read"],"note":"nightly"}
//
// Empty lines, and lines that begin with #, are comments. A token's ID is the first 12 digits of
// its digest.
package tokens

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// Prefix begins each token, so that scanners of secrets find one that was published.
const Prefix = "vf_"

// Scopes are the privileges that a token may be bound to.
var Scopes = []string{"describe", "read", "sql", "write", "admin"}

const (
	randomBytes = 32
	idDigits    = 12
)

// Token is a line of the file.
type Token struct {
	SHA256  string    `json:"sha256"`           // digest of the token, in hexadecimal digits
	User    string    `json:"user"`             // who the token logs in
	Groups  []string  `json:"groups,omitempty"` // in addition to the user's
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Scopes  []string  `json:"scopes,omitempty"` // empty: all privileges of the user
	Created time.Time `json:"created,omitzero"` // for a reader of the file
	Note    string    `json:"note,omitempty"`   // for a reader of the file

	digest [sha256.Size]byte // SHA256, decoded
}

// ID identifies the token without revealing it.
func (t *Token) ID() string { return t.SHA256[:idDigits] }

// Expired reports whether the token has expired at a time.
func (t *Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// New returns a new token and its digest.
func New() (token, digest string) {
	random := make([]byte, randomBytes)
	_, _ = rand.Read(random) // it never fails
	token = Prefix + base64.RawURLEncoding.EncodeToString(random)
	return token, digestOf(token)
}

func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Tokens are the tokens of a file.
type Tokens struct {
	byDigest map[[sha256.Size]byte]*Token
	byID     map[string]*Token
	list     []*Token
}

// Parse parses the text of a file. Errors have the number of the line.
func Parse(text []byte) (*Tokens, error) {
	tokens := &Tokens{byDigest: map[[sha256.Size]byte]*Token{}, byID: map[string]*Token{}}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		t, err := ParseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if tokens.byID[t.ID()] != nil {
			return nil, fmt.Errorf("line %d: the token %s has a line already", n, t.ID())
		}
		tokens.byDigest[t.digest], tokens.byID[t.ID()] = t, t
		tokens.list = append(tokens.list, t)
	}
	return tokens, nil
}

// ParseLine parses a line that is not a comment.
func ParseLine(line []byte) (*Token, error) {
	t := &Token{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(t); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want one JSON object")
	}
	digest, err := hex.DecodeString(t.SHA256)
	if err != nil || len(digest) != sha256.Size {
		return nil, errors.New("sha256: want 64 hexadecimal digits")
	}
	t.SHA256, t.digest = strings.ToLower(t.SHA256), [sha256.Size]byte(digest)
	return t, t.check()
}

func (t *Token) check() error {
	if err := auth.CheckName("user", t.User); err != nil {
		return err
	}
	for _, g := range t.Groups {
		if err := auth.CheckName("group", g); err != nil {
			return err
		}
	}
	return CheckScopes(t.Scopes)
}

// CheckScopes returns an error for a scope that is not a privilege.
func CheckScopes(scopes []string) error {
	for _, s := range scopes {
		if !slices.Contains(Scopes, s) {
			return fmt.Errorf("scopes: %q: want some of %s", s, strings.Join(Scopes, ", "))
		}
	}
	return nil
}

// Find returns the token of the file with a text, or nil. It does not look at the expiry.
func (t *Tokens) Find(token string) *Token { return t.byDigest[sha256.Sum256([]byte(token))] }

// ByID returns a token by its ID, or nil.
func (t *Tokens) ByID(id string) *Token { return t.byID[id] }

// All returns the tokens in the order of the file.
func (t *Tokens) All() []*Token { return t.list }
