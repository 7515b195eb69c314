package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
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
	if d.stopped() {
		return c, dim
	}
	// The CPU engine counts the brackets of coordinates too where a collection says its type behind its members.
	d.accept(d.deep >= memberDepth+coordinatesDepth-1+positionDepth, "collections too deep")
	rows, err := d.k.AllocPositions(d.s, collects, 0)
	if err != nil {
		d.try(err)
		return c, dim
	}
	d.later(func() error { return rows.Free(d.s) })
	n := rows.Len()
	from, to := deviceAlloc[int64](d, n), deviceAlloc[int64](d, n)
	firsts, offsets := deviceAlloc[int64](d, n), deviceAlloc[int64](d, n+1)
	c = kernels.WKBCollections{Rows: rows, First: deviceAlloc[int64](d, n+1), Starts: deviceAlloc[int64](d, n+1)}
	if d.stopped() {
		return c, dim
	}
	d.try(kernels.Gather(d.k, d.s, starts, rows, from))
	d.try(kernels.Gather(d.k, d.s, ends, rows, to))
	d.try(d.k.MeasureArrays(d.s, d.dev, from, to, firsts, offsets))
	size := deviceRead(d, offsets.Slice(n, n+1))
	if d.stopped() {
		return c, dim
	}
	if size[0] == 0 { // no member at all
		d.try(gpu.Fill(d.s, c.First, 0))
		d.try(gpu.Fill(d.s, c.Starts, 0))
		return c, dim
	}
	text := deviceAlloc[byte](d, int(size[0]))
	if d.stopped() {
		return c, dim
	}
	d.try(d.k.JoinArrays(d.s, d.dev, firsts, offsets, text))
	inner := &deviceRows{k: d.k, s: d.s, dev: text, dict: d.dict, names: d.names, sep: kernels.RecordsComma, deep: d.deep - memberDepth, out: d.out, foreign: d.foreign}
	defer d.join(inner)
	return inner.members(c, offsets, sh, sum)
}

// join takes over what is to be done for the members at the end, and what went wrong.
func (d *deviceRows) join(inner *deviceRows) {
	d.free = append(d.free, inner.free...)
	d.try(inner.err)
	d.accept(inner.why == "", inner.why)
	d.after = append(d.after, func() {
		for _, look := range inner.after {
			if !inner.stopped() {
				look()
			}
		}
		d.accept(inner.why == "", inner.why)
	})
}

// members reads the members of collections, which begin at offsets of the text. of are the rows that the collections are among.
func (d *deviceRows) members(c kernels.WKBCollections, offsets gpu.Buffer[int64], of *deviceShapes, sum *readers.Summary) (_ kernels.WKBCollections, dim geoarrow.Dim) {
	p := d.listMembers()
	if d.stopped() {
		return c, dim
	}
	valid := deviceAlloc[uint64](d, kernels.Words(d.records.Count))
	if d.stopped() {
		return c, dim
	}
	d.try(gpu.Fill(d.s, valid, 0xff))
	sh := d.readShapes(p, valid, coordinatesDepth-1, func() bool { return of.z.Len() > 0 })
	if d.stopped() {
		return c, dim
	}
	d.accept(!sh.some(geoarrow.GeometryCollection), "a collection in a collection")
	d.try(d.k.LowerBounds(d.s, d.records.Open, offsets, c.First))
	if sh.z.Len() > 0 {
		d.try(d.k.WKBCollectionDims(d.s, c.Rows, c.First, of.kinds, sh.kinds))
	}
	w := d.writeWKB(sh, kernels.WKBCollections{})
	c.WKB = w.bytes
	d.countOdd(sh, w.ringKinds, sum)
	if d.stopped() {
		return c, dim
	}
	d.try(kernels.Gather(d.k, d.s, w.offsets, c.First, c.Starts))
	return c, sh.dim()
}

// listMembers finds the members of collections and what they consist of.
func (d *deviceRows) listMembers() *placed {
	d.structure()
	if d.stopped() {
		return nil
	}
	found, bad := deviceResult(d, d.records.Found), deviceResult(d, d.badString)
	missed := d.match()
	if d.stopped() {
		return nil
	}
	p := d.place(-1, d.member, len(structuralNames))
	if d.stopped() {
		return nil
	}
	d.accept(found[0].Fault < 0 && bad[0] < 0, "members of a collection that are not as JSON has them")
	d.accept(missed[0] == math.MaxUint32, "a name that only members of collections have")
	if d.stopped() {
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
	d.await()
	if d.stopped() {
		return
	}
	d.accept(fault[0] < 0, "a value that nobody reads, and that is not as JSON has it, or too deep")
	for f, n := range counts {
		if n > 0 && (f >= len(structuralNames) || ofGeometry.known>>f&1 == 0) {
			d.foreign[d.dict.names[f]] += n
		}
	}
}
