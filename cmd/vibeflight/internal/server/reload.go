package server

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/internal/system/process"
)

// reloads are what SIGHUP reads again, in the order of their registration.
type reloads struct {
	mu    sync.Mutex
	hooks []reloadHook
}

// reloadHook reads something again. After an error, what was read before still holds.
type reloadHook struct {
	name string
	run  func(ctx context.Context) error
}

// add registers a hook. name is what it reads, for the log.
func (r *reloads) add(name string, run func(ctx context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hooks = append(r.hooks, reloadHook{name, run})
}

// run runs all hooks.
func (r *reloads) run(ctx context.Context, log zerolog.Logger) {
	r.mu.Lock()
	hooks := r.hooks
	r.mu.Unlock()
	for _, h := range hooks {
		if err := h.run(ctx); err != nil {
			log.Error().Err(err).Str("what", h.name).Msg("not reloaded; what was read before still holds")
			continue
		}
		log.Info().Str("what", h.name).Msg("reloaded")
	}
}

// hangups returns the channel of SIGHUP, which does not end the process from here on. It returns nil
// if SIGHUP is ignored, as by nohup.
func hangups() chan os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return nil
	}
	signal.Ignore(syscall.SIGHUP) // it ended the command
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c
}

// serveHangups runs the hooks for each SIGHUP until ctx ends. It calls stop instead if the terminal
// was closed that the process had at its start.
func (r *reloads) serveHangups(ctx context.Context, c <-chan os.Signal, terminal bool, stop func(),
	log zerolog.Logger,
) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c:
		}
		if terminal && !hasTerminal() {
			stop()
			return
		}
		notifyReloading()
		r.run(ctx, log)
		notify("READY=1")
	}
}

// hasTerminal reports whether the process has a controlling terminal.
func hasTerminal() bool {
	in, out, err := process.OpenTerminal()
	if err != nil {
		return false
	}
	_, _ = in.Close(), out.Close() // nothing was written
	return true
}
