package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	cooldown     = 30 * time.Second // between two requests that an unknown key causes
	refreshAfter = 5 * time.Minute  // keys that the issuer removed are trusted for this long
	maxKeyBytes  = 1 << 20          // of the answer of the issuer
	fetchTimeout = 10 * time.Second
)

// keySet is the keys of an issuer. It requests them when it needs them first, when a token names an
// unknown key, and regularly. There is one request at a time.
type keySet struct {
	client     *http.Client
	algorithms []jose.SignatureAlgorithm
	url        func(context.Context) (string, error)
	now        func() time.Time

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time  // when keys were received
	tried   time.Time  // when the last request began
	request *keyResult // in progress
}

// keyResult is a request for keys; done is closed at its end.
type keyResult struct {
	done chan struct{}
	err  error
}

// VerifySignature returns the payload of a token with a signature of one of the keys.
func (s *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSigned(token, s.algorithms)
	if err != nil {
		return nil, errors.New("the token is not a signed JWT")
	}
	if len(signed.Signatures) != 1 {
		return nil, errors.New("the token has more than one signature")
	}
	id := signed.Signatures[0].Header.KeyID
	keys, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	for i := range keys {
		if payload, err := signed.Verify(&keys[i]); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("the signature is invalid")
}

// find returns the keys with an ID, or all for a token without one.
func (s *keySet) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	keys, request := s.look(id)
	if len(keys) > 0 {
		return keys, nil // a request that is due runs in the background
	}
	if request == nil {
		return nil, errUnknownKey
	}
	select {
	case <-request.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if request.err != nil {
		return nil, request.err
	}
	if keys, _ = s.look(id); len(keys) == 0 {
		return nil, errUnknownKey
	}
	return keys, nil
}

var errUnknownKey = errors.New("the key of the token is not one of the issuer's")

// look returns the present keys with an ID, and the request that was or is started because it is
// unknown, or because the keys are old.
func (s *keySet) look(id string) ([]jose.JSONWebKey, *keyResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []jose.JSONWebKey
	for _, k := range s.keys {
		if (id == "" || k.KeyID == id) && (k.Use == "" || k.Use == "sig") {
			found = append(found, k)
		}
	}
	now := s.now()
	due := len(found) == 0 || now.Sub(s.fetched) > refreshAfter
	if due && s.request == nil && (s.tried.IsZero() || now.Sub(s.tried) >= cooldown) {
		s.request, s.tried = &keyResult{done: make(chan struct{})}, now
		go s.fetch(s.request)
	}
	return found, s.request
}

// fetch requests the keys. It is independent of the call that needs them, since others wait for it.
func (s *keySet) fetch(request *keyResult) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	keys, err := s.get(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.keys, s.fetched = keys, s.now()
	}
	request.err, s.request = err, nil
	close(request.done)
}

func (s *keySet) get(ctx context.Context) ([]jose.JSONWebKey, error) {
	url, err := s.url(ctx)
	if err != nil {
		return nil, &UnavailableError{err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, &UnavailableError{err}
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, &UnavailableError{err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &UnavailableError{fmt.Errorf("%s: status %s", url, resp.Status)}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxKeyBytes))
	if err != nil {
		return nil, &UnavailableError{err}
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, &UnavailableError{fmt.Errorf("%s: %w", url, err)}
	}
	var keys []jose.JSONWebKey
	for _, k := range set.Keys {
		if k.Valid() && k.IsPublic() { // a secret key would verify HMACs
			keys = append(keys, k)
		}
	}
	return keys, nil
}
