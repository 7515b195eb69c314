package output

import (
	"errors"
	"fmt"

	"golang.org/x/term"

	"github.com/vibeflight/vibeflight/internal/system/process"
)

// ErrNoTerminal is the error of a prompt without a terminal.
var ErrNoTerminal = errors.New("there is no terminal to ask for the password")

// PromptPassword asks for a password on the terminal of the process, which does not show it.
func PromptPassword(prompt string) (string, error) {
	in, out, err := process.OpenTerminal()
	if err != nil {
		return "", ErrNoTerminal
	}
	defer in.Close()
	defer out.Close()
	if _, err := fmt.Fprint(out, prompt); err != nil {
		return "", err
	}
	password, err := term.ReadPassword(int(in.Fd()))
	_, _ = fmt.Fprintln(out) // the line end that was not shown
	return string(password), err
}
