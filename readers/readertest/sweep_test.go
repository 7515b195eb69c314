package readertest

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestSweepNamesTheSeed has documents of a sweep fail in a process of its own. Its output names the
// seed, however the document fails.
func TestSweepNamesTheSeed(t *testing.T) {
	const variable = "VIBEFLIGHT_TEST_SWEEP_FAILS"
	how := os.Getenv(variable)
	if how != "" {
		Sweep{Format: failing(how), Documents: 1, Document: func(uint64) Input {
			if how == "document" {
				panic("no document")
			}
			return Input{Name: "a", Text: []byte("text")}
		}}.CPU(t)
		return
	}
	for _, how := range []string{"document", "panic", "panic of a worker", "exit"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestSweepNamesTheSeed$", "-test.timeout", "1m")
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), variable+"="+how, "VIBEFLIGHT_SWEEP=1",
				"VIBEFLIGHT_SWEEP_SEED=17")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "VIBEFLIGHT_SWEEP_SEED=17") {
				t.Errorf("%v, want a failure that names seed 17:\n%s", err, clip(out))
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		check func(t testing.TB, in Input)
		want  string // a part of it
	}{
		{"none", func(testing.TB, Input) {}, ""},
		{"error", func(t testing.TB, _ Input) { t.Errorf("error %d", 1) }, "error 1"},
		{"fatal", func(t testing.TB, _ Input) { t.Fatal("fatal", 2); t.Error("later") }, "fatal 2\n"},
		{"fatal format", func(t testing.TB, _ Input) { t.Fatalf("fatal %d", 3) }, "fatal 3"},
		{"fail", func(t testing.TB, _ Input) { t.FailNow() }, "failed"},
		{"panic", func(testing.TB, Input) { panic("four") }, "panic: four"},
		{"exit", func(testing.TB, Input) { runtime.Goexit() }, "ended early"},
	} {
		got := failures(t, Input{}, c.check)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || strings.Contains(got, "later") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// failing returns a format whose parse fails.
func failing(how string) readers.Format {
	return readers.Format{
		Name: "failing", Extensions: []string{".a"}, Unit: "row", Version: 1,
		Open: func(_ context.Context, _ *source.File, opts readers.Options) (readers.Layout, error) {
			return readers.Layout{Options: opts}, nil
		},
		CPU: func(readers.Layout) readers.Parser { return failingParser(how) },
	}
}

type failingParser string

func (p failingParser) Parse(context.Context, *source.File, readers.Request, func(readers.Chunk) error) (
	readers.Summary, error,
) {
	switch p {
	case "panic":
		panic("of the parser")
	case "panic of a worker":
		done := make(chan struct{})
		go func() {
			defer close(done)
			panic("of a worker")
		}()
		<-done
	case "exit":
		runtime.Goexit()
	}
	return readers.Summary{}, nil
}
