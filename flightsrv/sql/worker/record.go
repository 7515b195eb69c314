//go:build linux

package worker

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// layout is the location of the buffers of a record.
type layout struct {
	Rows    int64    `json:"rows"`
	Columns []column `json:"columns"`
}

// column is an array, without its type.
type column struct {
	N        int         `json:"n"`
	Nulls    int         `json:"nulls,omitempty"`
	Offset   int         `json:"offset,omitempty"`
	Buffers  []bufferRef `json:"buffers,omitempty"`
	Children []column    `json:"children,omitempty"`
}

// bufferRef is the location of a buffer: offset and length in a file, whose number is negative for
// the body of the message. The length of a missing buffer is -1.
type bufferRef struct {
	File int64 `json:"file"`
	At   int64 `json:"at"`
	Len  int64 `json:"len"`
}

// bufferLocator finds the mapped file that contains a buffer, and the number by which the worker
// knows it. It returns false for other memory.
type bufferLocator func(buffer []byte) (file, at int64, ok bool)

// encode returns the layout of a record, and adds the buffers outside of files to the body.
func encode(rec arrow.Record, b *body, find bufferLocator) (layout, error) {
	l := layout{Rows: rec.NumRows(), Columns: make([]column, rec.NumCols())}
	for i, c := range rec.Columns() {
		var err error
		if l.Columns[i], err = encodeArray(c.Data(), b, find); err != nil {
			return l, fmt.Errorf("column %s: %w", rec.ColumnName(i), err)
		}
	}
	return l, nil
}

func encodeArray(d arrow.ArrayData, b *body, find bufferLocator) (column, error) {
	c := column{N: d.Len(), Nulls: d.NullN(), Offset: d.Offset()}
	if d.DataType().ID() == arrow.DICTIONARY {
		return c, errors.New("a dictionary between two processes")
	}
	for _, buffer := range d.Buffers() {
		p := bufferRef{File: -1, Len: -1}
		if buffer != nil {
			p.Len = int64(buffer.Len())
			if file, at, ok := int64(0), int64(0), false; find != nil && p.Len > 0 {
				if file, at, ok = find(buffer.Bytes()); ok {
					p.File, p.At = file, at
				}
			}
			if p.File < 0 {
				p.At = b.add(buffer.Bytes())
			}
		}
		c.Buffers = append(c.Buffers, p)
	}
	for _, child := range d.Children() {
		k, err := encodeArray(child, b, find)
		if err != nil {
			return c, err
		}
		c.Children = append(c.Children, k)
	}
	return c, nil
}

// bufferSource is the memory that the buffers of a record are in.
type bufferSource struct {
	body  []byte
	mem   *mapping // of the body; nil: Go's heap
	files func(number int64) *mapping
}

// decode builds the record of a layout. The record refers to the mappings until it is released.
func (s bufferSource) decode(schema *arrow.Schema, l layout) (arrow.Record, error) {
	if len(l.Columns) != schema.NumFields() {
		return nil, fmt.Errorf("%d columns of %d", len(l.Columns), schema.NumFields())
	}
	columns := make([]arrow.Array, len(l.Columns))
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, c := range l.Columns {
		d, err := s.array(schema.Field(i).Type, c)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", schema.Field(i).Name, err)
		}
		columns[i] = array.MakeFromData(d)
		d.Release()
	}
	return array.NewRecord(schema, columns, l.Rows), nil
}

func (s bufferSource) array(t arrow.DataType, c column) (arrow.ArrayData, error) {
	if e, ok := t.(arrow.ExtensionType); ok {
		t = e.StorageType()
	}
	buffers := make([]*memory.Buffer, len(c.Buffers))
	children := make([]arrow.ArrayData, len(c.Children))
	defer func() {
		for _, b := range buffers {
			if b != nil {
				b.Release()
			}
		}
		for _, child := range children {
			if child != nil {
				child.Release()
			}
		}
	}()
	for i, p := range c.Buffers {
		if p.Len < 0 {
			continue
		}
		from, mem := s.body, s.mem
		if p.File >= 0 {
			if mem = s.files(p.File); mem == nil {
				return nil, fmt.Errorf("no file %d", p.File)
			}
			from = mem.bytes
		}
		if p.At < 0 || p.At+p.Len > int64(len(from)) {
			return nil, fmt.Errorf("buffer %d: %d bytes at %d of %d", i, p.Len, p.At, len(from))
		}
		part := from[p.At : p.At+p.Len : p.At+p.Len]
		if mem == nil {
			buffers[i] = memory.NewBufferBytes(part)
		} else {
			buffers[i] = memory.NewBufferWithAllocator(part, mappingRef{mem.retain()})
		}
	}
	types := childTypes(t)
	if len(types) != len(c.Children) {
		return nil, fmt.Errorf("%s of %d children", t, len(c.Children))
	}
	var err error
	for i, child := range c.Children {
		if children[i], err = s.array(types[i], child); err != nil {
			return nil, err
		}
	}
	return array.NewData(t, c.N, buffers, children, c.Nulls, c.Offset), nil
}

func childTypes(t arrow.DataType) []arrow.DataType {
	nested, ok := t.(arrow.NestedType)
	if !ok {
		return nil
	}
	var types []arrow.DataType
	for _, f := range nested.Fields() {
		types = append(types, f.Type)
	}
	return types
}

// mappingRef refers a buffer to a mapping: Free is called with the buffer's last release.
type mappingRef struct{ mapping *mapping }

func (r mappingRef) Free([]byte)                 { r.mapping.release() }
func (mappingRef) Allocate(int) []byte           { panic("worker: a mapping allocates nothing") }
func (mappingRef) Reallocate(int, []byte) []byte { panic("worker: a mapping does not grow") }

// schemaBytes encodes a schema as a message of Arrow IPC.
func schemaBytes(s *arrow.Schema) []byte {
	var b bytes.Buffer
	_ = ipc.NewWriter(&b, ipc.WithSchema(s)).Close() // a bytes.Buffer has no errors
	return b.Bytes()
}

func readSchema(text []byte) (*arrow.Schema, error) {
	r, err := ipc.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Schema(), nil
}
