package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// memberDepth is how many brackets are open inside of a collection's member, whose own brackets then are at depth 1: { "geometry": { "geometries": [
const memberDepth = 3

// positionDepth is how deep the positions of a MultiPolygon stand in its coordinates: [ [ [ [
const positionDepth = 3

// collections reads the members of GeometryCollections: rows like others, of a text of its own.
//
//	text      … "geometries":[ m1 , m2 ] … "geometries":[] … "geometries":[ m3 ] …
//	members   m1 , m2 , m3 ,
//	first     0 2 2 3                                                                 the first member of each collection
//
// Members are written as WKB of their own, which the rows' WKB then holds in pieces.
func (d *deviceRows) collections(sh *deviceShapes, members *placed, sum *readers.Summary) (c kernels.WKBCollections, dim geoarrow.Dim) {
	starts, ends, collects := d.tokens(members.of(fieldGeometries), false)
	if d.Stopped() {
		return c, dim
	}
	// The CPU engine counts the brackets of coordinates too where a collection says its type behind its members.
	d.Accept(d.deep >= memberDepth+coordinatesDepth-1+positionDepth, "collections too deep")
	rows, err := d.K.AllocPositions(d.S, collects, 0)
	if err != nil {
		d.Try(err)
		return c, dim
	}
	d.Later(func() error { return rows.Free(d.S) })
	n := rows.Len()
	from, to := device.Alloc[int64](d.Work, n), device.Alloc[int64](d.Work, n)
	firsts, offsets := device.Alloc[int64](d.Work, n), device.Alloc[int64](d.Work, n+1)
	c = kernels.WKBCollections{Rows: rows, First: device.Alloc[int64](d.Work, n+1), Starts: device.Alloc[int64](d.Work, n+1)}
	if d.Stopped() {
		return c, dim
	}
	d.Try(kernels.Gather(d.K, d.S, starts, rows, from))
	d.Try(kernels.Gather(d.K, d.S, ends, rows, to))
	d.Try(d.K.MeasureArrays(d.S, d.dev, from, to, firsts, offsets))
	size := device.Read(d.Work, offsets.Slice(n, n+1))
	if d.Stopped() {
		return c, dim
	}
	if size[0] == 0 { // no member at all
		d.Try(gpu.Fill(d.S, c.First, 0))
		d.Try(gpu.Fill(d.S, c.Starts, 0))
		return c, dim
	}
	text := device.Alloc[byte](d.Work, int(size[0]))
	if d.Stopped() {
		return c, dim
	}
	d.Try(d.K.JoinArrays(d.S, d.dev, firsts, offsets, text))
	inner := &deviceRows{Work: d.Work, dev: text, dict: d.dict, names: d.names, sep: kernels.RecordsComma, deep: d.deep - memberDepth, foreign: d.foreign}
	return inner.members(c, offsets, sh, sum)
}

// members reads the members of collections, which begin at offsets of the text. of are the rows that the collections are among.
func (d *deviceRows) members(c kernels.WKBCollections, offsets gpu.Buffer[int64], of *deviceShapes, sum *readers.Summary) (_ kernels.WKBCollections, dim geoarrow.Dim) {
	p := d.listMembers()
	if d.Stopped() {
		return c, dim
	}
	valid := device.Alloc[uint64](d.Work, kernels.Words(d.records.Count))
	if d.Stopped() {
		return c, dim
	}
	d.Try(gpu.Fill(d.S, valid, 0xff))
	sh := d.readShapes(p, valid, coordinatesDepth-1, func() bool { return of.z.Len() > 0 })
	if d.Stopped() {
		return c, dim
	}
	d.Accept(!sh.some(geoarrow.GeometryCollection), "a collection in a collection")
	d.Try(d.K.LowerBounds(d.S, d.records.Open, offsets, c.First))
	if sh.z.Len() > 0 {
		d.Try(d.K.WKBCollectionDims(d.S, c.Rows, c.First, of.kinds, sh.kinds))
	}
	w := d.writeWKB(sh, kernels.WKBCollections{})
	c.WKB = w.bytes
	d.countOdd(sh, w.ringKinds, sum)
	if d.Stopped() {
		return c, dim
	}
	d.Try(kernels.Gather(d.K, d.S, w.offsets, c.First, c.Starts))
	return c, sh.dim()
}

// listMembers finds the members of collections and what they consist of.
func (d *deviceRows) listMembers() *placed {
	d.structure()
	if d.Stopped() {
		return nil
	}
	found, bad := device.Result(d.Work, d.records.Found), device.Result(d.Work, d.badString)
	missed := d.match()
	if d.Stopped() {
		return nil
	}
	p := d.place(-1, d.member, len(structuralNames))
	if d.Stopped() {
		return nil
	}
	d.Accept(found[0].Fault < 0 && bad[0] < 0, "members of a collection that are not as JSON has them")
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

// countForeignOfMembers counts the members of members that nobody reads, and checks what their values are made of.
func (d *deviceRows) countForeignOfMembers() {
	counts, fault := d.queueForeign(level{-1, ofGeometry.known})
	d.Await()
	if d.Stopped() {
		return
	}
	d.Accept(fault[0] < 0, "a value that nobody reads, and that is not as JSON has it, or too deep")
	for f, n := range counts {
		if n > 0 && (f >= len(structuralNames) || ofGeometry.known>>f&1 == 0) {
			d.foreign[d.dict.names[f]] += n
		}
	}
}
