package gpx_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/gpx"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestSweep reads random documents with several workers, in windows and parts of every size.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: gpx.Format(), Documents: 1000, Document: newSweepDocument,
		Variants: []readertest.Variant{windows, parallel, slow},
	}.CPU(t)
}

// sweeper writes documents of everything that the grammar has.
type sweeper struct {
	*rand.Rand
	prefix string
	gap    func() string // between tags
	odd    int           // one thing in n is odd
}

func newSweepDocument(seed uint64) readertest.Input {
	r := rand.New(rand.NewPCG(seed, 19))
	w := &sweeper{Rand: r, odd: []int{10, 200, 1000, 1 << 40}[r.IntN(4)]}
	w.prefix = w.pick("", "", "", "g:")
	w.gap = func() string { return "" }
	if r.IntN(2) == 0 {
		w.gap = func() string {
			return w.pick("", "\n", "\r\n\t", " ", "<!-- <trkpt lat='1' lon='2'/> -->", "<?a <wpt>?>", "\n")
		}
	}
	in := readertest.Input{Name: "dir/a.gpx", Text: []byte(w.document())}
	if w.isOdd() {
		at := r.IntN(len(in.Text))
		in.Text = append(in.Text[:at:at], in.Text[min(len(in.Text), at+1+r.IntN(5)):]...)
	}
	in.Layer = w.pick("", "waypoints", "routes", "tracks", "route_points", "track_points", "track_points", "tracks")
	if w.one(50) {
		in.Layer = "none"
	}
	options := map[string]any{}
	if w.one(3) {
		options["on_error"] = w.pick("skip", "null", "repair")
	}
	if w.one(3) {
		options["elevation"] = "z"
	}
	if w.one(3) {
		options["extensions"] = "values"
	}
	in.Options = options
	in.Limits.BatchRows = 1 + r.IntN(8)
	if w.one(4) {
		in.Limits.BatchRows = 100
	}
	if w.one(4) {
		in.Limits.BatchBytes = 1 + r.Int64N(2000)
	}
	if w.one(10) {
		in.Limits.MaxFeatureBytes = 50 + r.Int64N(600)
	}
	if w.one(10) {
		in.Limits.MaxDepth = 3 + r.IntN(6)
	}
	return in
}

func (w *sweeper) one(n int) bool { return w.IntN(n) == 0 }

func (w *sweeper) isOdd() bool { return w.IntN(w.odd) == 0 }

func (w *sweeper) pick(from ...string) string { return from[w.IntN(len(from))] }

// some returns up to n of what f gives.
func (w *sweeper) some(n int, f func() string) string {
	var b strings.Builder
	for range w.IntN(n + 1) {
		b.WriteString(f() + w.gap())
	}
	return b.String()
}

// tag returns an element of GPX.
func (w *sweeper) tag(name, attributes, content string) string {
	name = w.prefix + name
	if w.one(200) {
		name = "q:" + name
	}
	if w.one(200) {
		content += w.point(w.pick("trkpt", "wpt", "rtept"))
	}
	if content == "" && w.one(2) {
		return "<" + name + attributes + "/>"
	}
	return "<" + name + attributes + ">" + content + "</" + name + ">"
}

func (w *sweeper) document() string {
	version := w.pick("1.1", "1.1", "1.1", "1.0")
	head := w.pick("", "<?xml version='1.0' encoding='UTF-8'?>\n", "<?xml version='1.0' encoding='Latin1'?>\n")
	body := w.gap() + w.some(8, func() string {
		switch w.IntN(8) {
		case 0:
			return w.tag("metadata", "", w.tag("wpt", "", ""))
		case 1, 2:
			return w.point("wpt")
		case 3, 4:
			points := w.some(5, func() string { return w.point("rtept") })
			return w.tag("rte", "", w.gap()+w.some(3, w.pathMember)+points)
		}
		return w.tag("trk", "", w.gap()+w.some(2, w.pathMember)+w.some(3, func() string {
			return w.tag("trkseg", "", w.gap()+w.some(6, func() string { return w.point("trkpt") }))
		})+w.some(1, w.pathMember))
	})
	return head + w.tag("gpx", ` version="`+version+`"`, body)
}

