package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// memberDepth is how many brackets are open around a collection's member, whose own brackets then
// count from depth 1: { "geometry": { "geometries": [
const memberDepth = 3

// positionDepth is how deep the positions of a MultiPolygon are in its coordinates: [ [ [ [
const positionDepth = 3

// collectionTexts has the place of the members of each row's collection in the text, and in a text
// of their own.
type collectionTexts struct {
	collects        kernels.Mask      // rows that have members, even if none
	firsts, offsets gpu.Buffer[int64] // of each row; empty spans of those that have none
	mask            []uint64          // collects
	size            []int64           // one element: of the text
}

// measureCollections looks for GeometryCollections among the rows, whose members are placed. Its
// results are valid after the next await; nil if there is no collection.
func (d *deviceRows) measureCollections(members *placedMembers) *collectionTexts {
	if d.Stopped() || members.kinds(fieldGeometries)&^kindBit(kjson.ValueNull) == 0 {
		return nil
	}
	n := members.rows
	starts, ends, collects := d.tokens(members.of(fieldGeometries))
	x := &collectionTexts{
		collects: collects, firsts: device.Alloc[int64](d.Work, n),
		offsets: device.Alloc[int64](d.Work, n+1),
	}
	if d.Stopped() {
		return nil
	}
	d.Try(klist.MeasureArrays(d.K, d.S, d.dev, starts, ends, x.firsts, x.offsets))
	x.mask, x.size = device.Result(d.Work, collects), device.Result(d.Work, x.offsets.Slice(n, n+1))
	return x
}

// deviceCollections are GeometryCollections in progress, and their members.
type deviceCollections struct {
	rows    gpu.Buffer[int64] // that are collections
	offsets gpu.Buffer[int64] // start of each collection's members in their text, and the end of all
	text    *deviceRows       // of the members; nil if there are none
	shapes  *deviceShapes     // of the members
}

// collections reads the members of GeometryCollections: rows like others, of a text of its own.
//
//	text      … "geometries":[ m1 , m2 ] … "geometries":[] … "geometries":[ m3 ] …
//	members   m1 , m2 , m3 ,
//	first     0 2 2 3                                                                 the first member of each
//	          collection
func (d *deviceRows) collections(sh *deviceShapes, x *collectionTexts) *deviceCollections {
	if d.Stopped() || x == nil || !sh.some(geoarrow.GeometryCollection) {
		return nil
	}
	// The CPU engine also counts the brackets of coordinates if a collection has its type after its
	// members.
	d.Accept(d.deep >= memberDepth+coordinatesDepth-1+positionDepth, "collections too deep")
	n, size := device.CountBits(x.mask), x.size[0]
	c := &deviceCollections{rows: device.Alloc[int64](d.Work, n), offsets: device.Alloc[int64](d.Work, n+1)}
	text := device.Alloc[byte](d.Work, int(size))
	if d.Stopped() {
		return nil
	}
	d.Try(d.K.Positions(d.S, x.collects, 0, c.rows, gpu.Buffer[int64]{}))
	d.Try(klist.Gather(d.K, d.S, x.offsets, c.rows, c.offsets.Slice(0, n)))
	d.Try(gpu.Copy(d.S, c.offsets.Slice(n, n+1), x.offsets.Slice(sh.rows, sh.rows+1)))
	if size == 0 {
		return c
	}
	d.Try(klist.JoinArrays(d.K, d.S, d.dev, x.firsts, x.offsets, text))
	c.text = &deviceRows{
		Work: d.Work, turns: d.turns, dev: text, dict: d.dict, names: d.names,
		sep: kjson.RecordsComma, deep: d.deep - memberDepth, foreign: d.foreign,
	}
	c.shapes = c.text.memberShapes(d.third)
	d.third = d.third || c.text.third
	return c
}

// memberShapes reads members of collections. z is a guess whether one of their positions has a
// third ordinate.
func (d *deviceRows) memberShapes(z bool) *deviceShapes {
	p := d.listMembers()
	if d.Stopped() {
		return nil
	}
	sh := d.shapesOf(p, nil)
	d.readMembers(nil, sh)
	d.find(sh, nil, coordinatesDepth-1)
	if d.Stopped() {
		return nil
	}
	d.Accept(!sh.some(geoarrow.GeometryCollection), "a collection in a collection")
	d.ordinates(sh, z)
	return sh
}

// writeCollections writes the members of collections as separate WKB, whose pieces are later copied
// to the rows' WKB. It returns what they add to the rows' dimension. of are the rows that include
// the collections.
func (d *deviceRows) writeCollections(c *deviceCollections, of *deviceShapes,
	sum *readers.Summary,
) (to kgeom.WKBCollections, dim geoarrow.Dim) {
	if c == nil || d.Stopped() {
		return to, dim
	}
	n := c.rows.Len()
	to = kgeom.WKBCollections{
		Rows: c.rows, First: device.Alloc[int64](d.Work, n+1),
		Starts: device.Alloc[int64](d.Work, n+1),
	}
	if d.Stopped() {
		return to, dim
	}
	if c.text == nil {
		d.Try(gpu.Fill(d.S, to.First, 0))
		d.Try(gpu.Fill(d.S, to.Starts, 0))
		return to, dim
	}
	d.Try(klist.LowerBounds(d.K, d.S, c.text.records.Open, c.offsets, to.First))
	if c.shapes.z.Len() > 0 {
		d.Try(kgeom.WKBCollectionDims(d.K, d.S, to.Rows, to.First, of.kinds, c.shapes.kinds))
	}
	w := c.text.writeWKB(c.shapes, kgeom.WKBCollections{}, true)
	to.WKB = w.bytes
	c.shapes.odd().Count(d.Work, w.facts, sum)
	sum.IgnoredOrdinates += c.shapes.found.More
	if d.Stopped() {
		return to, dim
	}
	d.Try(klist.Gather(d.K, d.S, w.offsets, to.First, to.Starts))
	return to, c.shapes.dim()
}

// listMembers finds the members of collections and their parts.
func (d *deviceRows) listMembers() *placedMembers {
	d.structure()
	if d.Stopped() {
		return nil
	}
	found, bad := device.Result(d.Work, d.records.Found), device.Result(d.Work, d.badString)
	missed := d.missed(false)
	if d.Stopped() {
		return nil
	}
	p := d.place()
	if d.Stopped() {
		return nil
	}
	d.Accept(found[0].Fault < 0 && stringsSound(bad), "members of a collection that are not as JSON has them")
	d.Accept(missed[0] == math.MaxUint32, "a name that only members of collections have")
	if d.Stopped() {
		return nil
	}
	idle := p.odd.Unknown < 0 && p.kinds(fieldBBox) == 0
	for f := range structuralNames {
		idle = idle && (ofGeometry.known>>f&1 != 0 || p.kinds(f) == 0)
	}
	if !idle {
		d.countForeignOfMembers()
	}
	return p
}

// countForeignOfMembers counts the foreign members of collections' members, and checks their
// values.
func (d *deviceRows) countForeignOfMembers() {
	counts, fault := d.queueForeign(level{-1, ofGeometry.known})
	d.Await()
	if d.Stopped() {
		return
	}
	d.Accept(fault[0] < 0, "an ignored value that is not JSON, or too deep")
	for f, n := range counts {
		if n > 0 && (f >= len(structuralNames) || ofGeometry.known>>f&1 == 0) {
			d.foreign[d.dict.names[f]] += n
		}
	}
}
