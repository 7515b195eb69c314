package catalog

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// fromTen offers a GPU engine for files of the format "fake" with at least ten bytes.
type fromTen struct{ asked atomic.Int64 }

func (f *fromTen) For(format string, bytes int64) readers.Engine {
	f.asked.Add(1)
	if format != "fake" || bytes < 10 {
		return nil
	}
	return f
}

func (f *fromTen) Stats() EngineStats {
	return EngineStats{Choice: "auto: cuda from 10 B on", Formats: map[string]readers.EngineCounts{"fake": f.Counts()}}
}

func (f *fromTen) Parser(readers.Layout) readers.Parser { return f }
func (f *fromTen) Counts() readers.EngineCounts         { return readers.EngineCounts{Chunks: f.asked.Load()} }
func (f *fromTen) Close() error                         { return nil }

func (f *fromTen) Parse(context.Context, *source.File, readers.Request, func(readers.Chunk) error) (
	readers.Summary, error,
) {
	return readers.Summary{}, errors.New("not in this test")
}

// TestEngineIsChosenByTheSize chooses the engine for each file, with and without a cache on disk.
func TestEngineIsChosenByTheSize(t *testing.T) {
	for _, cache := range []string{"", t.TempDir()} {
		engines := &fromTen{}
		l := newLab(t, "", sized, func(c *Config) { c.Engines, c.CacheDir = engines, cache })
		var parser readers.Parser // that read the last file
		l.loader.Read = func(ctx context.Context, _ readers.Format, p readers.Parser, src *source.File,
			_ readers.Limits, _ readers.Keeper,
		) (*readers.Table, error) {
			parser = p
			return sized(ctx, src)
		}
		for i, tt := range []struct {
			text   string
			device bool
		}{{"123456789", false}, {"1234567890", true}, {"12345678901", true}, {"1", false}} {
			l.write("x.fake", tt.text)
			h, err := l.Table(t.Context(), Request{Name: "x.fake"})
			if err != nil {
				t.Fatal(err)
			}
			h.Release()
			if got := parser == readers.Parser(engines); got != tt.device {
				t.Errorf("a file of %d bytes is for a device: %v, want %v", len(tt.text), got, tt.device)
			}
			want := EngineStats{
				Choice:  "auto: cuda from 10 B on",
				Formats: map[string]readers.EngineCounts{"fake": {Chunks: int64(i + 1)}},
			}
			if s := l.Stats(); s.Engines == nil || !reflect.DeepEqual(*s.Engines, want) {
				t.Errorf("stats %+v, want %+v", s.Engines, want)
			}
		}
	}
	if s := newLab(t, "", sized).Stats(); s.Engines != nil {
		t.Errorf("stats %+v of engines that are not there", *s.Engines)
	}
}
