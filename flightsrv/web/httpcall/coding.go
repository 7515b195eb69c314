package httpcall

import (
	"io"
	"net/http"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Codec is a content coding of HTTP, as in Content-Encoding.
type Codec string

// The codings that are offered, the preferred ones first.
const (
	Zstd     Codec = "zstd"
	Brotli   Codec = "br"
	Gzip     Codec = "gzip"
	Identity Codec = "identity"
)

var codings = []Codec{Zstd, Brotli, Gzip, Identity}

// ChooseCodec returns the coding of an answer: the one that the client weights highest, and of
// several the one that is preferred here. compress is false for an answer that is compressed
// already. A client that accepts none of the codings gets an error.
func ChooseCodec(r *http.Request, compress bool) (Codec, error) {
	accepted := Elements(r.Header, "Accept-Encoding")
	best, most := Identity, 0.0
	for _, c := range codings {
		if q := weightOf(accepted, c); q > most && (compress || c == Identity) {
			best, most = c, q
		}
	}
	if most == 0 {
		return "", &Error{
			Status: http.StatusNotAcceptable, Code: "INVALID_ARGUMENT",
			Detail: "Accept-Encoding allows no coding of this answer; the codings are zstd, br, gzip and identity, " +
				"and what is compressed already has the last one alone",
		}
	}
	return best, nil
}

// weightOf returns the weight of a coding (RFC 9110 section 12.5.3). "*" has no coding used that the
// client does not name.
func weightOf(accepted []Element, c Codec) float64 {
	all := 1.0
	for _, e := range accepted {
		switch Codec(e.Value) {
		case c:
			return e.Weight
		case "*":
			all = e.Weight
		}
	}
	if c == Identity {
		if all > 0 {
			return leastWeight
		}
	}
	return 0
}

// leastWeight is the weight of identity if the client does not name it.
const leastWeight = 0.0001

// encoder compresses a stream. Flush writes all that was written before.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(to io.Writer)
}

// encoders are encoders that are not in use, by their coding.
var encoders = map[Codec]*sync.Pool{
	Zstd: {New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(512<<10), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	}},
	Brotli: {New: func() any { return brotli.NewWriterOptions(nil, brotli.WriterOptions{Quality: 3, LGWin: 19}) }},
	Gzip: {New: func() any {
		e, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic(err) // the level is a constant
		}
		return e
	}},
}

// maxEncoders bounds the encoders in use. Each one has some megabytes, also while its client does
// not read.
const maxEncoders = 64

var encoding = make(chan struct{}, maxEncoders)

// Body encodes the body of an answer. The caller calls Release.
type Body struct {
	w       *Writer
	coding  Codec
	encoder encoder // nil: Identity
}

// Body returns the body of an answer with a coding. If too many answers are compressed at this time,
// it is not compressed: see Body.Coding.
func (w *Writer) Body(c Codec) *Body {
	b := &Body{w: w, coding: Identity}
	if pool := encoders[c]; pool != nil {
		select {
		case encoding <- struct{}{}:
			b.coding, b.encoder = c, pool.Get().(encoder)
			b.encoder.Reset(w)
		default:
		}
	}
	return b
}

// SetHeader sets the headers that tell of the coding.
func (b *Body) SetHeader() {
	h := b.w.Header()
	h.Add("Vary", "Accept-Encoding")
	if b.encoder != nil {
		h.Set("Content-Encoding", string(b.coding))
	}
}

// Coding returns the coding of the body.
func (b *Body) Coding() Codec { return b.coding }

// Write writes a part of the body.
func (b *Body) Write(p []byte) (int, error) {
	if b.encoder == nil {
		return b.w.Write(p)
	}
	return b.encoder.Write(p)
}

// Flush sends what was written to the client.
func (b *Body) Flush() error {
	if b.encoder != nil {
		if err := b.encoder.Flush(); err != nil {
			return err
		}
	}
	return b.w.Flush()
}

// Close ends the body.
func (b *Body) Close() error {
	if b.encoder == nil {
		return nil
	}
	return b.encoder.Close()
}

// Release ends the use of the encoder. A body without Close is incomplete.
func (b *Body) Release() {
	if b.encoder == nil {
		return
	}
	b.encoder.Reset(nil)
	encoders[b.coding].Put(b.encoder)
	b.encoder = nil
	<-encoding
}
