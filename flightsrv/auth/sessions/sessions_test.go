package sessions

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestSessions(t *testing.T) {
	keys := NewKeys()
	now := time.Unix(1_800_000_000, 0)
	want := Session{User: "alice", Method: "password", Fingerprint: "ff", Expires: now.Unix() + 60}
	token, err := keys.Issue(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := keys.Verify(token, now)
	if err != nil || got.ID == "" {
		t.Fatal(got, err)
	}
	if got.ID = ""; *got != want {
		t.Errorf("%+v", got)
	}
	if _, err := keys.Verify(token, now.Add(time.Minute)); !errors.Is(err, ErrExpired) {
		t.Error(err)
	}
	if _, err := NewKeys().Verify(token, now); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := append(NewKeys(), keys...).Verify(token, now); err != nil {
		t.Error(err)
	}
	// Each changed character makes it invalid.
	for i := range token {
		changed := []byte(token)
		if changed[i]++; changed[i] == '{' {
			changed[i] = 'a'
		}
		if _, err := keys.Verify(string(changed), now); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", changed, err)
		}
		if _, err := keys.Verify(token[:i], now); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", token[:i], err)
		}
	}
}

func TestParseKeys(t *testing.T) {
	long := strings.Repeat("k", 32)
	for text, n := range map[string]int{
		long: 1, "# new\n" + long + "\n\n# old\n" + long + "x\n": 2, "": 0, long[1:]: 0,
		long + "\n" + long + "\n" + long: 0,
	} {
		keys, err := ParseKeys([]byte(text))
		if len(keys) != n || (err == nil) != (n > 0) {
			t.Errorf("%q: %d keys, %v", text, len(keys), err)
		}
	}
}
