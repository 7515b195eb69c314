package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/auth/passwords"
	"github.com/vibeflight/vibeflight/flightsrv/auth/tokens"
)

const tokenLong = `Edit or list the file of API tokens that log in to servers.

Each line is a JSON object with the SHA-256 digest of a token, its user, and its limits. Running
servers read a changed file within a second. The calls with a token that is removed end then.`

const tokenAddLong = `Add an API token to the file, which is created if need be, and print it.

It is printed once: the file has its digest alone.`

// tokensFile is the setting of the file that a command edits.
type tokensFile struct{ path string }

func (t *tokensFile) define(f *pflag.FlagSet) {
	f.StringVar(&t.path, "tokens", "", "`file` of API tokens")
}

func (t *tokensFile) read(create bool) ([]byte, *tokens.Tokens, error) {
	return readLines(t.path, "tokens", create, tokens.Parse)
}

func newToken(std output.Stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Edit the file of API tokens that log in to servers", Long: tokenLong,
		Args: usage.NoArguments,
		RunE: func(*cobra.Command, []string) error { return usage.Errorf("want add, rm or ls") },
	}
	cmd.AddCommand(newTokenAdd(std), newTokenRm(), newTokenLs(std))
	return cmd
}

func newTokenAdd(std output.Stdio) *cobra.Command {
	var file tokensFile
	var groups, scopes []string
	var expires time.Duration
	var note string
	cmd := &cobra.Command{
		Use: "add USER", Short: "Add an API token of a user, and print it", Long: tokenAddLong,
		Args:    oneArgument("USER"),
		Example: "  vibeflight token add --tokens /etc/vibeflight/tokens --expires 720h --scopes read,sql ci",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkNames(args[0], groups); err != nil {
				return err
			}
			if err := tokens.CheckScopes(scopes); err != nil {
				return usage.Errorf("--%w", err)
			}
			if expires < 0 {
				return usage.Errorf("--expires: %v is less than 0", expires)
			}
			text, _, err := file.read(true)
			if err != nil {
				return err
			}
			token, digest := tokens.New()
			now := time.Now().UTC().Truncate(time.Second)
			t := tokens.Token{SHA256: digest, User: args[0], Groups: groups, Scopes: scopes, Created: now, Note: note}
			if expires > 0 {
				t.Expires = now.Add(expires)
			}
			line, err := json.Marshal(t)
			if err != nil {
				return err
			}
			if err := writeSecret(file.path, passwords.Append(text, string(line))); err != nil {
				return err
			}
			_, err = fmt.Fprintln(std.Out, token)
			return err
		},
	}
	settings.Add(cmd.Flags(), file.define)
	f := cmd.Flags()
	f.DurationVar(&expires, "expires", 0, "how long the token is valid, as 720h; 0 is for ever")
	f.StringSliceVar(&scopes, "scopes", nil, "`privileges` that the token has at most, with commas: "+
		strings.Join(tokens.Scopes, ", ")+"; all of the user's without it")
	f.StringSliceVar(&groups, "groups", nil, "`names` of groups in addition to the user's, with commas")
	f.StringVar(&note, "note", "", "`text` for readers of the list")
	return cmd
}

func newTokenRm() *cobra.Command {
	var file tokensFile
	cmd := &cobra.Command{
		Use: "rm ID", Short: "Revoke an API token, whose calls end", Args: oneArgument("ID"),
		Long:    "Remove an API token from the file, by the ID that ls prints. Its calls end within a second.",
		Example: "  vibeflight token rm --tokens /etc/vibeflight/tokens 9f86d081884c",
		RunE: func(_ *cobra.Command, args []string) error {
			text, all, err := file.read(false)
			if err != nil {
				return err
			}
			t := all.ByID(args[0])
			if t == nil {
				return fmt.Errorf("%s: there is no token with the ID %q", file.path, args[0])
			}
			return writeSecret(file.path, without(text, t))
		},
	}
	settings.Add(cmd.Flags(), file.define)
	return cmd
}

// without returns the text of a valid file without the line of a token.
func without(text []byte, t *tokens.Token) []byte {
	var rest []byte
	for line := range bytes.Lines(text) {
		if other, err := tokens.ParseLine(bytes.TrimSpace(line)); err == nil && other.SHA256 == t.SHA256 {
			continue
		}
		rest = append(rest, line...)
	}
	return rest
}

func newTokenLs(std output.Stdio) *cobra.Command {
	var file tokensFile
	cmd := &cobra.Command{
		Use: "ls", Short: "List the API tokens with their users and limits", Args: usage.NoArguments,
		Long:    "List the API tokens of the file: ID, user, expiry, scopes and note. The tokens are not in the file.",
		Example: "  vibeflight token ls --tokens /etc/vibeflight/tokens",
		RunE: func(*cobra.Command, []string) error {
			_, all, err := file.read(false)
			if err != nil {
				return err
			}
			g := &output.Grid{Header: []string{"ID", "USER", "EXPIRES", "SCOPES", "NOTE"}, Right: make([]bool, 5)}
			for _, t := range all.All() {
				expires := "never"
				if !t.Expires.IsZero() {
					expires = t.Expires.Format(time.RFC3339)
				}
				if t.Expired(time.Now()) {
					expires += " (expired)"
				}
				g.Rows = append(g.Rows, []string{
					t.ID(), t.User, expires, strings.Join(t.Scopes, ","), output.OneLine(t.Note),
				})
			}
			_, err = g.Write(std.Out, 0)
			return err
		},
	}
	settings.Add(cmd.Flags(), file.define)
	return cmd
}
