package login

import (
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/auth/sessions"
)

// keyring has the keys of session tokens, and remembers the tokens that they have verified.
type keyring struct {
	sessions.Keys
	verified *memo[*sessions.Session]
}

func newKeyring(keys sessions.Keys) *keyring {
	return &keyring{keys, newMemo[*sessions.Session](accessPeriod)}
}

func parseKeyring(text []byte) (*keyring, error) {
	keys, err := sessions.ParseKeys(text)
	if err != nil {
		return nil, err
	}
	return newKeyring(keys), nil
}

// verify returns the session of a token that is valid now. The caller does not change it.
func (k *keyring) verify(token string, now time.Time) (*sessions.Session, error) {
	key := k.verified.keyOf(token)
	if s, ok := k.verified.get(key, now); ok {
		return s, s.Check(now)
	}
	s, err := k.Verify(token, now)
	if err != nil {
		return nil, err
	}
	k.verified.put(key, s, now)
	return s, nil
}
