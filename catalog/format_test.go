package catalog

import (
	"errors"
	"path"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// TestFormatOption names the format by an option, for files whose names say nothing or name another
// format.
func TestFormatOption(t *testing.T) {
	l := newLab(t, "", sized, func(cfg *Config) {
		cfg.Options = func(name string) map[string]any {
			if path.Ext(name) == ".txt" {
				return map[string]any{readers.OptionFormat: "fake"}
			}
			return nil
		}
	})
	for _, rel := range []string{"gtfs/stops.txt", "a.fake", "b.dat"} {
		l.write(rel, rel)
	}
	l.wantNames("a.fake", "gtfs/stops.txt") // by pattern
	if e, err := l.Lookup(t.Context(), "gtfs/stops.txt"); err != nil || e.Format != "fake" {
		t.Errorf("stops.txt: %+v, %v", e, err)
	}
	for _, name := range []string{"gtfs/stops.txt", "a.fake"} { // by ticket
		h, err := l.Table(t.Context(), Request{Name: name, Options: map[string]any{readers.OptionFormat: "fake"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if h.Entry.Format != "fake" {
			t.Errorf("%s is %s", name, h.Entry.Format)
		}
		h.Release()
	}
	notFound := (*NotFoundError)(nil)
	if _, err := l.Table(t.Context(), Request{Name: "b.dat"}); !errors.As(err, &notFound) {
		t.Errorf("b.dat without a format: %v", err)
	}
	for _, name := range []string{"../a.fake", "nothing", "gtfs", "b.dat"} {
		if _, err := l.Table(t.Context(), Request{
			Name:    name,
			Options: map[string]any{readers.OptionFormat: "fake"},
		}); !errors.As(err, &notFound) {
			t.Errorf("%s: %v, want none", name, err)
		}
	}
	wrong := (*readers.OptionError)(nil)
	if _, err := l.Table(t.Context(), Request{
		Name:    "a.fake",
		Options: map[string]any{readers.OptionFormat: "klingon"},
	}); !errors.As(err, &wrong) {
		t.Errorf("no such format: %v", err)
	}
}
