package osmpbf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/vibeflight/vibeflight/readers"
)

// location is a position in units of 1e-7 degrees, which is the precision of OSM.
type location struct{ lon, lat int32 }

// degrees returns the position as GDAL does.
func (l location) degrees() (lon, lat float64) { return float64(l.lon) / 1e7, float64(l.lat) / 1e7 }

// nodeIndex finds the location of a node by its id. The nodes are in blocks, in the order of their
// ids; only the first id of each block is in memory.
//
//	block  differences of 256 ids to the first id (4 each), 256 locations (longitude 4, latitude 4)
//
// A block that is not full has differences of 2^32-1 at its end.
type nodeIndex struct {
	spill  spill
	firsts []int64 // of each block
	last   int64   // greatest id
	mixed  bool    // the ids are not in ascending order
}

const (
	blockNodes      = 256
	indexBlockBytes = blockNodes * 12
	noNode          = 1<<32 - 1 // a difference that no node has
)

// place is a node in an index.
type place struct {
	id int64
	location
}

// nodeRun is the nodes of a block of the file, encoded for the index.
type nodeRun struct {
	firsts      []int64
	bytes       []byte
	first, last int64
}

// encode returns the blocks of some nodes, which it sorts. Of nodes of the same id the first counts.
func (r *nodeRun) encode(nodes []place) {
	r.firsts, r.bytes = r.firsts[:0], r.bytes[:0]
	if len(nodes) == 0 {
		return
	}
	for i := 1; i < len(nodes); i++ {
		if nodes[i].id < nodes[i-1].id {
			slices.SortStableFunc(nodes, byID)
			break
		}
	}
	r.first, r.last = nodes[0].id, nodes[len(nodes)-1].id
	blocks := len(nodes)/blockNodes + 1
	r.firsts, r.bytes = slices.Grow(r.firsts, blocks), slices.Grow(r.bytes, blocks*indexBlockBytes)
	var b []byte
	n := blockNodes
	for i := range nodes {
		id := nodes[i].id
		if i > 0 && id == nodes[i-1].id {
			continue
		}
		if n == blockNodes || uint64(id)-uint64(r.firsts[len(r.firsts)-1]) >= noNode {
			r.firsts = append(r.firsts, id)
			from := len(r.bytes)
			r.bytes = slices.Grow(r.bytes, indexBlockBytes)[:from+indexBlockBytes]
			b = r.bytes[from:]
			for k := range b[:4*blockNodes] {
				b[k] = 0xff
			}
			clear(b[4*blockNodes:])
			n = 0
		}
		binary.LittleEndian.PutUint32(b[4*n:], uint32(id-r.firsts[len(r.firsts)-1]))
		at := 4*blockNodes + 8*n
		binary.LittleEndian.PutUint32(b[at:], uint32(nodes[i].lon))
		binary.LittleEndian.PutUint32(b[at+4:], uint32(nodes[i].lat))
		n++
	}
}

func byID(a, b place) int { return cmp.Compare(a.id, b.id) }

// add appends the nodes that follow in the file.
func (x *nodeIndex) add(r *nodeRun) error {
	if len(r.firsts) == 0 {
		return nil
	}
	if len(x.firsts) > 0 && r.first <= x.last {
		x.mixed = true
	}
	x.last = max(x.last, r.last)
	if len(x.firsts) == 0 {
		x.last = r.last
	}
	x.firsts = append(x.firsts, r.firsts...)
	return x.spill.append(r.bytes)
}

// end makes the nodes readable. If the file is not sorted, it brings them in order, in memory.
func (x *nodeIndex) end(limits *readers.Limits) error {
	if err := x.spill.end(); err != nil || !x.mixed {
		return err
	}
	const each = 16 // bytes of a place
	if need := int64(len(x.firsts)) * blockNodes * each; need > limits.Memory/2 {
		return &readers.LimitError{
			What: fmt.Sprintf("%s: sorting its nodes, which are not in the order of their ids (osmium sort does that),",
				x.spill.name), Flag: "--memory", Limit: limits.Memory,
		}
	}
	var nodes []place
	for i, first := range x.firsts {
		b := x.block(i)
		for n := range blockNodes {
			d := binary.LittleEndian.Uint32(b[4*n:])
			if d == noNode {
				break
			}
			nodes = append(nodes, place{first + int64(d), locationAt(b, n)})
		}
	}
	old := x.spill
	x.spill = spill{name: old.name, dir: old.dir, most: old.most}
	x.firsts, x.mixed = nil, false
	old.close()
	slices.SortStableFunc(nodes, byID)
	for part := range slices.Chunk(nodes, 1<<16) {
		var run nodeRun
		if len(x.firsts) > 0 { // the same id may be on both sides
			part = part[sort.Search(len(part), func(i int) bool { return part[i].id > x.last }):]
		}
		run.encode(part)
		if err := x.add(&run); err != nil {
			return err
		}
	}
	return x.spill.end()
}

func locationAt(b []byte, n int) location {
	at := 4*blockNodes + 8*n
	return location{
		int32(binary.LittleEndian.Uint32(b[at:])), int32(binary.LittleEndian.Uint32(b[at+4:])),
	}
}

// nodeReader finds nodes, for one goroutine.
type nodeReader struct {
	index  *nodeIndex
	number int    // of the current block, from 1; 0: none
	first  int64  // its first id
	next   int64  // the first id of the next block
	bytes  []byte // of the current block
	n      int    // place of the last node that was found
}

// find returns the location of a node. ok is false if the file does not have it.
func (r *nodeReader) find(id int64) (l location, ok bool) {
	if r.number == 0 || id < r.first || id >= r.next {
		if !r.goTo(id) {
			return location{}, false
		}
	}
	d := uint64(id - r.first)
	if d >= noNode {
		return location{}, false
	}
	want, b := uint32(d), r.bytes
	if n := r.n + 1; n < blockNodes && binary.LittleEndian.Uint32(b[4*n:]) == want {
		r.n = n
		return locationAt(b, n), true
	}
	lo := 0
	for size := blockNodes; size > 1; size /= 2 { // blockNodes is a power of two
		if half := lo + size/2; binary.LittleEndian.Uint32(b[4*half:]) <= want {
			lo = half
		}
	}
	r.n = lo
	if binary.LittleEndian.Uint32(b[4*lo:]) != want {
		return location{}, false
	}
	return locationAt(b, lo), true
}

// goTo makes the block current that may have an id.
func (r *nodeReader) goTo(id int64) bool {
	firsts := r.index.firsts
	lo, hi := 0, len(firsts) // the first block whose first id is greater
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); firsts[m] <= id {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return false
	}
	r.number, r.first, r.next, r.bytes, r.n = lo, firsts[lo-1], 1<<63-1, r.index.block(lo-1), -1
	if lo < len(firsts) {
		r.next = firsts[lo]
	}
	return true
}

// block returns block i.
func (x *nodeIndex) block(i int) []byte {
	return x.spill.view(int64(i)*indexBlockBytes, indexBlockBytes)
}