func (w *sweeper) point(name string) string {
	lat, lon := w.number(90), w.number(180)
	attributes := fmt.Sprintf(` lat="%s" lon='%s'`, lat, lon)
	switch {
	case w.isOdd():
		attributes = w.pick(``, ` lat="1"`, ` lat="91" lon="1"`, ` lat="1" lon="-180.01"`, ` lat="1e1" lon="2"`)
	case w.one(10):
		attributes = fmt.Sprintf(" lon=' %s' id=\"1\"\nlat=\"%s\"", lon, lat)
	}
	return w.tag(name, attributes, w.some(5, w.member))
}

func (w *sweeper) number(limit float64) string {
	if w.one(8) {
		return w.pick("+1", "01.50", ".5", "5.", "-0", "0", "&#49;", "12.3456789012345678901")
	}
	return fmt.Sprintf("%.*f", w.IntN(9), (2*w.Float64()-1)*limit)
}

func (w *sweeper) text() string {
	return w.pick("a", "", "A &amp; B", "<![CDATA[<x>]]>", " b ", "7", "1.5", "9007199254740993", "<i>c</i>", "é",
		"<!-- c -->d", "long text of some words")
}

func (w *sweeper) time() string {
	if w.isOdd() {
		return w.pick("2020-01-01", "x", "2020-01-01 00:00:00", "12:00:00", "1500-01-01T00:00:00.123456789Z",
			"2020-01-01T00:00:00.1234567891Z")
	}
	return fmt.Sprintf("20%02d-0%d-1%dT0%d:%02d:%02d%s%s",
		w.IntN(100), 1+w.IntN(9), w.IntN(10), w.IntN(10), w.IntN(60), w.IntN(60),
		w.pick("", "", "", ".5", ".123456"), w.pick("Z", "Z", "", "+01:30", "-0800"))
}

func (w *sweeper) member() string {
	switch w.IntN(9) {
	case 0, 1:
		return w.tag("ele", "", w.value(w.number(500)))
	case 2, 3:
		return w.tag("time", "", w.time())
	case 4:
		return w.tag(w.pick("hdop", "vdop", "magvar", "speed", "course"), "", w.value(w.number(20)))
	case 5:
		return w.tag(w.pick("sat", "dgpsid"), "", w.value(w.pick("1", "+7", "3000000000", " 12 ")))
	case 6:
		return w.extensions()
	}
	return w.pathMember()
}

// value returns a value, or one that is malformed.
func (w *sweeper) value(v string) string {
	if w.isOdd() {
		return w.pick("x", "NaN", "1e5", "", "1.5.2", "<b/>")
	}
	return v
}

func (w *sweeper) extensions() string {
	return w.tag("extensions", "", w.some(3, func() string {
		name := w.pick("a:hr", "a:cad", "power", "a_hr", "name", "link3_href")
		if w.one(5) {
			return "<" + name + "><b:hr>" + w.text() + "</b:hr> <b:c a='1'/></" + name + ">"
		}
		return "<" + name + ">" + w.text() + "</" + name + ">"
	}))
}

func (w *sweeper) pathMember() string {
	switch w.IntN(6) {
	case 0:
		return w.tag("link", w.pick("", " href='h'", ` href="a&amp;b"`), w.some(2, func() string {
			return w.tag(w.pick("text", "type", "other"), "", w.text())
		}))
	case 1:
		return w.tag("number", "", w.value("3"))
	case 2:
		return w.extensions()
	case 3:
		return "<foo:name>x</foo:name>"
	}
	return w.tag(w.pick("name", "cmt", "desc", "src", "type", "url", "sym"), "", w.text())
}
