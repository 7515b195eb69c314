package prompt

import (
	"bufio"
	"io"
)

// input is the lines of a file.
type input struct {
	from   *bufio.Reader
	number int // of the last line, from 1
}

func newInput(in io.Reader) *input { return &input{from: bufio.NewReader(in)} }

// line returns a line with its end. The last one comes with io.EOF.
func (i *input) line() (string, error) {
	var text []byte
	for {
		part, err := i.from.ReadSlice('\n')
		text = append(text, part...)
		if err == bufio.ErrBufferFull && len(text) <= maxStatement { //nolint:errorlint // it is never wrapped
			continue
		}
		if err == bufio.ErrBufferFull { //nolint:errorlint // it is never wrapped
			err = nil // the caller refuses the length
		}
		i.number++
		return string(text), err
	}
}
