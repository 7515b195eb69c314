package xmltext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	recodeBytes      = 64 << 10 // read at a time
	declarationBytes = 1 << 10  // of a recoded document are searched for its declaration
)

// replacement is what a decoder returns for malformed bytes. Few encodings also have it as a
// character.
var replacement = []byte(string(utf8.RuneError))

// recoder reads a document of another encoding as UTF-8.
type recoder struct {
	charset
	in      io.Reader
	decoder *encoding.Decoder
	own     []byte // the encoded replacement character; nil: the encoding lacks it

	raw     []byte // bytes read and not decoded
	at      int64  // offset of raw in the file
	end     bool   // nothing follows raw
	piece   []byte // just decoded
	decoded []byte
	text    []byte // of decoded: not returned yet
	begun   bool
	err     error
}

func newRecoder(c charset, in io.Reader) *recoder {
	r := &recoder{charset: c, in: in, decoder: c.NewDecoder(), piece: make([]byte, recodeBytes)}
	if own, err := c.NewEncoder().Bytes(replacement); err == nil {
		r.own = own
	}
	return r
}

// Read returns UTF-8. Malformed bytes give a *source.RecodeError after all text before them.
func (r *recoder) Read(p []byte) (int, error) {
	for len(r.text) == 0 && r.err == nil {
		r.next()
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, r.err
}

// next decodes more.
func (r *recoder) next() {
	if !r.begun {
		r.begin()
		return
	}
	r.decoded = r.decoded[:0]
	r.more()
	r.text = r.decoded
}

// begin decodes enough for the declaration, and makes it name UTF-8.
func (r *recoder) begin() {
	r.begun = true
	mark := make([]byte, r.mark)
	if _, r.err = io.ReadFull(r.in, mark); r.err != nil {
		return
	}
	r.at = int64(r.mark)
	for len(r.decoded) < declarationBytes && r.err == nil {
		r.more()
	}
	r.text = r.decoded
	if from, to := declaredAt(r.text); to > 0 {
		r.text = bytes.Join([][]byte{r.text[:from], r.text[to:]}, []byte("UTF-8"))
	}
}

// more appends some text to decoded, and sets err at the end.
func (r *recoder) more() {
	if !r.end && len(r.raw) < recodeBytes {
		kept := len(r.raw)
		r.raw = append(r.raw, make([]byte, recodeBytes)...)
		n, err := io.ReadFull(r.in, r.raw[kept:])
		r.raw = r.raw[:kept+n]
		if r.end = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !r.end {
			r.err = err
			return
		}
	}
	given, taken, err := r.decoder.Transform(r.piece, r.raw, r.end)
	text := r.piece[:given]
	if at, size := r.malformed(text, taken); at >= 0 {
		r.wrong(at, fmt.Errorf("bytes % x, which are no character of %s", r.raw[at:at+size], r.name))
		if text, err = r.NewDecoder().Bytes(r.raw[:at]); err == nil {
			r.decoded = append(r.decoded, text...)
		}
		return
	}
	r.decoded = append(r.decoded, text...)
	r.raw = append(r.raw[:0], r.raw[taken:]...)
	r.at += int64(taken)
	switch {
	case err != nil && !errors.Is(err, transform.ErrShortDst) && !errors.Is(err, transform.ErrShortSrc):
		r.err = err
	case r.end && len(r.raw) == 0:
		r.err = io.EOF
	case r.end && taken == 0 && given == 0:
		r.wrong(0, fmt.Errorf("the file ends inside of a character of %s", r.name))
	}
}

// wrong returns the error for the bytes at index at of raw.
func (r *recoder) wrong(at int, err error) {
	r.err = &source.RecodeError{Offset: r.at + int64(at), Rule: encodingRule, Err: err}
}

// malformed finds the first malformed bytes among the first taken bytes of raw, whose decoded form
// is text. If that has a replacement character, it decodes again character by character. It returns
// -1 if there are none.
func (r *recoder) malformed(text []byte, taken int) (at, size int) {
	if !bytes.Contains(text, replacement) {
		return -1, 0
	}
	decoder := r.NewDecoder()
	one := make([]byte, utf8.UTFMax)
	for at < taken {
		given, size, _ := decoder.Transform(one[:len(replacement)], r.raw[at:taken], r.end)
		if size == 0 {
			if given, size, _ = decoder.Transform(one, r.raw[at:taken], r.end); size == 0 {
				return -1, 0
			}
		}
		if bytes.Equal(one[:given], replacement) && !bytes.Equal(r.raw[at:at+size], r.own) {
			return at, size
		}
		at += size
	}
	return -1, 0
}
