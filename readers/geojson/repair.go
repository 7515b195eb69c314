package geojson

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

// numberNames are spellings, in several languages, of numbers that JSON does not have: Python's
// json first.
var numberNames = map[string]float64{
	"nan": nan, "-nan": nan, "infinity": math.Inf(1), "+infinity": math.Inf(1), "-infinity": math.Inf(-1),
	"inf": math.Inf(1), "+inf": math.Inf(1), "-inf": math.Inf(-1),
}

// repairValue reads the malformed value of a property at p, or returns -1 and keeps the fault.
func (s *scanner) repairValue(c *rows.Column, p, open int) int {
	why := s.fault
	end := s.looseSkip(p)
	text := s.Text(p, end)
	if v, ok := numberNames[strings.ToLower(string(text[:min(len(text), len("-infinity"))]))]; ok {
		c.Pad(s.sink.Rows)
		c.AddNumber(number.Num{Kind: number.Real, Float: v}, text)
		s.deviate(p, c.ID.Name, ruleNaN, "read as "+string(text))
		return end
	}
	if s.repairList(c, p) {
		s.deviate(why.pos, c.ID.Name, ruleNaN, "read as a list of numbers")
		return end
	}
	written, done, ok := rewrite(text, false)
	if ok && s.in(written, func() bool { return s.value(c, 0, open) == len(written) }) {
		s.deviate(why.pos, c.ID.Name, ruleSpelling, done)
		return end
	}
	s.fault = why
	return -1
}

// repairList reads the value at p if it is a list of numbers and names of numbers.
func (s *scanner) repairList(c *rows.Column, p int) bool {
	if s.At(p) != '[' {
		return false
	}
	var list []float64
	kinds := (geoarrow.FactInt32 << number.Real).InList()
	sound, some := true, false
	s.each(p, func(p int) int {
		end := s.looseSkip(p)
		v, named := numberNames[strings.ToLower(string(s.Text(p, min(end, p+len("-infinity")))))]
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
	c.Pad(s.sink.Rows)
	if c.Unread {
		c.Pass()
		return true
	}
	c.Accept(kinds)
	if c.Store == rows.StoreText {
		c.Text = compact(c.Text, s.Text(p, s.looseSkip(p)))
		c.EndText()
		return true
	}
	c.Floats = append(c.Floats, list...)
	c.EndList()
	return true
}

// repairGeometry reads the malformed geometry from p to end, without its end.
func (s *scanner) repairGeometry(p, end, open int) (k geoarrow.Kind) {
	written, _, ok := rewrite(s.Text(p, end), true)
	if ok && s.in(written, func() bool {
		k, end = s.geometry(0, open)
		return end == len(written)
	}) {
		return k
	}
	return geoarrow.NoKind
}

// in calls f with the window on another text.
func (s *scanner) in(text []byte, f func() bool) bool {
	saved := s.Window
	s.Window = window.Of(append(text, ' ')) // text follows the number
	ok := f()
	s.Window = saved
	return ok
}

// foldKind returns the kind of a geometry by its name in any case, and the name.
func foldKind(name string) (geoarrow.Kind, string) {
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		if strings.EqualFold(name, k.String()) {
			return k, k.String()
		}
	}
	return geoarrow.NoKind, ""
}
