package certs

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"strings"
	"testing"
)

func TestUser(t *testing.T) {
	id, err := url.Parse("spiffe://example.org/geo/reader")
	if err != nil {
		t.Fatal(err)
	}
	full := &x509.Certificate{
		Subject: pkix.Name{CommonName: "alice"}, DNSNames: []string{"a.example.org", "b"},
		EmailAddresses: []string{"alice@example.org"}, URIs: []*url.URL{id},
	}
	for field, want := range map[string]string{
		CommonName: "alice", DNS: "a.example.org", Email: "alice@example.org", URI: "example.org/geo/reader",
	} {
		if got, err := User(full, field); got != want || err != nil {
			t.Errorf("%s: %q, %v", field, got, err)
		}
		if _, err := User(&x509.Certificate{}, field); err == nil || !strings.Contains(err.Error(), "field "+field) {
			t.Errorf("%s of nothing: %v", field, err)
		}
	}
	if _, err := User(&x509.Certificate{Subject: pkix.Name{CommonName: "a:b"}}, CommonName); err == nil {
		t.Error("a name with a colon is accepted")
	}
	if Fingerprint(&x509.Certificate{Raw: []byte("a")}) == Fingerprint(&x509.Certificate{Raw: []byte("b")}) {
		t.Error("fingerprints are equal")
	}
}
