// Package sessions issues and verifies session tokens. A token is self-contained, so that each
// server with the same keys accepts it:
//
//	vfs_ base64url(JSON of a Session) . base64url(HMAC-SHA-256 of what precedes the dot)
package sessions

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Prefix begins each token.
const Prefix = "vfs_"

// maxBytes bounds a token. A user's name has at most 256 bytes.
const maxBytes = 4096

// Session is what a token says.
type Session struct {
	ID          string `json:"id"`
	User        string `json:"user"`
	Method      string `json:"method"`      // of the login: auth.Password or auth.Certificate
	Fingerprint string `json:"fingerprint"` // of the credential of the login
	Expires     int64  `json:"exp"`         // seconds since 1970
}

// Keys sign and verify tokens: the first one signs, and each verifies.
type Keys [][]byte

// maxKeys are the lines of a file of keys: one, or two while a new one replaces an old one.
const maxKeys = 2

// minKeyBytes bounds the length of a line with a key.
const minKeyBytes = 32

// ParseKeys parses a file of keys: one or two lines of at least 32 characters, such as openssl rand
// -base64 32 prints. Empty lines, and lines that begin with #, are comments.
func ParseKeys(text []byte) (Keys, error) {
	var keys Keys
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if len(line) < minKeyBytes {
			return nil, fmt.Errorf("line %d: a key has at least %d characters, got %d", n, minKeyBytes, len(line))
		}
		sum := sha256.Sum256(line)
		keys = append(keys, sum[:])
	}
	if len(keys) < 1 || len(keys) > maxKeys {
		return nil, fmt.Errorf("want 1 or %d lines with a key, got %d", maxKeys, len(keys))
	}
	return keys, nil
}

// NewKeys returns a random key, for a server whose sessions end with it.
func NewKeys() Keys {
	key := make([]byte, minKeyBytes)
	_, _ = rand.Read(key) // it never fails
	return Keys{key}
}

var encoding = base64.RawURLEncoding.Strict()

// Issue returns the token of a session, with a new ID.
func (k Keys) Issue(s Session) (string, error) {
	s.ID = strings.ToLower(rand.Text()[:12])
	payload, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	text := Prefix + encoding.EncodeToString(payload)
	return text + "." + encoding.EncodeToString(sign(k[0], text)), nil
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text)) // it never fails
	return mac.Sum(nil)
}

// Errors of Verify.
var (
	ErrInvalid = errors.New("the session token is invalid, or of a server with other keys")
	ErrExpired = errors.New("the session has expired: log in again")
)

// Verify returns the session of a token that is valid now.
func (k Keys) Verify(token string, now time.Time) (*Session, error) {
	text, signature, ok := strings.Cut(token, ".")
	if len(token) > maxBytes || !ok || !strings.HasPrefix(text, Prefix) {
		return nil, ErrInvalid
	}
	got, err := encoding.DecodeString(signature)
	if err != nil || !k.signed(text, got) {
		return nil, ErrInvalid
	}
	payload, err := encoding.DecodeString(text[len(Prefix):])
	if err != nil {
		return nil, ErrInvalid
	}
	s := &Session{}
	if err := json.Unmarshal(payload, s); err != nil {
		return nil, ErrInvalid
	}
	if err := s.Check(now); err != nil {
		return nil, err
	}
	return s, nil
}

// Check returns ErrExpired for a session that has expired.
func (s *Session) Check(now time.Time) error {
	if !now.Before(time.Unix(s.Expires, 0)) {
		return ErrExpired
	}
	return nil
}

func (k Keys) signed(text string, signature []byte) bool {
	for _, key := range k {
		if hmac.Equal(sign(key, text), signature) {
			return true
		}
	}
	return false
}
