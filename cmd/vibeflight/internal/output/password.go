package output

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"
)

// ErrNoTerminal is the error of a prompt without a terminal.
var ErrNoTerminal = errors.New("there is no terminal to ask for the password")

// PromptPassword asks for a password on the terminal of the process, which does not show it.
func PromptPassword(prompt string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", ErrNoTerminal
	}
	defer tty.Close()
	if _, err := fmt.Fprint(tty, prompt); err != nil {
		return "", err
	}
	password, err := term.ReadPassword(int(tty.Fd()))
	_, _ = fmt.Fprintln(tty) // the line end that was not shown
	return string(password), err
}
