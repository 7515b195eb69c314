package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/atomicfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/auth/passwords"
)

const userLong = `Edit or list the file of users who may log in to servers.

Each line is a user: NAME:HASH:GROUPS. Running servers read a changed file within a second. The calls
and sessions of a user who is removed, or whose password is changed, end then.`

const userAddLong = `Add a user to the file, which is created if need be.

The password is asked for on a terminal, or else is the first line of stdin. A user without a
password logs in by API tokens or client certificates alone.`

// usersFile is the setting of the file that a command edits.
type usersFile struct{ path string }

func (u *usersFile) define(f *pflag.FlagSet) { f.StringVar(&u.path, "users", "", "`file` of users") }

// read returns the text of the file and its users. A missing file is empty if create is set.
func (u *usersFile) read(create bool) ([]byte, *passwords.Users, error) {
	return readLines(u.path, "users", create, passwords.Parse)
}

func newUser(std output.Stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use: "user", Short: "Edit the file of users who may log in to servers", Long: userLong,
		Args: usage.NoArguments,
		RunE: func(*cobra.Command, []string) error { return usage.Errorf("want add, rm, ls or passwd") },
	}
	cmd.AddCommand(newUserAdd(std), newUserRm(), newUserLs(std), newUserPasswd(std))
	return cmd
}

func newUserAdd(std output.Stdio) *cobra.Command {
	var file usersFile
	var groups []string
	var none bool
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Add a user, with a password from the terminal or stdin", Long: userAddLong,
		Args: oneArgument("NAME"),
		Example: `  vibeflight user add --users /etc/vibeflight/users --groups gis,admins alice
  vibeflight user add --users /etc/vibeflight/users --no-password ci`,
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if err := checkNames(name, groups); err != nil {
				return err
			}
			text, users, err := file.read(true)
			if err != nil {
				return err
			}
			if users.Find(name) != nil {
				return fmt.Errorf("%s: the user %q exists; vibeflight user passwd changes the password",
					file.path, name)
			}
			hash := passwords.NoPassword
			if !none {
				if hash, err = newHash(std, name); err != nil {
					return err
				}
			}
			return writeSecret(file.path, passwords.Append(text, passwords.Line(name, hash, groups)))
		},
	}
	settings.Add(cmd.Flags(), file.define)
	cmd.Flags().StringSliceVar(&groups, "groups", nil, "`names` of the groups that the user is in, with commas")
	cmd.Flags().BoolVar(&none, "no-password", false, "the user logs in by API tokens or client certificates alone")
	return cmd
}

func newUserRm() *cobra.Command {
	var file usersFile
	cmd := &cobra.Command{
		Use: "rm NAME", Short: "Remove a user, whose calls and sessions end", Args: oneArgument("NAME"),
		Long:    "Remove a user from the file. The user's calls and sessions at running servers end within a second.",
		Example: "  vibeflight user rm --users /etc/vibeflight/users alice",
		RunE: func(_ *cobra.Command, args []string) error {
			return file.edit(args[0], func(string) (string, bool) { return "", false })
		},
	}
	settings.Add(cmd.Flags(), file.define)
	return cmd
}

func newUserPasswd(std output.Stdio) *cobra.Command {
	var file usersFile
	cmd := &cobra.Command{
		Use: "passwd NAME", Short: "Change a user's password", Args: oneArgument("NAME"),
		Long: `Change the password of a user. It is asked for on a terminal, or else is the first line of stdin.

The user's calls and sessions at running servers end within a second.`,
		Example: "  vibeflight user passwd --users /etc/vibeflight/users alice",
		RunE: func(_ *cobra.Command, args []string) error {
			hash, err := newHash(std, args[0])
			if err != nil {
				return err
			}
			return file.edit(args[0], func(line string) (string, bool) {
				return strings.Replace(line, passwords.HashOf(line), hash, 1), true
			})
		},
	}
	settings.Add(cmd.Flags(), file.define)
	return cmd
}

// edit replaces the line of a user.
func (u *usersFile) edit(name string, edit func(line string) (string, bool)) error {
	text, _, err := u.read(false)
	if err != nil {
		return err
	}
	text, found := passwords.Replace(text, name, edit)
	if !found {
		return fmt.Errorf("%s: there is no user %q", u.path, name)
	}
	return writeSecret(u.path, text)
}

func newUserLs(std output.Stdio) *cobra.Command {
	var file usersFile
	cmd := &cobra.Command{
		Use: "ls", Short: "List the users with their groups", Args: usage.NoArguments,
		Long:    "List the users of the file: the name, how the password is hashed, and the groups.",
		Example: "  vibeflight user ls --users /etc/vibeflight/users",
		RunE: func(*cobra.Command, []string) error {
			_, users, err := file.read(false)
			if err != nil {
				return err
			}
			g := &output.Grid{Header: []string{"NAME", "PASSWORD", "GROUPS"}, Right: make([]bool, 3)}
			for _, u := range users.All() {
				g.Rows = append(g.Rows, []string{u.Name, u.Method, strings.Join(u.Groups, ",")})
			}
			_, err = g.Write(std.Out, 0)
			return err
		},
	}
	settings.Add(cmd.Flags(), file.define)
	return cmd
}

func oneArgument(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage.Errorf("want one %s, got %d arguments", name, len(args))
		}
		return nil
	}
}

func checkNames(user string, groups []string) error {
	if err := auth.CheckName("user", user); err != nil {
		return &usage.Error{Err: err}
	}
	for _, g := range groups {
		if err := auth.CheckName("group", g); err != nil {
			return &usage.Error{Err: err}
		}
	}
	return nil
}

// newHash returns the hash of a password that is asked for twice on a terminal, or is a line of
// stdin.
func newHash(std output.Stdio, user string) (string, error) {
	if !output.IsTerminal(std.In) {
		line, err := bufio.NewReader(io.LimitReader(std.In, 2*passwords.MaxBytes)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return passwords.NewHash(strings.TrimRight(line, "\r\n"))
	}
	password, err := output.PromptPassword(fmt.Sprintf("new password of %s: ", user))
	if err != nil {
		return "", err
	}
	again, err := output.PromptPassword("the same again: ")
	if err != nil {
		return "", err
	}
	if password != again {
		return "", errors.New("the passwords differ")
	}
	return passwords.NewHash(password)
}

// readLines reads and parses the file of a flag. A missing file is empty if create is set.
func readLines[T any](path, flag string, create bool, parse func([]byte) (T, error)) (text []byte, content T,
	err error,
) {
	if path == "" {
		return nil, content, usage.Errorf("--%s: say which file", flag)
	}
	text, err = os.ReadFile(path)
	if err != nil && (!create || !errors.Is(err, fs.ErrNotExist)) {
		return nil, content, err
	}
	if content, err = parse(text); err != nil {
		return nil, content, fmt.Errorf("%s: %w", path, err)
	}
	return text, content, nil
}

// writeSecret replaces a file. It keeps the permissions of the former one; a new one is for its
// owner alone.
func writeSecret(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := f.Chmod(mode); err != nil {
		return f.Explain(err)
	}
	if _, err := f.Write(text); err != nil {
		return f.Explain(err)
	}
	return f.Explain(f.Commit())
}
