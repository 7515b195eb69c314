package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/server"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/readers/all"
)

const healthLong = `Ask a server's health service whether it serves, for the health checks of containers and scripts.
It needs no login.

It prints SERVING and exits with 0, or says on stderr why not and exits with 1: nobody listens there,
a component is stuck, or the server is about to end.

Without --server it asks the server of this machine at the first address of --listen, with TLS if that
server has it. The environment and --config may set the address, as they do for serve.`

func newHealth(std output.Stdio) *cobra.Command {
	var (
		remote  target.Server
		serve   server.Config
		timeout time.Duration
	)
	whole := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd := &cobra.Command{
		Use: "health", Short: "Ask whether a server serves", Long: healthLong, Args: usage.NoArguments,
		Example: "  vibeflight health\n  vibeflight health --server grpc://127.0.0.1:8815",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := remote.Check(cmd.Flags()); err != nil {
				return err
			}
			if timeout <= 0 {
				return usage.Errorf("--timeout: %v is not greater than 0", timeout)
			}
			if serve.Config != "" {
				if _, err := settings.FromFile(whole, serve.Config, all.Formats()); err != nil {
					return err
				}
			}
			if len(serve.Listen) == 0 {
				return usage.Errorf("--listen: say where the server listens, or name it with --server")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			var err error
			if remote.Address != "" {
				err = askHealth(ctx, remote)
			} else {
				err = askOwnHealth(ctx, remote, serve.Listen[0])
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(std.Out, "SERVING")
			return err
		},
	}
	settings.Add(whole, serve.Define)
	for _, name := range []string{"config", "listen"} {
		cmd.Flags().AddFlag(whole.Lookup(name))
	}
	settings.Add(cmd.Flags(), remote.DefineAddress)
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait for the answer")
	return cmd
}

// askHealth returns nil if the server serves.
func askHealth(ctx context.Context, remote target.Server) error {
	r, err := remote.Dial()
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Health(ctx)
}

// askOwnHealth asks at an address of --listen. It does not know whether that server has TLS, whose
// certificate is not for this address: nothing secret is sent.
func askOwnHealth(ctx context.Context, remote target.Server, listen string) error {
	remote.Address = reachable(listen)
	err := askHealth(ctx, remote)
	if err == nil || strings.Contains(listen, "://") {
		return err
	}
	remote.Address, remote.Unverified, remote.CA = "grpc+tls://"+remote.Address, true, ""
	if askHealth(ctx, remote) == nil {
		return nil
	}
	return err
}

// reachable returns the address for clients on this machine: a server that listens on all addresses
// answers on loopback.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
