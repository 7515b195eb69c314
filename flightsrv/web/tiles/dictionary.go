package tiles

import (
	"bytes"
	"hash/maphash"
)

// dictionary numbers the different values of a layer in the order of their first use. The zero
// value is ready for use.
type dictionary struct {
	fields []byte  // fields layerValue, as in the tile
	values []place // of each value in fields
	slots  []int32 // a hash table: 1 + number of a value; 0: free
}

// place is a part of a sequence of bytes.
type place struct {
	field    int32 // where its field begins
	from, to int32
}

var hashSeed = maphash.MakeSeed() // it changes no result

// number returns the number of a value.
func (d *dictionary) number(v []byte) uint32 {
	if 2*len(d.values) >= len(d.slots) {
		d.grow()
	}
	slot := d.slot(v)
	if d.slots[slot] == 0 {
		field := len(d.fields)
		d.fields = appendBytes(d.fields, layerValue, v)
		d.values = append(d.values, place{int32(field), int32(len(d.fields) - len(v)), int32(len(d.fields))})
		d.slots[slot] = int32(len(d.values))
	}
	return uint32(d.slots[slot] - 1)
}

// slot returns the slot of a value, or the free one where it belongs.
func (d *dictionary) slot(v []byte) int {
	mask := len(d.slots) - 1
	i := int(maphash.Bytes(hashSeed, v)) & mask
	for d.slots[i] != 0 {
		if p := d.values[d.slots[i]-1]; bytes.Equal(d.fields[p.from:p.to], v) {
			break
		}
		i = (i + 1) & mask
	}
	return i
}

func (d *dictionary) grow() {
	d.slots = make([]int32, max(64, 2*len(d.slots)))
	for i, p := range d.values {
		d.slots[d.slot(d.fields[p.from:p.to])] = int32(i + 1)
	}
}

// shrink removes the values from number n on.
func (d *dictionary) shrink(n int) {
	for i := len(d.values) - 1; i >= n; i-- { // no other value depends on the slot of the last one
		p := d.values[i]
		d.slots[d.slot(d.fields[p.from:p.to])] = 0
		d.values, d.fields = d.values[:i], d.fields[:p.field]
	}
}
