package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// testIssuer is an issuer with one key.
type testIssuer struct {
	*httptest.Server
	t        testing.TB
	key      *ecdsa.PrivateKey
	name     atomic.Pointer[string] // of the key that it publishes
	requests atomic.Int64           // of keys
	down     atomic.Bool
}

func newIssuer(t testing.TB) *testIssuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &testIssuer{t: t, key: key}
	first := "first"
	i.name.Store(&first)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}
		if r.URL.Path == "/keys" {
			i.requests.Add(1)
			if i.down.Load() {
				http.Error(w, "down", http.StatusServiceUnavailable)
				return
			}
			time.Sleep(20 * time.Millisecond)
			published := jose.JSONWebKey{Key: key.Public(), KeyID: *i.name.Load(), Algorithm: "ES256"}
			answer = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{published}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

// sign returns a token with claims in addition to valid ones; nil removes one.
func (i *testIssuer) sign(name string, change map[string]any) string {
	i.t.Helper()
	claims := map[string]any{"iss": i.URL, "sub": "alice", "aud": "geo", "exp": time.Now().Add(time.Hour).Unix()}
	for k, v := range change {
		if claims[k] = v; v == nil {
			delete(claims, k)
		}
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: name},
	}, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

func (i *testIssuer) verifier(change ...func(*Config)) *Verifier {
	i.t.Helper()
	cfg := Config{Issuer: i.URL, Audiences: []string{"geo", "geo2"}}
	for _, c := range change {
		c(&cfg)
	}
	v, err := New(cfg)
	if err != nil {
		i.t.Fatal(err)
	}
	return v
}

func TestVerify(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	nested := i.verifier(func(c *Config) { c.UserClaim, c.GroupsClaim = "preferred_username", "realm_access.roles" })
	none := strings.Join([]string{"eyJhbGciOiJub25lIn0", strings.Split(i.sign("first", nil), ".")[1], ""}, ".")
	for _, test := range []struct {
		name  string
		v     *Verifier
		token string
		want  string // name and groups, or the error
	}{
		{"valid", v, i.sign("first", nil), "alice []"},
		{"groups", v, i.sign("first", map[string]any{"groups": []any{"b", "a", "b", "x y", 3}}), "alice [a b]"},
		{"one group", v, i.sign("first", map[string]any{"groups": "a"}), "alice [a]"},
		{"audiences", v, i.sign("first", map[string]any{"aud": []string{"x", "geo2"}}), "alice []"},
		{
			"other claims", nested, i.sign("first", map[string]any{
				"preferred_username": "al", "realm_access": map[string]any{"roles": []string{"r"}},
			}), "al [r]",
		},
		{"other audience", v, i.sign("first", map[string]any{"aud": "x"}), "another audience"},
		{"no audience", v, i.sign("first", map[string]any{"aud": nil}), "another audience"},
		{"other issuer", v, i.sign("first", map[string]any{"iss": "https://x"}), "another issuer"},
		{"expired", v, i.sign("first", map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}), "has expired"},
		{"no expiry", v, i.sign("first", map[string]any{"exp": nil}), "has expired"},
		{"not yet", v, i.sign("first", map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}), "not valid yet"},
		{"no name", v, i.sign("first", map[string]any{"sub": nil}), "no valid name in its claim sub"},
		{"long name", v, i.sign("first", map[string]any{"sub": strings.Repeat("x", 300)}), "no valid name"},
		{"name is a number", v, i.sign("first", map[string]any{"sub": "a b"}), "no valid name"},
		{"unknown key", v, i.sign("other", nil), "not one of the issuer's"},
		{"no signature", v, none, "is invalid"},
		{"other signature", v, i.sign("first", nil)[:150] + "AAAA", "is invalid"},
		{"another key", v, newIssuer(t).sign("first", nil), "is invalid"},
		{"too long", v, strings.Repeat("x", MaxTokenBytes+1), "more than 16384 bytes"},
		{"no token", v, "a.b.c", "is invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := test.v.Verify(t.Context(), test.token)
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprint(p.Name, " ", p.Groups)
				if p.Method != auth.OIDC || time.Until(p.Expires) < time.Minute {
					t.Errorf("%+v", p)
				}
			} else if !errors.Is(err, auth.ErrUnauthenticated) {
				t.Errorf("%v is not Unauthenticated", err)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestRotation replaces the issuer's key. A token of the new one causes one request, and tokens of
// unknown keys cause no more than one in 30 s.
func TestRotation(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	now := time.Now()
	var mu sync.Mutex
	v.keys.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	verify := func(name string) error {
		_, err := v.Verify(context.Background(), i.sign(name, nil))
		return err
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if err := verify("first"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := i.requests.Load(); n != 1 {
		t.Errorf("%d requests of 50 callers", n)
	}
	second := "second"
	i.name.Store(&second)
	if err := verify("second"); err == nil {
		t.Error("the keys were requested within the cooldown")
	}
	pass(cooldown)
	if err := verify("second"); err != nil {
		t.Error(err)
	}
	if err := verify("first"); err == nil {
		t.Error("a key that was removed is trusted")
	}
	for k := range 20 {
		_ = verify(fmt.Sprint("unknown ", k))
	}
	if n := i.requests.Load(); n != 2 {
		t.Errorf("%d requests", n)
	}
	// An issuer that fails leaves the keys, and the error is not the caller's.
	i.down.Store(true)
	pass(cooldown)
	var unavailable *UnavailableError
	if err := verify("unknown"); !errors.As(err, &unavailable) {
		t.Error(err)
	}
	if err := verify("second"); err != nil {
		t.Error(err)
	}
	// Old keys are requested again in the background.
	i.down.Store(false)
	third := "third"
	i.name.Store(&third)
	pass(refreshAfter + time.Second)
	if err := verify("second"); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(5 * time.Second); verify("second") == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a key that was removed is still trusted")
		}
	}
}

func TestConfig(t *testing.T) {
	for issuer, ok := range map[string]bool{
		"https://id.example.org/realms/x": true, "http://127.0.0.1:8080": true, "http://localhost": true,
		"http://id.example.org": false, "id.example.org": false, "": false, "ftp://x": false,
	} {
		if _, err := New(Config{Issuer: issuer, Audiences: []string{"geo"}}); (err == nil) != ok {
			t.Errorf("%q: %v", issuer, err)
		}
	}
	if _, err := New(Config{Issuer: "https://id.example.org"}); err == nil {
		t.Error("an issuer without an audience is accepted")
	}
}
