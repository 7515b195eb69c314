// Package certs finds the user of a client certificate.
package certs

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/wire"
)

// Fields of a certificate that may be the name of its user.
const (
	CommonName = "cn"    // of the subject
	DNS        = "dns"   // first DNS name of the subject's alternative names
	Email      = "email" // first mail address of them
	URI        = "uri"   // first URI of them, such as a SPIFFE ID
)

// Fields are the fields in order of their use.
var Fields = []string{CommonName, DNS, Email, URI}

// Peer returns the verified certificate of the client of a call, or nil.
func Peer(ctx context.Context) *x509.Certificate {
	state := wire.TLSOf(ctx)
	if state == nil || len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		return nil
	}
	return state.VerifiedChains[0][0]
}

// Fingerprint returns a digest of a certificate.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// User returns the name in a field of a certificate.
func User(c *x509.Certificate, field string) (string, error) {
	name := ""
	switch field {
	case CommonName:
		name = c.Subject.CommonName
	case DNS:
		name = first(c.DNSNames)
	case Email:
		name = first(c.EmailAddresses)
	case URI:
		if len(c.URIs) > 0 {
			// A colon would end the name in a file of users.
			name = strings.TrimPrefix(c.URIs[0].String(), c.URIs[0].Scheme+"://")
		}
	}
	if err := auth.CheckName("user", name); err != nil {
		return "", fmt.Errorf("the client certificate has no valid name in its field %s: %w", field, err)
	}
	return name, nil
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
