package engines

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRehearse checks which engines parse before the first request.
func TestRehearse(t *testing.T) {
	for _, tt := range []struct {
		name    string
		devices int
		engine  *fakeEngine
		chunks  int64
		logged  string
	}{
		{"a device", 1, &fakeEngine{}, 1, ""},
		{"three devices", 3, &fakeEngine{}, 3, ""},
		{"a device that fails", 1, &fakeEngine{slow: slow{after: func() error {
			return errors.New("the disk failed")
		}}}, 1, "the disk failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, t.TempDir(), tt.engine)
				w.devices = make([]openDevice, tt.devices)
				w.Rehearse(t.Context())
				if chunks := w.engine.chunks.Load(); chunks != tt.chunks || w.parses.Load() != 0 {
					t.Errorf("%d parses on devices and %d by the CPU engine, want %d and none", chunks,
						w.parses.Load(), tt.chunks)
				}
				if text := w.out.text.String(); !strings.Contains(text, tt.logged) || tt.logged == "" && text != "" {
					t.Errorf("logged %q, want %q", text, tt.logged)
				}
				w.wantChoice(t, untilMeasured)
			})
		})
	}
}

// TestRehearseEnds has the server end meanwhile.
func TestRehearseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir(), &fakeEngine{slow: slow{start: time.Hour}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		w.Rehearse(ctx)
		if took, text := time.Since(began), w.out.text.String(); took != time.Second || text != "" {
			t.Errorf("returned after %v, and logged %q", took, text)
		}
	})
}
