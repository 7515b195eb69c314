package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/peterh/liner"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqltext"
	"github.com/vibeflight/vibeflight/internal/system/process"
)

// The prompts, of a statement and of its further lines.
const (
	first   = "vibeflight> "
	further = "        ... "
)

// RunTerminal reads statements from a person at the terminal until Ctrl-D or \q. Ctrl-C cancels what
// is being written, or the statement that runs.
func (s *Session) RunTerminal(ctx context.Context, version string) error {
	s.words = &words{from: s.From}
	var tables []name
	atStart := make(chan os.Signal, 1)
	signal.Notify(atStart, os.Interrupt)
	if interrupted, err := interruptible(ctx, atStart, func(ctx context.Context) (err error) {
		tables, err = s.words.listTables(ctx)
		return err
	}); err != nil || interrupted {
		return err
	}
	// From here on, Ctrl-C ends a statement, and not the program.
	signal.Reset(os.Interrupt)
	s.pressed = make(chan os.Signal, 1)
	signal.Notify(s.pressed, os.Interrupt)
	defer signal.Stop(s.pressed)

	defer process.GiveSize(os.Stdout)()
	past := openHistory(s.Lookup)
	editor := liner.NewLiner()
	defer editor.Close()
	editor.SetCtrlCAborts(true)
	editor.SetMultiLineMode(true)
	editor.SetTabCompletionStyle(liner.TabPrints)
	for _, text := range past.load() {
		editor.AppendHistory(text)
	}
	var split sqltext.Splitter
	editor.SetWordCompleter(func(line string, pos int) (string, []string, string) {
		runes := []rune(line)
		head, list := s.complete(ctx, split.Pending(), string(runes[:pos]))
		return head, list, string(runes[pos:])
	})
	s.say("vibeflight %s, SQL over %s; \\? lists commands, Ctrl-D ends", version, of(len(tables), s.Source))
	for !s.ended && ctx.Err() == nil {
		s.forgetPressed()
		text, err := readLine(editor, ask(&split))
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			split = sqltext.Splitter{}
			continue
		case errors.Is(err, io.EOF):
			_, _ = fmt.Fprintln(s.Std.Out)
			return nil
		case err != nil:
			return err
		}
		s.typed(ctx, &split, text, func(text string) {
			editor.AppendHistory(text)
			past.add(text)
		})
	}
	return ctx.Err()
}

// readLine shows a prompt and reads a line. Ctrl-C is a character from the moment at which the prompt
// is there: the editor itself, which switches the terminal later, would miss one.
func readLine(editor *liner.State, prompt string) (string, error) {
	if err := process.InterruptByKey(os.Stdin, false); err != nil {
		return "", err
	}
	text, err := editor.Prompt(prompt)
	return text, errors.Join(err, process.InterruptByKey(os.Stdin, true))
}

// ask returns the prompt.
func ask(split *sqltext.Splitter) string {
	if split.Empty() {
		return first
	}
	return further
}

// of says how many tables a source has.
func of(tables int, source string) string {
	if tables == 1 {
		return "1 table of " + source
	}
	return fmt.Sprintf("%d tables of %s", tables, source)
}

// typed runs what a line completes, and shows errors.
func (s *Session) typed(ctx context.Context, split *sqltext.Splitter, text string, remember func(string)) {
	trimmed := strings.TrimSpace(text)
	if split.Empty() {
		*split = sqltext.Splitter{}
		if word, ok := plainCommands[strings.ToLower(strings.TrimRight(trimmed, "; "))]; ok {
			trimmed = word
		}
		if strings.HasPrefix(trimmed, `\`) {
			remember(trimmed)
			s.attempt(ctx, func(ctx context.Context) error { return s.command(ctx, trimmed) })
			return
		}
		if trimmed == "" {
			return
		}
	}
	before := split.Pending()
	found := split.Add(text + "\n")
	if len(found) > 0 {
		whole := strings.TrimSuffix(before+text+"\n", split.Pending())
		if line, ok := sqltext.OneLine(whole); ok {
			remember(line)
		} else {
			for _, line := range strings.Split(strings.TrimSpace(whole), "\n") {
				remember(line)
			}
		}
	}
	if len(split.Pending()) > maxStatement {
		*split = sqltext.Splitter{}
		s.complain(errors.New("the query is longer than 1 MiB"))
	}
	for _, one := range found {
		ok := s.attempt(ctx, func(ctx context.Context) error {
			return sqltext.Explain(s.statement(ctx, one.Text), one.Text, 1, "")
		})
		if !ok {
			return
		}
	}
}

// attempt runs f until Ctrl-C, shows its error, and reports whether there was none.
func (s *Session) attempt(ctx context.Context, f func(ctx context.Context) error) bool {
	interrupted, err := interruptible(ctx, s.pressed, f)
	switch {
	case interrupted:
		s.complain(errors.New("the query is cancelled"))
	case err != nil:
		s.complain(err)
	}
	return err == nil
}

// forgetPressed drops a Ctrl-C for a statement that had ended already: it is not for the next one.
func (s *Session) forgetPressed() {
	select {
	case <-s.pressed:
	default:
	}
}

func (s *Session) complain(err error) { output.PrintError(s.Std.Err, "", err, "") }
