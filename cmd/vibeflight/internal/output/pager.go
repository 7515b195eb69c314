package output

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// Page prints a text on f: by the pager, a command of the shell, if f is a terminal with fewer lines
// and the pager is not empty. A pager that does not exist is left out.
func Page(f *os.File, pager string, text []byte) error {
	if pager != "" && IsTerminal(f) {
		_, height, err := term.GetSize(int(f.Fd()))
		if err == nil && bytes.Count(text, []byte("\n")) >= height {
			if err := runPager(f, pager, text); err == nil {
				return nil
			}
		}
	}
	_, err := f.Write(text)
	return err
}

func runPager(f *os.File, pager string, text []byte) error {
	words := strings.Fields(pager)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	if _, ok := os.LookupEnv("LESS"); !ok {
		cmd.Env = append(os.Environ(), "LESS=FRSX") // as psql and git do: cut long lines, leave short texts
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = io.Copy(in, bytes.NewReader(text))
	if errors.Is(err, syscall.EPIPE) { // it was left before the end
		err = nil
	}
	err = errors.Join(err, in.Close())
	var status *exec.ExitError
	if wait := cmd.Wait(); wait != nil && !errors.As(wait, &status) {
		err = errors.Join(err, wait)
	}
	return err
}
