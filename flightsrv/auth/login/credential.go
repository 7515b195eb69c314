package login

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/auth/oidc"
	"github.com/vibeflight/vibeflight/flightsrv/auth/passwords"
	"github.com/vibeflight/vibeflight/flightsrv/auth/tokens"
)

// Headers with a credential. The second one is of Flight's BasicAuth, whose clients send the token
// that Handshake answered.
const (
	header    = "authorization"
	flightBin = "auth-token-bin"
)

// credential is what a caller has sent: a bearer token, or a user and a password.
type credential struct {
	bearer         string
	user, password string
}

// maxBasicBytes bounds a user and a password after decoding.
const maxBasicBytes = passwords.MaxBytes + 1 + 256

// credentialOf returns the credential in the headers of a call; nil without one. Values that
// differ are refused: a proxy may have checked the other one.
func credentialOf(ctx context.Context) (*credential, error) {
	values := metadata.ValueFromIncomingContext(ctx, header)
	if len(values) == 0 {
		for _, token := range metadata.ValueFromIncomingContext(ctx, flightBin) {
			values = append(values, "Bearer "+strings.TrimPrefix(token, "Bearer "))
		}
	}
	if len(values) == 0 {
		return nil, nil //nolint:nilnil // no credential
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return nil, &auth.Error{Reason: "there are several headers authorization with different values"}
		}
	}
	return parseAuthorization(values[0])
}

// parseAuthorization parses the value of a header authorization (RFC 9110 11.4).
func parseAuthorization(value string) (*credential, error) {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case strings.EqualFold(scheme, "Basic"):
		return parseBasic(rest)
	case strings.EqualFold(scheme, "Bearer"):
		if rest == "" {
			return nil, &auth.Error{Reason: "the bearer token is empty"}
		}
		if len(rest) > oidc.MaxTokenBytes {
			return nil, &auth.Error{Reason: fmt.Sprintf("the bearer token has more than %d bytes", oidc.MaxTokenBytes)}
		}
		return &credential{bearer: rest}, nil
	}
	return nil, &auth.Error{Reason: "the header authorization: want Basic or Bearer"}
}

// parseBasic parses a user and a password (RFC 7617). Clients in Go leave out the padding of base64.
func parseBasic(text string) (*credential, error) {
	if len(text) > base64.StdEncoding.EncodedLen(maxBasicBytes) {
		return nil, &auth.Error{Reason: fmt.Sprintf("user and password have more than %d bytes", maxBasicBytes)}
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, &auth.Error{Reason: "the header authorization: Basic is not followed by base64"}
	}
	user, password, ok := strings.Cut(string(decoded), ":")
	if !ok {
		return nil, &auth.Error{Reason: "the header authorization: Basic is not followed by user:password"}
	}
	// Clients with a field for a password alone send an API token in it, without a user or with
	// one that says so.
	if strings.HasPrefix(password, tokens.Prefix) && (user == "" || user == "token") {
		return &credential{bearer: password}, nil
	}
	return &credential{user: user, password: password}, nil
}

// addressOf returns the address of a client, for the limit of failed logins: an IPv4 address, the
// first half of an IPv6 address, or "" for a unix socket.
func addressOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	tcp, ok := p.Addr.(*net.TCPAddr)
	if !ok {
		return ""
	}
	ip, ok := netip.AddrFromSlice(tcp.IP)
	if !ok {
		return ""
	}
	ip = ip.Unmap()
	if ip.Is6() {
		if prefix, err := ip.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return ip.String()
}
