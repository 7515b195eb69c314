package osmpbf

import (
	"unicode/utf8"
)

// texts is the string table of a block, and what is known of each string.
type texts struct {
	raw     []byte
	spans   []span
	classes []class     // as keys of tags; 0: not known yet
	states  []textState // 0: not known yet
}

// textState says how a string is written as JSON.
type textState uint8

const (
	textPlain   textState = 1 + iota // valid UTF-8 that JSON has unchanged
	textEscaped                      // valid UTF-8
	textInvalid
)

func (t *texts) reset(content []byte) {
	t.raw, t.spans = content, t.spans[:0]
	t.classes, t.states = t.classes[:0], t.states[:0]
}

// strings reads a StringTable.
func (t *texts) strings(w *wire) {
	for {
		number, kind, ok := w.next()
		if !ok {
			break
		}
		if number != 1 {
			w.skip(kind)
			continue
		}
		if w.expect("a string", kind, wireBytes) {
			t.spans = append(t.spans, w.bytes())
		}
	}
	t.classes = zeros(t.classes, len(t.spans))
	t.states = zeros(t.states, len(t.spans))
}

func zeros[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n, n+n/4)
	}
	v = v[:n]
	clear(v)
	return v
}

func (t *texts) bytes(i uint32) []byte { return t.raw[t.spans[i].from:t.spans[i].to] }

// add adds a string that is not in the block.
func (t *texts) add(text []byte) uint32 {
	from := len(t.raw)
	t.raw = append(t.raw, text...)
	t.spans = append(t.spans, span{from, len(t.raw)})
	t.classes, t.states = append(t.classes, 0), append(t.states, 0)
	return uint32(len(t.spans) - 1)
}

// state returns the state of a string.
func (t *texts) state(i uint32) textState {
	if s := t.states[i]; s != 0 {
		return s
	}
	s := stateOf(t.bytes(i))
	t.states[i] = s
	return s
}

func stateOf(b []byte) textState {
	s, ascii := textPlain, true
	for _, c := range b {
		switch {
		case c >= utf8.RuneSelf:
			ascii = false
		case c < ' ' || c == '"' || c == '\\':
			s = textEscaped
		}
	}
	if !ascii && !utf8.Valid(b) {
		return textInvalid
	}
	return s
}

// tag is a key and a value of an object, as numbers of strings.
type tag struct{ key, value uint32 }

// tags joins the keys and values of an object at a byte of the block.
func (t *texts) tags(at int, keys, values []uint64, dst []tag) ([]tag, *fault) {
	if len(keys) != len(values) {
		return dst, faultf(at, "%d keys and %d values of tags", len(keys), len(values))
	}
	n := uint64(len(t.spans))
	for i, k := range keys {
		if k >= n || values[i] >= n {
			return dst, faultf(at, "string %d, of a table of %d", max(k, values[i]), n)
		}
		dst = append(dst, tag{uint32(k), uint32(values[i])})
	}
	return dst, nil
}
