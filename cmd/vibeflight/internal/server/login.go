package server

import (
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/auth/certs"
	"github.com/vibeflight/vibeflight/flightsrv/auth/login"
	"github.com/vibeflight/vibeflight/flightsrv/auth/oidc"
)

// loginFlags are the ways to log in. Without any of them there is no login.
type loginFlags struct {
	users, tokens string // files; empty: none
	sessionKeys   string // file; empty: a random key
	lifetime      time.Duration
	issuer        string // URL of an OIDC issuer; empty: none
	audiences     []string
	userClaim     string
	groupsClaim   string
	clientCA      string // file, PEM; empty: clients need no certificate
	clientNeeded  bool
	clientUser    string // field of certificates with the user's name
}

func (c *loginFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.users, "users", "", "`file` of the users who may log in and the hashes of their passwords, which "+
		"vibeflight user and htpasswd -B write; read again when it changes")
	f.StringVar(&c.tokens, "tokens", "", "`file` of API tokens, which vibeflight token writes; "+
		"read again when it changes")
	f.StringVar(&c.sessionKeys, "session-keys", "", "`file` with a line of at least 32 random characters, which signs "+
		"session tokens, and perhaps a second line, whose tokens are valid too; the same on all servers of a group; "+
		"a random key without it")
	f.DurationVar(&c.lifetime, "session-lifetime", login.DefaultSessionLifetime,
		"how long the token that follows a login by password or certificate is valid")
	f.StringVar(&c.issuer, "oidc-issuer", "", "`URL` of an OpenID Connect issuer whose access tokens log in")
	f.StringArrayVar(&c.audiences, "oidc-audience", nil,
		"`name` of this server in the claim aud of access tokens; may repeat")
	f.StringVar(&c.userClaim, "oidc-user-claim", oidc.DefaultUserClaim, "claim of access tokens with the user's name")
	f.StringVar(&c.groupsClaim, "oidc-groups-claim", oidc.DefaultGroupsClaim,
		"claim of access tokens with the user's groups; dots lead into objects: realm_access.roles")
	f.StringVar(&c.clientCA, "tls-client-ca", "",
		"`file`, PEM, of the certificates that sign those of clients: a client certificate logs in; read again when "+
			"it changes")
	f.BoolVar(&c.clientNeeded, "tls-client-required", false, "refuse TLS connections without a client certificate")
	f.StringVar(&c.clientUser, "tls-client-user", certs.CommonName,
		"what names the user of a client certificate: cn of the subject, or the first dns, email or uri of its "+
			"alternative names")
}

func (c *loginFlags) check() error {
	switch {
	case c.lifetime <= 0:
		return usage.Errorf("--session-lifetime: %v is not greater than 0", c.lifetime)
	case c.issuer != "" && len(c.audiences) == 0:
		return usage.Errorf("--oidc-issuer: --oidc-audience is missing: tokens for other servers must not be accepted")
	case c.issuer == "" && len(c.audiences) > 0:
		return usage.Errorf("--oidc-audience: --oidc-issuer is missing")
	case c.clientNeeded && c.clientCA == "":
		return usage.Errorf("--tls-client-required: --tls-client-ca is missing")
	}
	return usage.OneOf("tls-client-user", c.clientUser, certs.Fields...)
}

// isSet reports whether callers have to log in.
func (c *loginFlags) isSet() bool {
	return c.users != "" || c.tokens != "" || c.issuer != "" || c.clientCA != ""
}

// open returns the login, which the caller closes; nil without a login method.
func (c *loginFlags) open(log zerolog.Logger) (*login.Login, error) {
	if !c.isSet() {
		return nil, nil //nolint:nilnil // no login
	}
	cfg := login.Config{
		Users: c.users, Tokens: c.tokens, SessionKeys: c.sessionKeys, SessionLifetime: c.lifetime, Log: log,
		OIDC: oidc.Config{
			Issuer: c.issuer, Audiences: c.audiences, UserClaim: c.userClaim, GroupsClaim: c.groupsClaim,
		},
	}
	if c.clientCA != "" {
		cfg.CertificateUser = c.clientUser
	}
	return login.Open(cfg)
}
