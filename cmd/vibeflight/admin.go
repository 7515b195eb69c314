package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

func newAdmin(std output.Stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admin COMMAND",
		Short: "See and end what the users of a server do",
		Long: `See and end what the users of a server do.

A server with grants wants the privilege admin. Without grants, these commands are for clients of the
server's own machine.`,
		Example: `  # who does what, oldest first
  vibeflight admin queries --server grpc://127.0.0.1:8815`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Errorf("no command %q", args[0])
			}
			return usage.Errorf("a command is needed: sessions, queries, kill or drain")
		},
	}
	cmd.AddCommand(newAdminQueries(std), newAdminSessions(std), newAdminKill(std), newAdminDrain(std))
	return cmd
}

// adminCommand completes a command that runs actions of a server.
func adminCommand(cmd *cobra.Command,
	run func(ctx context.Context, r *target.Remote, args []string) error,
) *cobra.Command {
	var server target.Server
	settings.Add(cmd.Flags(), server.Define)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := server.Check(cmd.Flags()); err != nil {
			return err
		}
		if server.Address == "" {
			return usage.Errorf("--server: say which server")
		}
		remote, err := server.Dial()
		if err != nil {
			return err
		}
		defer remote.Close()
		return run(cmd.Context(), remote, args)
	}
	return cmd
}

// adminQuery is a call in progress, in the answer of the action queries.
type adminQuery struct {
	ID      string    `json:"id"`
	User    string    `json:"user"`
	Address string    `json:"address"`
	Method  string    `json:"method"`
	Name    string    `json:"name,omitempty"`
	SQL     string    `json:"sql,omitempty"`
	State   string    `json:"state"`
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"`
	Rows    int64     `json:"rows"`
	Bytes   int64     `json:"bytes"`
}

func newAdminQueries(std output.Stdio) *cobra.Command {
	var asJSON bool
	cmd := adminCommand(&cobra.Command{
		Use:   "queries",
		Short: "List the calls in progress",
		Long: `List the calls in progress of all users, the oldest first, with the entry or the SQL statement, and
the rows and bytes that were sent. A call that waits has not had its turn yet.`,
		Example: `  vibeflight admin queries --server grpc://127.0.0.1:8815`,
		Args:    usage.NoArguments,
	}, func(ctx context.Context, r *target.Remote, _ []string) error {
		var answer struct{ Queries []adminQuery }
		if err := r.Act(ctx, "queries", nil, &answer); err != nil {
			return err
		}
		if asJSON {
			return writeEach(std, answer.Queries)
		}
		g := &output.Grid{
			Header: []string{"ID", "USER", "METHOD", "STATE", "SECONDS", "ROWS", "BYTES", "WHAT"},
			Right:  []bool{true, false, false, false, true, true, true, false},
		}
		for _, q := range answer.Queries {
			what := q.Name
			if q.SQL != "" {
				what = q.SQL
			}
			g.Rows = append(g.Rows, []string{
				q.ID, output.OneLine(userName(q.User)), q.Method, q.State, fmt.Sprintf("%.1f", q.Seconds),
				units.Count(q.Rows), units.Bytes(q.Bytes), output.OneLine(what),
			})
		}
		_, err := g.Write(std.Out, 0)
		return err
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per line")
	return cmd
}

// userName names a user for people.
func userName(user string) string {
	if user == "" {
		return "(unix socket)"
	}
	return user
}

func writeEach[T any](std output.Stdio, values []T) error {
	for _, v := range values {
		if err := output.WriteJSON(std.Out, v); err != nil {
			return err
		}
	}
	return nil
}

// adminSession is what a user has open, in the answer of the action sessions.
type adminSession struct {
	User     string    `json:"user"`
	Calls    int       `json:"calls"`
	Sessions int       `json:"sessions"`
	Prepared int       `json:"prepared"`
	Results  int       `json:"results"`
	Used     time.Time `json:"used"`
}

func newAdminSessions(std output.Stdio) *cobra.Command {
	var asJSON bool
	cmd := adminCommand(&cobra.Command{
		Use:   "sessions",
		Short: "List what each user has open",
		Long: `List what each user has open: calls in progress, and of SQL the sessions with options, the prepared
statements, and the results that are being fetched or can be.`,
		Example: `  vibeflight admin sessions --server grpc://127.0.0.1:8815`,
		Args:    usage.NoArguments,
	}, func(ctx context.Context, r *target.Remote, _ []string) error {
		var answer struct{ Sessions []adminSession }
		if err := r.Act(ctx, "sessions", nil, &answer); err != nil {
			return err
		}
		if asJSON {
			return writeEach(std, answer.Sessions)
		}
		g := &output.Grid{
			Header: []string{"USER", "CALLS", "SESSIONS", "PREPARED", "RESULTS", "USED"},
			Right:  []bool{false, true, true, true, true, false},
		}
		for _, s := range answer.Sessions {
			g.Rows = append(g.Rows, []string{
				output.OneLine(userName(s.User)), fmt.Sprint(s.Calls), fmt.Sprint(s.Sessions), fmt.Sprint(s.Prepared),
				fmt.Sprint(s.Results), s.Used.Local().Format(time.DateTime),
			})
		}
		_, err := g.Write(std.Out, 0)
		return err
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per line")
	return cmd
}

func newAdminKill(std output.Stdio) *cobra.Command {
	var user string
	var cmd *cobra.Command
	cmd = adminCommand(&cobra.Command{
		Use:   "kill [ID…]",
		Short: "End calls in progress",
		Long: `End calls in progress, by the IDs that admin queries lists, or all of a user. Their clients get the
status Aborted.`,
		Example: `  vibeflight admin kill --server grpc://127.0.0.1:8815 17
  vibeflight admin kill --server grpc://127.0.0.1:8815 --calls-of ann`,
	}, func(ctx context.Context, r *target.Remote, ids []string) error {
		byUser := cmd.Flags().Changed("calls-of")
		if byUser == (len(ids) > 0) {
			return usage.Errorf("want IDs, or --calls-of")
		}
		var bodies []map[string]string
		for _, id := range ids {
			bodies = append(bodies, map[string]string{"id": id})
		}
		if byUser {
			bodies = []map[string]string{{"user": user}}
		}
		var gone []string
		total := 0
		for _, body := range bodies {
			var answer struct{ Killed int }
			if err := r.Act(ctx, "kill", body, &answer); err != nil {
				return err
			}
			if total += answer.Killed; answer.Killed == 0 && !byUser {
				gone = append(gone, body["id"])
			}
		}
		if len(gone) > 0 {
			return fmt.Errorf("no call in progress has the ID %s; %d ended", strings.Join(gone, ", "), total)
		}
		_, err := fmt.Fprintf(std.Out, "%d ended\n", total)
		return err
	})
	cmd.Flags().StringVar(&user, "calls-of", "", "end all calls of this `user`")
	return cmd
}

func newAdminDrain(std output.Stdio) *cobra.Command {
	return adminCommand(&cobra.Command{
		Use:   "drain",
		Short: "End a server after its calls in progress",
		Long: `End a server as SIGTERM does: its health checks report NOT_SERVING, after --drain-delay it refuses
new calls, and after --drain it ends those in progress.`,
		Example: `  vibeflight admin drain --server grpc://127.0.0.1:8815`,
		Args:    usage.NoArguments,
	}, func(ctx context.Context, r *target.Remote, _ []string) error {
		var answer struct{ Draining bool }
		if err := r.Act(ctx, "drain", nil, &answer); err != nil {
			return err
		}
		_, err := fmt.Fprintln(std.Out, "the server ends after its calls in progress")
		return err
	})
}
