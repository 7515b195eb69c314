package jsonrows

import (
	"math"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// This file reads values that have one obvious reading, under on_error: repair. Their text is
// rewritten as JSON, which is then read. Values for which that fails become null.

var nan = math.Float64frombits(0x7ff8000000000000) // the one that every table has

// NumberNames are spellings, in several languages, of numbers that JSON does not have: Python's
// json first.
var NumberNames = map[string]float64{
	"nan": nan, "-nan": nan, "infinity": math.Inf(1), "+infinity": math.Inf(1), "-infinity": math.Inf(-1),
	"inf": math.Inf(1), "+inf": math.Inf(1), "-inf": math.Inf(-1),
}

// repairValue reads the malformed value of a property at p, or returns -1 and keeps the fault.
func (s *Scanner) repairValue(c *Column, p, open int) int {
	why := s.Fault
	end := s.LooseSkip(p)
	text := s.Text(p, end)
	if v, ok := NumberNames[strings.ToLower(string(text[:min(len(text), len("-infinity"))]))]; ok && !c.Declared() {
		c.Pad(s.Sink.Rows)
		c.AddNumber(number.Num{Kind: number.Real, Float: v}, text)
		s.Deviate(p, c.ID.Name, RuleNaN, "read as "+string(text))
		return end
	}
	if c.Read == nil && s.repairList(&c.Column, p) {
		s.Deviate(why.Pos, c.ID.Name, RuleNaN, "read as a list of numbers")
		return end
	}
	written, done, ok := Rewrite(text, nil)
	if ok && s.In(written, func() bool { return s.columnValue(c, 0, open) == len(written) }) {
		s.Deviate(why.Pos, c.ID.Name, RuleSpelling, done)
		return end
	}
	s.Fault = why
	return -1
}

// repairList reads the value at p if it is a list of numbers and names of numbers.
func (s *Scanner) repairList(c *rows.Column, p int) bool {
	if s.At(p) != '[' {
		return false
	}
	var list []float64
	kinds := (geoarrow.FactInt32 << number.Real).InList()
	sound, some := true, false
	s.Each(p, func(p int) int {
		end := s.LooseSkip(p)
		v, named := NumberNames[strings.ToLower(string(s.Text(p, min(end, p+len("-infinity")))))]
		some = some || named
		if !named {
			n, stop := number.Number(s.Q, p)
			if sound = stop == end; !sound {
				return -1
			}
			kinds |= rows.KindOf(n).InList()
			v = n.Float
		}
		list = append(list, v)
		return end
	})
	if !sound || !some {
		return false
	}
	c.Pad(s.Sink.Rows)
	if c.Unread {
		c.Pass()
		return true
	}
	c.Accept(kinds)
	if c.Store == rows.StoreText {
		c.Text = compact(c.Text, s.Text(p, s.LooseSkip(p)))
		c.EndText()
		return true
	}
	c.Floats = append(c.Floats, list...)
	c.EndList()
	return true
}

// In calls f with the window on another text.
func (s *Scanner) In(text []byte, f func() bool) bool {
	saved := s.Window
	s.Window = window.Of(append(text, ' ')) // text follows the number
	ok := f()
	s.Window = saved
	return ok
}
