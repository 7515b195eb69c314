package parquet

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// column is the current rows of a column. In a list or a struct it has levels in addition to its
// values (Dremel, Melnik et al. 2010; parquet-format, "Nested Encoding"):
//
//	rep  number of enclosing lists that an entry continues; 0: a new row
//	def  number of optional or repeated levels around it that are present
//
// A column has a value, or a null, for each entry whose innermost list has an element there.
type column struct {
	data     arrow.ArrayData
	def, rep []int16 // of each entry; nil if nothing may be null or is a list
}

var errLevels = errors.New("the columns of a list or a struct have different lengths")

// assemble assembles the columns of a field. t is its type; columns are by their indices.
func assemble(s *pqarrow.SchemaField, t arrow.DataType, columns map[int]*column) (arrow.ArrayData, error) {
	if isLeaf(s) {
		d := columns[s.ColIndex].data
		return array.NewData(t, d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset()), nil
	}
	first := columns[leaves(s)[0].ColIndex]
	switch t := t.(type) {
	case *arrow.StructType:
		children := make([]arrow.ArrayData, len(s.Children))
		for i := range s.Children {
			var err error
			if children[i], err = assemble(&s.Children[i], t.Field(i).Type, columns); err != nil {
				return nil, err
			}
			if children[i].Len() != children[0].Len() {
				return nil, errLevels
			}
		}
		valid, nulls, n := first.structs(s)
		if n < 0 {
			n = children[0].Len()
		}
		if n != children[0].Len() {
			return nil, errLevels
		}
		return array.NewData(t, n, []*memory.Buffer{valid}, children, nulls, 0), nil
	case arrow.ListLikeType:
		child, err := assemble(&s.Children[0], t.Elem(), columns)
		if err != nil {
			return nil, err
		}
		valid, offsets, nulls := first.lists(s)
		n := len(offsets)/arrow.Int32SizeBytes - 1
		if elements := arrow.Int32Traits.CastFromBytes(offsets)[n]; int(elements) != child.Len() {
			return nil, errLevels
		}
		return array.NewData(t, n, []*memory.Buffer{valid, memory.NewBufferBytes(offsets)},
			[]arrow.ArrayData{child}, nulls, 0), nil
	}
	return nil, fmt.Errorf("%s is a type that is not read", t)
}

// repetition returns rep of an entry.
func (c *column) repetition(i int) int16 {
	if len(c.rep) == 0 {
		return 0
	}
	return c.rep[i]
}

// structs returns which structs of a field are null, and how many there are; -1: as many as values.
func (c *column) structs(s *pqarrow.SchemaField) (valid *memory.Buffer, nulls, n int) {
	l := s.LevelInfo
	if len(c.def) == 0 {
		return nil, 0, -1
	}
	var b bits
	for i, def := range c.def {
		if c.repetition(i) <= l.RepLevel && def >= l.RepeatedAncestorDefLevel {
			b.add(def >= l.DefLevel)
		}
	}
	return b.buffer(), b.nulls, b.n
}

// lists returns which lists of a field are null, and where their elements end.
func (c *column) lists(s *pqarrow.SchemaField) (valid *memory.Buffer, offsets []byte, nulls int) {
	l := s.LevelInfo
	var b bits
	ends := []int32{}
	count := int32(0)
	for i, def := range c.def {
		rep := c.repetition(i)
		if rep < l.RepLevel && def >= l.RepeatedAncestorDefLevel {
			ends = append(ends, count)
			b.add(def >= l.DefLevel-1)
		}
		if rep <= l.RepLevel && def >= l.DefLevel {
			count++
		}
	}
	return b.buffer(), arrow.Int32Traits.CastToBytes(append(ends, count)), b.nulls
}

// bits is a bitmap that grows.
type bits struct {
	b        []byte
	n, nulls int
}

func (b *bits) add(set bool) {
	if b.n&7 == 0 {
		b.b = append(b.b, 0)
	}
	if set {
		b.b[b.n>>3] |= 1 << (b.n & 7)
	} else {
		b.nulls++
	}
	b.n++
}

// buffer is nil where no bit is 0.
func (b *bits) buffer() *memory.Buffer {
	if b.nulls == 0 {
		return nil
	}
	return memory.NewBufferBytes(b.b)
}
