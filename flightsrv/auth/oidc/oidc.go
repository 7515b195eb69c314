// Package oidc verifies access tokens of an OpenID Connect issuer (RFC 9068): signature, issuer,
// audience and times. It finds the issuer's keys by OpenID Connect Discovery 1.0.
package oidc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// Defaults of Config.
const (
	DefaultUserClaim   = "sub"
	DefaultGroupsClaim = "groups"
)

// Config is an issuer, and which of its tokens are accepted.
type Config struct {
	Issuer      string   // URL, as the claim iss has it
	Audiences   []string // a token has one of them in its claim aud
	UserClaim   string   // with the user's name; default DefaultUserClaim
	GroupsClaim string   // with the names of groups; default DefaultGroupsClaim
	Client      *http.Client
}

// algorithms are asymmetric: with an HMAC, a public key could sign.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512, jose.PS256, jose.PS384, jose.PS512,
	jose.EdDSA,
}

// MaxTokenBytes bounds an access token.
const MaxTokenBytes = 16 << 10

// maxGroups bounds the groups of a token.
const maxGroups = 1000

// UnavailableError is the error of an issuer whose keys can't be read. It is for the log alone: it
// has the issuer's URL.
type UnavailableError struct{ err error }

func (e *UnavailableError) Error() string { return "OIDC issuer: " + e.err.Error() }
func (e *UnavailableError) Unwrap() error { return e.err }

// Verifier verifies access tokens. It is safe for use by several goroutines.
type Verifier struct {
	cfg    Config
	claims *oidc.Config
	keys   *keySet
}

// callKeys is a keySet for one call. It keeps the error, which the library makes a text.
type callKeys struct {
	*keySet
	err error
}

func (k *callKeys) VerifySignature(ctx context.Context, token string) (payload []byte, err error) {
	payload, k.err = k.keySet.VerifySignature(ctx, token)
	return payload, k.err
}

// New checks the configuration. It makes no request: the issuer may start later than the server.
func New(cfg Config) (*Verifier, error) {
	if err := checkIssuer(cfg.Issuer); err != nil {
		return nil, err
	}
	if len(cfg.Audiences) == 0 {
		return nil, errors.New("--oidc-audience is missing: tokens for other servers must not be accepted")
	}
	if cfg.UserClaim == "" {
		cfg.UserClaim = DefaultUserClaim
	}
	if cfg.GroupsClaim == "" {
		cfg.GroupsClaim = DefaultGroupsClaim
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: fetchTimeout}
	}
	keys := &keySet{client: cfg.Client, algorithms: algorithms, now: time.Now, url: cfg.keysURL}
	var names []string
	for _, a := range algorithms {
		names = append(names, string(a))
	}
	return &Verifier{cfg, &oidc.Config{
		SkipClientIDCheck:    true, // an ID token's rule; Verify checks the audience
		SupportedSigningAlgs: names,
	}, keys}, nil
}

// checkIssuer requires https, but for an issuer on this machine.
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" {
		return fmt.Errorf("--oidc-issuer: %q: want a URL, as https://id.example.org/realms/main", issuer)
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return fmt.Errorf("--oidc-issuer: %q: want https://", issuer)
	}
	return nil
}

// keysURL finds the URL of the issuer's keys by discovery.
func (c Config) keysURL(ctx context.Context) (string, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, c.Client), c.Issuer)
	if err != nil {
		return "", err
	}
	var found struct {
		URL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&found); err != nil {
		return "", err
	}
	if found.URL == "" {
		return "", errors.New("discovery: no jwks_uri")
	}
	return found.URL, nil
}

// Verify returns the caller with a token. Its error wraps auth.ErrUnauthenticated, or is an
// *UnavailableError.
func (v *Verifier) Verify(ctx context.Context, token string) (*auth.Principal, error) {
	if len(token) > MaxTokenBytes {
		return nil, &auth.Error{Reason: fmt.Sprintf("the access token has more than %d bytes", MaxTokenBytes)}
	}
	keys := &callKeys{keySet: v.keys}
	t, err := oidc.NewVerifier(v.cfg.Issuer, keys, v.claims).Verify(ctx, token)
	if err != nil {
		return nil, reasonOf(ctx, cmp.Or(keys.err, err))
	}
	if !slices.ContainsFunc(t.Audience, func(a string) bool { return slices.Contains(v.cfg.Audiences, a) }) {
		return nil, &auth.Error{Reason: "the access token is for another audience"}
	}
	var claims map[string]any
	if err := t.Claims(&claims); err != nil {
		return nil, &auth.Error{Reason: "the claims of the access token are invalid"}
	}
	name, _ := claimOf(claims, v.cfg.UserClaim).(string)
	if err := auth.CheckName("user", name); err != nil {
		return nil, &auth.Error{Reason: "the access token has no valid name in its claim " + v.cfg.UserClaim}
	}
	p := &auth.Principal{Name: name, Method: auth.OIDC, Expires: t.Expiry, Groups: groupsOf(claims, v.cfg.GroupsClaim)}
	p.ID, _ = claims["jti"].(string)
	return p, nil
}

// reasonOf returns an error that is safe to send. Those of the library have claims of the token.
func reasonOf(ctx context.Context, err error) error {
	var expired *oidc.TokenExpiredError
	var unavailable *UnavailableError
	switch {
	case errors.As(err, &expired):
		return &auth.Error{Reason: "the access token has expired: get a new one"}
	case errors.As(err, &unavailable):
		return unavailable
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errUnknownKey):
		return &auth.Error{Reason: "the access token: " + errUnknownKey.Error()}
	case strings.Contains(err.Error(), "different provider"):
		return &auth.Error{Reason: "the access token is of another issuer"}
	case strings.Contains(err.Error(), "before the nbf"):
		return &auth.Error{Reason: "the access token is not valid yet"}
	}
	return &auth.Error{Reason: "the access token is invalid"}
}

// claimOf returns a claim, or one in an object by a path with dots: realm_access.roles.
func claimOf(claims map[string]any, path string) any {
	if value, ok := claims[path]; ok {
		return value
	}
	outer, inner, ok := strings.Cut(path, ".")
	if object, isObject := claims[outer].(map[string]any); ok && isObject {
		return claimOf(object, inner)
	}
	return nil
}

// groupsOf returns the valid names of groups in a claim, which is a list or one name.
func groupsOf(claims map[string]any, path string) []string {
	var names []string
	switch value := claimOf(claims, path).(type) {
	case string:
		names = strings.Fields(value)
	case []any:
		for _, v := range value {
			if name, ok := v.(string); ok {
				names = append(names, name)
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return auth.CheckName("group", name) != nil })
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxGroups)]
}

// IsJWT reports whether a bearer token may be one of an issuer: three parts, the first a JSON object.
func IsJWT(token string) bool {
	header, _, _ := strings.Cut(token, ".")
	return strings.Count(token, ".") == 2 && strings.HasPrefix(header, "ey")
}
