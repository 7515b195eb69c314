package gml

import (
	"github.com/vibeflight/vibeflight/gpu"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// deviceRows reads a chunk of whole features on a device.
//
//	text -> tags -> features ─┬─> lines of WKT -> geometries, by the WKT engine
//	                          └─> values -> kinds of each column ─┬─> numbers and booleans
//	                                                              └─> texts -> dates and times, by the host
type deviceRows struct {
	*device.Work
	chunks *deviceChunks
	asked  readers.Projection
	forced []geoarrow.ColumnID // columns that must be text
	mixed  []geoarrow.ColumnID // columns of these rows that are text because they hold several kinds of values

	tags *kxml.XML
	rows *kxml.XMLRows
}

// Reasons for refusing features.
const (
	oddTags      = "a tag, or an order of tags, that the first features do not have, or text that is not as most is"
	oddGeometry  = "a geometry of four ordinates, or of several kinds with north first"
	unsureNumber = "a number that is not as most are written, very long, or very near to the middle of two"
)

// read reads the features into a part.
func (d *deviceRows) read(part *readers.Part) {
	words := d.chunks.words
	if d.find(words); d.Stopped() {
		return
	}
	found := device.Result(d.Work, d.tags.Found)
	first := device.Result(d.Work, d.rows.First)
	part.Starts = device.Result(d.Work, d.rows.Starts)
	if d.Await(); d.Stopped() {
		return
	}
	f, why := d.check(&found[0])
	if d.Stopped() {
		return
	}
	d.Accept(why == "", why)
	columns := &geoarrow.Columns{Rows: d.rows.Rows}
	d.geometry(columns, &found[0], f, part)
	d.attributes(columns, first)
	last := device.Result(d.Work, d.tags.Found)
	d.After(func() { d.Accept(last[0].Fault < 0, oddTags) })
	d.After(func() { d.checkLengths(part.Starts) })
	part.Columns, part.Rows = columns, int64(columns.Rows)
	part.State |= d.chunks.head.pack()
	part.Summary.Layers = []string{d.chunks.head.layer}
}

// find lists the tags and the features.
func (d *deviceRows) find(words *vocabulary) {
	x, err := kxml.AllocXML(d.K, d.S, d.Text)
	if d.Try(err); err != nil {
		return
	}
	d.Later(func() error { return x.Free(d.S) })
	d.tags = x
	d.Accept(x.Fault < 0 && x.Tags > 0, oddTags)
	d.Accept(x.Tags <= d.Text.Len()/minTag, "tags of hardly any text")
	if d.Stopped() {
		return
	}
	dictionary := d.dictionary(words)
	if d.Stopped() {
		return
	}
	d.Try(kxml.MatchXML(d.K, d.S, d.Text, x, dictionary))
	if d.Stopped() {
		return
	}
	rows, err := kxml.AllocXMLRows(d.K, d.S, d.Text, x, dictionary, len(words.columns))
	if d.Try(err); err != nil {
		return
	}
	d.Later(func() error { return rows.Free(d.S) })
	d.rows = rows
	d.Accept(rows.Rows > 0, oddTags)
	d.Accept(rows.Rows*max(1, len(words.columns)) <= d.Text.Len()/minValue,
		"more columns than features have text for")
}

// minTag and minValue are the bytes of text per tag, and per column of a feature, for which a
// device has memory.
const (
	minTag   = 3
	minValue = 4
)

// fileDictionary is the dictionary of the file whose chunk was read last on a slot.
type fileDictionary struct {
	of         *vocabulary
	dictionary *kxml.XMLDictionary
}

// Free frees the memory.
func (k *fileDictionary) Free(s *gpu.Stream) error {
	if k.dictionary == nil {
		return nil
	}
	return k.dictionary.Free(s)
}

// dictionary returns the file's dictionary on the device.
func (d *deviceRows) dictionary(words *vocabulary) *kxml.XMLDictionary {
	k := device.Keep[fileDictionary](d.Work)
	if k.of == words {
		return k.dictionary
	}
	arena := d.S.Use(nil)
	defer d.S.Use(arena)
	err := k.Free(d.S)
	*k = fileDictionary{}
	if err == nil {
		k.dictionary, err = kxml.AllocXMLDictionary(d.S, words.tags)
	}
	if d.Try(err); err == nil {
		k.of = words
	}
	return k.dictionary
}

// check checks the tags and features that were found, and returns the frame of their geometries.
func (d *deviceRows) check(found *kxml.XMLFound) (frame, string) {
	c := d.chunks
	d.Accept(found.Fault < 0, oddTags)
	d.Accept(c.home.x.Depth()+int(found.Deepest) <= c.head.limits.MaxDepth, "elements that are nested too deep")
	return c.words.uses(found, c.head.frame)
}

// checkLengths refuses features that the CPU engine would find too long. A feature ends before the
// next one begins.
func (d *deviceRows) checkLengths(starts []int64) {
	for i, start := range starts {
		next := int64(d.Text.Len())
		if i+1 < len(starts) {
			next = starts[i+1]
		}
		d.Accept(next-start <= d.chunks.head.limits.MaxFeatureBytes, "a feature that is too long, or nearly so")
	}
}

// geometry makes the column of geometries.
func (d *deviceRows) geometry(columns *geoarrow.Columns, found *kxml.XMLFound, f frame, part *readers.Part) {
	n := d.rows.Rows
	some := uint32(0)
	for _, word := range found.Outer {
		some |= word
	}
	if some == 0 {
		columns.Geometry = geoarrow.NullGeometry(n, geoarrow.NoKind, geoarrow.XY)
		return
	}
	lines := device.Alloc[byte](d.Work, d.Text.Len())
	if d.Stopped() {
		return
	}
	d.Try(kxml.XMLLines(d.K, d.S, d.Text, d.tags, d.rows, f.size, lines))
	if d.Stopped() {
		return
	}
	part.State, part.Summary.CRS = foundSystem, f.system.crs
	cells := wkt.ReadCells(d.Work, lines, n, &part.Summary)
	g := cells.Geometry
	columns.Geometry = g
	if g == nil {
		return
	}
	d.After(func() {
		d.Accept(g.Dim&geoarrow.HasM == 0 && !(f.system.swapped && g.Kind == geoarrow.NoKind && g.Nulls < n),
			oddGeometry)
		if f.system.swapped {
			g.X, g.Y = g.Y, g.X
		}
		if !d.asked.Geometry() {
			columns.Geometry = geoarrow.NullGeometry(n, geoarrow.NoKind, geoarrow.XY)
		}
	})
}
