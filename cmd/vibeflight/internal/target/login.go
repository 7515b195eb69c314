package target

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// Login is how a command logs in to a server.
type Login struct {
	User     string // empty: none
	Password string // of User; empty: it is asked for on the terminal
	Token    string // an API token or an access token; empty: none
	Silent   bool   // do not ask for the password
}

// passwordFlag is a flag for its environment variable alone: a command line is visible to others.
const passwordFlag = "password"

func (c *Login) define(f *pflag.FlagSet) {
	f.StringVar(&c.User, "user", "", "log in to the server as this user; the password is that of "+
		settings.Variable(passwordFlag)+", or is asked for")
	f.StringVar(&c.Password, passwordFlag, "", "")
	_ = f.MarkHidden(passwordFlag) // it exists
	f.StringVar(&c.Token, "token", "", "log in with this API token or access token; rather set "+
		settings.Variable("token")+", since a command line is visible to others")
}

func (c *Login) check(f *pflag.FlagSet, server bool) error {
	switch {
	case settings.Given(f, passwordFlag):
		return usage.Errorf("--password: a command line is visible to others: set %s", settings.Variable(passwordFlag))
	case !server && (settings.Given(f, "user") || settings.Given(f, "token")):
		return usage.Errorf("--user and --token: are for a server: --server is missing")
	case settings.Given(f, "user") && settings.Given(f, "token"):
		return usage.Errorf("want one of --user and --token")
	}
	return nil
}

// credentials returns the header of each call; nil if there is no login. It asks for a missing
// password.
func (c *Login) credentials() (callHeader, error) {
	switch {
	case c.Token != "":
		return callHeader{"authorization": "Bearer " + c.Token}, nil
	case c.User == "":
		return nil, nil
	}
	password := c.Password
	if password == "" {
		if c.Silent {
			return nil, output.ErrNoTerminal
		}
		var err error
		password, err = output.PromptPassword(fmt.Sprintf("password of %s: ", c.User))
		if errors.Is(err, output.ErrNoTerminal) {
			return nil, usage.Errorf("--user: %w: set %s", err, settings.Variable(passwordFlag))
		}
		if err != nil {
			return nil, err
		}
	}
	return callHeader{"authorization": auth.Basic(c.User, password)}, nil
}

// callHeader is credentials.PerRPCCredentials that send a header.
type callHeader map[string]string

// GetRequestMetadata returns the header.
func (h callHeader) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return h, nil
}

// RequireTransportSecurity is false: a server on this machine needs no TLS.
func (callHeader) RequireTransportSecurity() bool { return false }
