package telemetry

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Component is a part of the server that a watchdog probes.
type Component struct {
	Name  string
	Every time.Duration // between two probes
	// Stale is the time without a successful probe after which the component is stuck. A probe that
	// does not return counts as unsuccessful.
	Stale time.Duration
	// Probe returns nil if the component works. It should return when ctx ends, which it does after
	// Stale, but need not.
	Probe func(ctx context.Context) error
}

// Health is the state of a server: whether it is started, draining, and which components work. It is
// safe for concurrent use.
type Health struct {
	mu         sync.Mutex
	loaded     bool // the catalog is read
	listening  bool
	draining   bool
	components map[string]*component
	changed    func(serving bool) // may be nil
	serving    bool               // as last passed to changed
}

// component is the state of a component. Health.mu guards it.
type component struct {
	Component
	worked time.Time // last successful probe
	err    error     // of the last probe
	stuck  bool
}

// NewHealth returns the health of a server that has not started.
func NewHealth() *Health { return &Health{components: map[string]*component{}} }

// OnChange sets the function that is called when the server begins or ceases to be ready. It is
// called at once with the present state. It must not call methods of h.
func (h *Health) OnChange(f func(serving bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed, h.serving = f, h.isReady()
	f(h.serving)
}

// SetLoaded records that the catalog is read.
func (h *Health) SetLoaded() { h.set(func() { h.loaded = true }) }

// SetListening records that the server answers calls.
func (h *Health) SetListening() { h.set(func() { h.listening = true }) }

// SetDraining records that the server is about to stop. There is no way back.
func (h *Health) SetDraining() { h.set(func() { h.draining = true }) }

func (h *Health) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
	h.notify()
}

// notify calls changed if the state has changed; h.mu is held.
func (h *Health) notify() {
	if now := h.isReady(); now != h.serving {
		h.serving = now
		if h.changed != nil {
			h.changed(now)
		}
	}
}

func (h *Health) isReady() bool { return len(h.reasons()) == 0 }

// Reasons returns why the server is not ready, sorted; none if it is.
func (h *Health) Reasons() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reasons()
}

func (h *Health) reasons() []string {
	var why []string
	for _, c := range h.components {
		if c.stuck {
			why = append(why, fmt.Sprintf("%s is stuck", c.Name))
		}
	}
	slices.Sort(why)
	if !h.loaded {
		why = append(why, "the catalog is not read yet")
	}
	if !h.listening {
		why = append(why, "not listening yet")
	}
	if h.draining {
		why = append(why, "draining")
	}
	return why
}

// Components returns whether each component works.
func (h *Health) Components() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	state := make(map[string]bool, len(h.components))
	for name, c := range h.components {
		state[name] = !c.stuck
	}
	return state
}

// Watch probes a component until ctx ends. report is called when the component gets stuck, with the
// last error, and when it works again, with nil. Watch does not wait for a probe that hangs, and
// does not start another one meanwhile.
func (h *Health) Watch(ctx context.Context, of Component, report func(err error)) {
	c := &component{Component: of, worked: time.Now()}
	h.set(func() { h.components[of.Name] = c })
	tick := time.NewTicker(of.Every)
	defer tick.Stop()
	var result chan error // of the probe under way; nil: none
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-result:
			result = nil
			h.probed(c, err, report)
		case <-tick.C:
			if result == nil {
				result = make(chan error, 1)
				go probe(ctx, of, result)
			}
			h.check(c, report)
		}
	}
}

// probe runs a probe of a component.
func probe(ctx context.Context, of Component, result chan<- error) {
	ctx, cancel := context.WithTimeout(ctx, of.Stale)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			result <- fmt.Errorf("panic: %v", r)
		}
	}()
	result <- of.Probe(ctx)
}

// probed records the result of a probe.
func (h *Health) probed(c *component, err error, report func(error)) {
	h.mu.Lock()
	c.err = err
	recovered := err == nil && c.stuck
	if err == nil {
		c.worked, c.stuck = time.Now(), false
	}
	h.notify()
	h.mu.Unlock()
	if recovered {
		report(nil)
	}
}

// check marks a component without a recent success as stuck.
func (h *Health) check(c *component, report func(error)) {
	h.mu.Lock()
	silent := time.Since(c.worked)
	stuck := !c.stuck && silent > c.Stale
	if stuck {
		c.stuck = true
	}
	err := c.err
	h.notify()
	h.mu.Unlock()
	if stuck {
		if err == nil {
			err = fmt.Errorf("no answer for %v", silent.Round(time.Millisecond))
		}
		report(err)
	}
}
