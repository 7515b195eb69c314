// Package prompt runs the statements that a person types, or that come from a file: it knows when a
// statement is complete, the commands that begin with a backslash, the history, and what to complete.
package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/result"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqltext"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
)

// maxStatement is the longest statement that is read: the limit of a server, in bytes.
const maxStatement = 1 << 20

// Querier answers statements: a server, or the files of this machine.
type Querier interface {
	Query(ctx context.Context, text string) (target.RowStream, error)
}

// Session runs statements and the commands between them.
type Session struct {
	Std    output.Stdio
	From   Querier
	Source string // the server or the folders, for people
	Show   func(ctx context.Context, ask result.Query, view result.View) error
	View   result.View
	Lookup func(string) (string, bool) // of the environment

	timing  bool
	out     string // the file of the next result; empty: none
	ended   bool
	words   *words
	pressed chan os.Signal // Ctrl-C at the terminal, from a line's end on
}

// RunInput runs the statements of a file, and ends at the first error.
func (s *Session) RunInput(ctx context.Context, in io.Reader) error {
	s.words = &words{from: s.From}
	from := newInput(in)
	var split sqltext.Splitter
	for !s.ended {
		text, err := from.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("stdin: %w", err)
		}
		last := errors.Is(err, io.EOF)
		if split.Empty() && strings.HasPrefix(strings.TrimSpace(text), `\`) {
			if err := s.command(ctx, strings.TrimSpace(text)); err != nil {
				return fmt.Errorf("stdin: line %d: %w", from.number, err)
			}
			split.Skip(1)
			if last {
				return nil
			}
			continue
		}
		found := split.Add(text)
		if last {
			if one, ok := split.Rest(); ok {
				found = append(found, one)
			}
		}
		for _, one := range found {
			if err := s.statement(ctx, one.Text); err != nil {
				return sqltext.Explain(err, one.Text, one.Line, "stdin")
			}
		}
		if last {
			return nil
		}
		if len(split.Pending()) > maxStatement {
			return fmt.Errorf("stdin: the query is longer than %v", units.Size(maxStatement))
		}
	}
	return nil
}

// statement runs one statement.
func (s *Session) statement(ctx context.Context, text string) error {
	start := time.Now()
	ask := func(*output.Progress) (target.RowStream, error) { return s.From.Query(ctx, text) }
	path := s.out
	s.out = ""
	if path != "" {
		if err := s.write(ctx, ask, path); err != nil {
			return err
		}
	} else if err := s.Show(ctx, ask, s.View); err != nil {
		return err
	}
	if s.timing {
		s.say("time: %s", time.Since(start).Round(time.Millisecond/10))
	}
	return nil
}

// write writes the result of a statement to a file.
func (s *Session) write(ctx context.Context, ask result.Query, path string) error {
	format, err := result.FormatFor(path)
	if err != nil {
		return err
	}
	var rows int64
	counted := func(p *output.Progress) (target.RowStream, error) {
		stream, err := ask(p)
		return result.Count(stream, &rows), err
	}
	if err := result.WriteFile(ctx, s.Std, counted, path, format, format.Compressions[0]); err != nil {
		return err
	}
	s.say("%s: rows: %s", path, units.Count(rows))
	return nil
}

// say prints a line.
func (s *Session) say(format string, args ...any) {
	_, _ = fmt.Fprintln(s.Std.Out, output.OneLine(fmt.Sprintf(format, args...)))
}

// interruptible runs f with a context that a signal of pressed cancels, and reports whether one did.
func interruptible(
	ctx context.Context, pressed <-chan os.Signal, f func(ctx context.Context) error,
) (interrupted bool, err error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-pressed:
			cancel()
		case <-within.Done():
		}
	}()
	err = f(within)
	return err != nil && within.Err() != nil && ctx.Err() == nil, err
}
