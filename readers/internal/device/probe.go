package device

import "io"

// Probe finds, on the host, where the chunks of a file begin. One goroutine uses it.
type Probe struct {
	Src   io.ReaderAt
	Begin int64 // of the rows: one begins there, whatever its bytes
	End   int64 // of the rows, or of the file: bytes after it are not read
	Back  int64 // bytes before an offset that First also receives, if they identify a row: the preceding line feed

	// First and Last return the index in text, which is not empty, of the first and of the last
	// place where a row seems to begin, or -1. Last ignores index 0.
	First, Last func(text []byte) int

	text []byte // memory of read
}

// A probe reads a little at first, and at most maxBytes. If that has no row, the chunk is left to
// the CPU engine.
const (
	firstBytes = 16 << 10
	maxBytes   = 1 << 20
)

// Chunk finds the span from the first row that seems to begin at or after from, to the first one
// behind stop. start is -1 if none is near. The span ends before the last place where a row seems
// to begin: the last row, and the text after it, is for the CPU engine. So end is start if that is
// the only row.
func (p *Probe) Chunk(from, stop int64) (start, end int64, err error) {
	start, err = p.next(from)
	if err != nil || start < 0 || start >= stop {
		return start, start, err
	}
	end = -1
	if stop < p.End {
		end, err = p.next(stop)
	}
	if err == nil && end < 0 {
		end, err = p.last(start)
	}
	return start, max(start, end), err
}

// Bounds is Chunks.Bounds. missing is the reason for a refusal if no row seems to begin before
// stop.
func (p *Probe) Bounds(from, stop int64, missing string) (start, end int64, why string) {
	start, end, err := p.Chunk(from, stop)
	switch none := start < 0 || start >= stop; {
	case err != nil:
		return 0, 0, err.Error()
	case none && stop < p.End:
		return 0, 0, missing
	case none: // the CPU engine reads the text after all rows
		return 0, 0, ""
	}
	return start, end, ""
}

// next returns where the first row at or after an offset seems to begin, or -1: there is none
// near.
func (p *Probe) next(at int64) (int64, error) {
	if at == p.Begin {
		return at, nil
	}
	at -= p.Back
	for size := int64(firstBytes); ; size *= 8 {
		text, err := p.read(at, size)
		if err != nil {
			return -1, err
		}
		if i := p.First(text); i >= 0 || size >= maxBytes || int64(len(text)) < size {
			return offset(at, i), nil
		}
	}
}

// last returns where the last row seems to begin that begins after an offset, or -1: there is none
// near the end.
func (p *Probe) last(after int64) (int64, error) {
	for size := int64(firstBytes); ; size *= 8 {
		at := max(after, p.End-size)
		text, err := p.read(at, p.End-at)
		if err != nil {
			return -1, err
		}
		if i := p.Last(text); i >= 0 || size >= maxBytes || at == after {
			return offset(at, i), nil
		}
	}
}

// offset is that of index i in a text that begins at an offset, or -1.
func offset(at int64, i int) int64 {
	if i < 0 {
		return -1
	}
	return at + int64(i)
}

// read returns bytes of the file, or fewer at its end.
func (p *Probe) read(at, size int64) ([]byte, error) {
	size = min(size, p.End-at)
	if int64(cap(p.text)) < size {
		p.text = make([]byte, size)
	}
	got, err := p.Src.ReadAt(p.text[:size], at)
	if got == int(size) { // an io.ReaderAt may return io.EOF with the last bytes
		err = nil
	}
	return p.text[:got], err
}
