package fleet

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// maxIDBytes bounds the ID of a replica.
const maxIDBytes = 128

// NewID returns the ID of a replica that has none of its own: the name of its host, and random
// digits.
func NewID() string {
	host, err := os.Hostname()
	if err != nil || CheckID(host) != nil || len(host) > maxIDBytes/2 {
		host = "replica"
	}
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return host + "-" + hex.EncodeToString(b[:])
}

// CheckID returns an error unless a text may be the ID of a replica.
func CheckID(id string) error {
	odd := func(r rune) bool {
		return !strings.ContainsRune("-._:@", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if id == "" || len(id) > maxIDBytes || strings.ContainsFunc(id, odd) {
		return fmt.Errorf("%q: want 1 to %d letters, digits, and - . _ : @", id, maxIDBytes)
	}
	return nil
}
