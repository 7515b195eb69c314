package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// begin opens the file after its byte order mark, at the first record.
func (t *text) begin(ctx context.Context, src *source.File) (p int, err error) {
	if !t.Open(ctx, src, 0, src.Size, src.Size, readers.DefaultMaxFeatureBytes, window.Bytes) {
		return -1, t.Err
	}
	switch {
	case t.charset == nil && (t.Has(0, "\xFF\xFE") || t.Has(0, "\xFE\xFF")):
		t.fault = fault{want: "the file is UTF-16: it must be converted to utf-8 first", bare: true}
		return -1, t.error(-1, readers.Limits{})
	case t.Has(0, "\xEF\xBB\xBF"):
		p = len("\xEF\xBB\xBF")
	}
	if p = t.lineEnds(p); p < 0 {
		return -1, t.Err
	}
	if p == t.N {
		t.fail(p, "a record")
		return -1, t.error(-1, readers.Limits{})
	}
	return p, nil
}

// maxColumns bounds the columns of a header, since a column takes far more memory than its comma.
const maxColumns = 1 << 16

// record reads the record at p, of any number of fields, and calls field with each and its number.
// Fields from extra on are skipped, unless extra is 0. It returns the index of the next record and
// the number of fields that it read, or -1 with Err set or a fault.
func (t *text) record(p int, field func(i int, c cell)) (next, n int) {
	for at := p; ; {
		if n == maxColumns {
			t.fault = fault{pos: at, want: "more than 65,536 fields", bare: true, file: true}
			return -1, n
		}
		var c cell
		var end int
		extra := t.extra > 0 && n == t.extra
		if extra {
			end = t.pass(at)
		} else {
			c, end = t.cell(at)
		}
		if end < 0 {
			if !t.fault.cut {
				return -1, n
			}
			if !t.Fill(p) {
				return -1, n
			}
			p, at, n = 0, 0, 0
			continue
		}
		if extra {
			return t.lineEnds(end), n
		}
		field(n, c)
		n++
		if t.At(end) != t.delimiter || end == t.N {
			return t.lineEnds(end), n
		}
		at = end + 1
	}
}

// failure returns the error of a record that could not be read.
func (t *text) failure(row int64) error {
	if t.Err != nil {
		return t.Err
	}
	return t.error(row, readers.Limits{})
}

// candidates are the possible delimiters. Of two that fit equally well, the first is chosen.
const candidates = ",\t;|"

// findColumns reads the header and finds the delimiter.
func (d *dialect) findColumns(ctx context.Context, src *source.File, opts readers.Options) error {
	if d.delimiter == 0 {
		if err := d.findDelimiter(ctx, src); err != nil {
			return err
		}
	}
	t := text{dialect: d, decoder: newDecoder(d.charset)}
	p, err := t.begin(ctx, src)
	if err != nil {
		return err
	}
	d.first = t.Base + int64(p)
	var header [][]byte
	var bad fault
	numeric := false
	next, _ := t.record(p, func(i int, c cell) {
		if i == 0 { // a record that the window cut is read again
			header, bad, numeric = nil, fault{}, false
		}
		b, ok := t.bytes(c)
		if !ok && bad.want == "" {
			bad = t.fault
		}
		if !c.quoted {
			b = trim(b)
			_, word := special(b) // nan may be a name
			_, ok := t.number(b, false)
			numeric = numeric || ok && !word
		}
		header = append(header, bytes.Clone(b))
	})
	if next < 0 {
		return t.failure(-1)
	}
	if bad.want != "" {
		t.fault = bad
		return t.failure(-1)
	}
	if opts.Get(optHeader) == "true" || opts.Get(optHeader) == auto && !numeric {
		d.first = t.Base + int64(next)
	} else {
		for i := range header {
			header[i] = nil
		}
	}
	d.names = unique(header)
	return nil
}

// unique names columns that have no name, and makes equal names different.
//
//	a,,a,a_1    a col_1 a_2 a_1
func unique(header [][]byte) [][]byte {
	names := make([][]byte, len(header))
	taken := map[string]bool{}
	for _, name := range header {
		taken[string(name)] = true
	}
	given := map[string]bool{}
	next := map[string]int{} // next number to try for a name: a file may have 65,536 columns of one name
	for i, name := range header {
		if len(name) == 0 {
			name = []byte("col_" + strconv.Itoa(i))
		}
		names[i] = name
		if !given[string(name)] && (len(header[i]) > 0 || !taken[string(name)]) {
			given[string(name)] = true
			continue
		}
		for {
			next[string(name)]++
			if numbered := fmt.Sprintf("%s_%d", name, next[string(name)]); !taken[numbered] && !given[numbered] {
				names[i] = []byte(numbered)
				given[numbered] = true
				break
			}
		}
	}
	return names
}

// findDelimiter chooses the candidate that splits both of the first two records into the same
// number of fields, the largest one. If there is none, it is the candidate that gives the first
// record the most fields. Later records don't count, so that a growing file keeps its delimiter.
func (d *dialect) findDelimiter(ctx context.Context, src *source.File) error {
	best, bestScore := byte(','), -1
	for _, c := range []byte(candidates) {
		if d.class[c] != classPlain || c == ',' && d.comma || d.charset != nil && !d.charset.allows(c) {
			continue
		}
		trial := *d
		trial.setDelimiter(c)
		t := text{dialect: &trial, decoder: newDecoder(d.charset)}
		score, err := t.score(ctx, src)
		if err != nil {
			return err
		}
		d.final = trial.final
		if score > bestScore {
			best, bestScore = c, score
		}
	}
	d.setDelimiter(best)
	return nil
}

// maxScored bounds the text that is examined to choose a delimiter.
const maxScored = 1 << 20

// score returns how well the delimiter fits the first two records. Malformed or very long ones
// count up to where they were read.
func (t *text) score(ctx context.Context, src *source.File) (int, error) {
	p, err := t.begin(ctx, src)
	if err != nil {
		return 0, err
	}
	t.Most = maxScored
	first := 0
	for i := range 2 {
		if p == t.N {
			t.final = false // the second record may be appended
			break
		}
		next, n := t.record(p, func(int, cell) {})
		if next < 0 && t.Err == nil && t.fault.file {
			t.final = false // the open quote may be closed
		}
		if tooLong := (*readers.LimitError)(nil); next < 0 && t.Err != nil && !errors.As(t.Err, &tooLong) {
			return 0, t.Err
		}
		switch {
		case next < 0 && i == 0:
			return n + 1, nil
		case i == 0:
			p, first = next, n
		case next >= 0 && n == first && n > 1:
			return n + 1<<32, nil
		}
	}
	return first, nil
}
