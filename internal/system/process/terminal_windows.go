package process

import (
	"errors"
	"os"
)

// OpenTerminal opens the console of this process, for reading and for writing. The caller closes
// both.
func OpenTerminal() (in, out *os.File, err error) {
	if in, err = os.OpenFile("CONIN$", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile("CONOUT$", os.O_RDWR, 0); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, out, nil
}

// InterruptByKey does nothing: the editor sets the mode of the console.
func InterruptByKey(*os.File, bool) error { return nil }

// GiveSize does nothing: a console knows its size.
func GiveSize(*os.File) (restore func()) { return func() {} }
