package csv

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// onDevice reports whether devices know the dialect: text in UTF-8, numbers with a point, the usual
// quote or none, and geometries that are points or WKT, if any.
func (d *dialect) onDevice() bool {
	return d.charset == nil && !d.comma && !d.commaPoints && (d.quote == '"' || d.quote == 0) &&
		d.geometry != wkbCells && d.geometry != latLonCells && d.geometry != jsonCells
}

// deviceChunks finds and parses chunks of records that all have as many fields as the header.
type deviceChunks struct {
	*workers
	*dialect
	probe device.Probe
}

// deviceChunks returns the state of one goroutine. A device reads to the end of the file, so the
// last place where a record may begin comes after all records.
func (w *workers) deviceChunks() *deviceChunks {
	c := &deviceChunks{workers: w, dialect: w.parser.dialect}
	end := func(text []byte) int { return len(text) }
	c.probe = device.Probe{Src: w.head.Src, End: w.head.End, Back: 1, First: c.begins, Last: end}
	return c
}

// Bounds finds the records that begin between two offsets. It is a guess that a line begins outside
// of quotes. If it is wrong, the text of the chunk ends inside of quotes, or the chunk does not
// begin where the previous one ended.
func (c *deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	first := from == c.from // where a record begins, whatever precedes it
	if first {
		from++
	}
	start, end, why = c.probe.Bounds(from, stop, "no line that looks like a record")
	if first && end > 0 {
		start = c.from
	}
	return start, end, why
}

// Read parses records on a device.
func (c *deviceChunks) Read(w *device.Work, part *readers.Part) {
	forced := c.Sinks.Forced()
	r := deviceRows{
		Work: w, dialect: c.dialect, longest: c.head.limits.MaxFeatureBytes, asked: c.parser.columns,
		forced: forced,
	}
	r.read(part)
	part.End, part.Text = w.At+int64(w.Text.Len()) == c.probe.End, append(slices.Clone(forced), r.mixed...)
}

// maxCandidateRecords is how many records must follow a line's beginning: text inside of quotes may
// look like one record, hardly like several.
const maxCandidateRecords = 8

// begins returns the start of the first line, after a line end of text, that looks like a record,
// or -1.
func (c *deviceChunks) begins(text []byte) int {
	p := 0
	for range maxTries {
		for p < len(text) && c.class[text[p]] != classLineEnd {
			p++
		}
		if p = c.passLineEnds(text, p); p == len(text) {
			return -1
		}
		if c.likely(text, p) {
			return p
		}
	}
	return -1
}

// passLineEnds returns the index of the first byte at or after p that is not a line end, or the end
// of the text.
func (c *deviceChunks) passLineEnds(text []byte, p int) int {
	for p < len(text) && c.class[text[p]] == classLineEnd {
		p++
	}
	return p
}

// likely reports whether records seem to begin at p: the first one is complete, and it and the next
// ones have as many fields as the header.
func (c *deviceChunks) likely(text []byte, p int) bool {
	for i := range maxCandidateRecords {
		fields, end := c.count(text, p)
		if end < 0 {
			return false
		}
		if end == len(text) {
			return i > 0
		}
		if fields != len(c.names) {
			return false
		}
		if p = c.passLineEnds(text, end); p == len(text) {
			return true
		}
	}
	return true
}

// count returns the number of fields of the record at p, and the index of its line end or of the
// end of the text. A misplaced quote gives -1.
func (c *deviceChunks) count(text []byte, p int) (fields, end int) {
	for {
		fields++
		if p < len(text) && c.class[text[p]] == classQuote {
			if p = c.afterQuotes(text, p); p < len(text) && c.class[text[p]]&endsField == 0 {
				return fields, -1
			}
		}
		for p < len(text) && c.class[text[p]]&endsField == 0 {
			if c.class[text[p]] == classQuote {
				return fields, -1
			}
			p++
		}
		if p == len(text) || c.class[text[p]] == classLineEnd {
			return fields, p
		}
		p++
	}
}

// afterQuotes returns the index after the quote that closes the one at p, or the end of the text.
func (c *deviceChunks) afterQuotes(text []byte, p int) int {
	for p++; p < len(text); p++ {
		switch {
		case c.class[text[p]] != classQuote:
		case p+1 < len(text) && c.class[text[p+1]] == classQuote:
			p++
		default:
			return p + 1
		}
	}
	return p
}
