//go:build linux && cgo

package emu

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// work is what a stream is given: it is done at once, or recorded and done when the graph is
// replayed. With check it only says whether it could be done.
type work func(check bool) error

// A stream does its work while the call that gives it lasts.
type stream struct {
	// held by the call that uses the stream; a second one at once is the caller's mistake and is
	// told so
	call      sync.Mutex
	capturing bool
	captured  []work
}

type event struct {
	recorded bool
	at       time.Time
}

type graph []work

func (d *device) NewStream() (driver.Stream, error) {
	return newHandle[driver.Stream](d, d.streams, &stream{})
}

func (d *device) CloseStream(s driver.Stream) error {
	return closeHandle(d, d.streams, s, "stream")
}

// stream returns the stream with its lock held.
func (d *device) stream(s driver.Stream, call string) (*stream, error) {
	st, err := lookUp(d, d.streams, s, "stream")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", call, err)
	}
	if !st.call.TryLock() {
		return nil, &driver.Error{
			Call: call, Detail: fmt.Sprintf("stream %d", s),
			Name: "another call uses the stream at the same time",
		}
	}
	return st, nil
}

// do gives work to a stream.
func (d *device) do(s driver.Stream, call string, w work) error {
	st, err := d.stream(s, call)
	if err != nil {
		return err
	}
	defer st.call.Unlock()
	if st.capturing {
		if err := w(true); err != nil {
			return err
		}
		st.captured = append(st.captured, w)
		return nil
	}
	return w(false)
}

// outside refuses what can't be recorded.
func (d *device) outside(s driver.Stream, call string, f func(*stream) error) error {
	st, err := d.stream(s, call)
	if err != nil {
		return err
	}
	defer st.call.Unlock()
	if st.capturing {
		return &driver.Error{Call: call, Name: "the stream is being captured"}
	}
	return f(st)
}

// Synchronize has nothing to wait for, and nothing to report: what went wrong was the error of the
// call that gave the work.
func (d *device) Synchronize(s driver.Stream) error {
	return d.outside(s, "synchronize", func(*stream) error { return nil })
}

func (d *device) Capture(s driver.Stream) error {
	return d.outside(s, "capture", func(st *stream) error {
		st.capturing, st.captured = true, nil
		return nil
	})
}

func (d *device) EndCapture(s driver.Stream) (driver.Graph, error) {
	st, err := d.stream(s, "end capture")
	if err != nil {
		return 0, err
	}
	defer st.call.Unlock()
	if !st.capturing {
		return 0, &driver.Error{Call: "end capture", Name: "the stream is not being captured"}
	}
	g := graph(st.captured)
	st.capturing, st.captured = false, nil
	return newHandle[driver.Graph](d, d.graphs, &g)
}

func (d *device) Replay(s driver.Stream, h driver.Graph) error {
	g, err := lookUp(d, d.graphs, h, "graph")
	if err != nil {
		return err
	}
	steps := slices.Clone(*g)
	return d.do(s, "replay", func(check bool) error {
		for i, step := range steps {
			if err := step(check); err != nil {
				return fmt.Errorf("replay, step %d: %w", i, err)
			}
		}
		return nil
	})
}

func (d *device) CloseGraph(g driver.Graph) error {
	return closeHandle(d, d.graphs, g, "graph")
}

func (d *device) NewEvent() (driver.Event, error) {
	return newHandle[driver.Event](d, d.events, &event{})
}

func (d *device) CloseEvent(e driver.Event) error {
	return closeHandle(d, d.events, e, "event")
}

func (d *device) Record(h driver.Event, s driver.Stream) error {
	e, err := lookUp(d, d.events, h, "event")
	if err != nil {
		return err
	}
	return d.do(s, "record", func(check bool) error {
		if check {
			return nil
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		e.recorded, e.at = true, time.Now()
		return nil
	})
}

// Wait has nothing to wait for: what was given before an event was done before its Record returned.
func (d *device) Wait(s driver.Stream, h driver.Event) error {
	if _, err := lookUp(d, d.events, h, "event"); err != nil {
		return err
	}
	return d.do(s, "wait", func(bool) error { return nil })
}

// Await has nothing to wait for, as Wait. An event that was never recorded has happened, as CUDA
// has it.
func (d *device) Await(h driver.Event) error {
	_, err := lookUp(d, d.events, h, "event")
	return err
}

func (d *device) Elapsed(from, to driver.Event) (time.Duration, error) {
	a, err := lookUp(d, d.events, from, "event")
	if err != nil {
		return 0, err
	}
	b, err := lookUp(d, d.events, to, "event")
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !a.recorded || !b.recorded {
		return 0, &driver.Error{Call: "elapsed", Name: "an event was never recorded"}
	}
	return b.at.Sub(a.at), nil
}
