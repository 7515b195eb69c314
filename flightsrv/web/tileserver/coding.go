package tileserver

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// coding is a content coding of tiles (RFC 9110 section 8.4).
type coding struct {
	name   string // empty: none
	encode func([]byte) []byte
}

var codings = []coding{{"zstd", encodeZstd}, {"gzip", encodeGzip}}

// codingOf returns the first coding that a client accepts.
func codingOf(r *http.Request) coding {
	accepted := strings.Join(r.Header.Values("Accept-Encoding"), ",")
	for _, c := range codings {
		for _, text := range strings.Split(accepted, ",") {
			name, weight, _ := strings.Cut(strings.TrimSpace(text), ";")
			if strings.EqualFold(strings.TrimSpace(name), c.name) && !isZero(weight) {
				return c
			}
		}
	}
	return coding{}
}

// isZero reports whether a weight, "q=0", refuses a coding.
func isZero(weight string) bool {
	text, ok := strings.CutPrefix(strings.TrimSpace(weight), "q=")
	if !ok {
		return false
	}
	q, err := strconv.ParseFloat(text, 64)
	return err == nil && q == 0
}

// encoder is safe for use by several goroutines.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // the options are valid
	}
	return e
})

func encodeZstd(b []byte) []byte { return encoder().EncodeAll(b, make([]byte, 0, len(b)/2)) }

var gzips = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

func encodeGzip(b []byte) []byte {
	w, _ := gzips.Get().(*gzip.Writer)
	defer gzips.Put(w)
	var out strings.Builder
	out.Grow(len(b) / 2)
	w.Reset(&out)
	_, _ = w.Write(b) // a Builder has no error
	_ = w.Close()
	return []byte(out.String())
}
