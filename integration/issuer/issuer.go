// Command issuer is an OpenID Connect issuer for tests. It prints its URL, and answers until stdin
// ends:
//
//	/.well-known/openid-configuration, /keys   discovery and keys
//	/token                                     an access token for the grant client_credentials, of the
//	                                           client "robot" with the secret "tin"
//	/rotate                                    replaces the key
//
// Parameters of /token change a token: seconds is its lifetime, aud its audience.
package main

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// issuer has one key at a time.
type issuer struct {
	url string

	mu     sync.Mutex
	number int
	key    *rsa.PrivateKey
}

func main() {
	i := &issuer{}
	if err := i.rotate(); err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", i.configuration)
	mux.HandleFunc("/keys", i.keys)
	mux.HandleFunc("/token", i.token)
	mux.HandleFunc("/rotate", func(w http.ResponseWriter, _ *http.Request) {
		if err := i.rotate(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	i.url = server.URL
	fmt.Println(i.url)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func (i *issuer) rotate() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	var err error
	i.key, err = rsa.GenerateKey(rand.Reader, 2048)
	i.number++
	return err
}

func (i *issuer) name() string { return fmt.Sprintf("key-%d", i.number) }

func (i *issuer) configuration(w http.ResponseWriter, _ *http.Request) {
	write(w, map[string]any{
		"issuer": i.url, "jwks_uri": i.url + "/keys", "token_endpoint": i.url + "/token",
		"authorization_endpoint": i.url + "/authorize", "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (i *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	key := jose.JSONWebKey{Key: i.key.Public(), KeyID: i.name(), Algorithm: "RS256", Use: "sig"}
	write(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}})
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	client, secret, ok := r.BasicAuth()
	if !ok {
		client, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	if client != "robot" || secret != "tin" || r.FormValue("grant_type") != "client_credentials" {
		w.WriteHeader(http.StatusUnauthorized)
		write(w, map[string]string{"error": "invalid_client"})
		return
	}
	seconds, err := strconv.Atoi(cmp.Or(r.FormValue("seconds"), "3600"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: i.key, KeyID: i.name()},
	}, (&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	claims, _ := json.Marshal(map[string]any{ // it has nothing that JSON lacks
		"iss": i.url, "sub": client, "aud": cmp.Or(r.FormValue("aud"), "geo"), "groups": []string{"robots"},
		"iat": time.Now().Unix(), "exp": time.Now().Unix() + int64(seconds),
	})
	signed, err := signer.Sign(claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, map[string]any{"access_token": text, "token_type": "Bearer", "expires_in": seconds})
}

func write(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the client is gone, if it fails
}
