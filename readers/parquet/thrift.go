package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits of a footer.
const (
	maxDepth  = 64 // groups inside of groups
	maxStruct = 32 // structs of Thrift inside of structs: the format has 9
)

// Types of the compact protocol of Thrift (doc/specs/thrift-compact-protocol.md).
const (
	thriftStop, thriftTrue, thriftFalse, thriftByte, thriftI16, thriftI32, thriftI64 = 0, 1, 2, 3, 4, 5, 6
	thriftDouble, thriftBinary, thriftList, thriftSet, thriftMap, thriftStruct       = 7, 8, 9, 10, 11, 12
)

// Fields of parquet.thrift.
const (
	fieldSchema   = 2 // of FileMetaData: a list of SchemaElement, depth first
	fieldChildren = 5 // of SchemaElement
)

// checkFooter walks a footer before Arrow's own code does, which allocates lists by their lengths
// and recurses by the depth of the schema. It hides logical types that this code refuses, and
// returns them.
func checkFooter(footer []byte) (map[int]*logical, error) {
	w := thrift{b: footer}
	schema, found := tree{}, elements{logical: map[int]*logical{}}
	err := w.fields(0, func(id int, kind byte) error {
		if id != fieldSchema || kind != thriftList {
			return w.skip(kind, 0)
		}
		n, elem, err := w.list()
		if err == nil && elem != thriftStruct {
			err = fmt.Errorf("a schema of elements of type %d", elem)
		}
		for range n {
			if err != nil {
				break
			}
			var children int64
			if children, err = w.element(&found); err == nil {
				err = schema.add(children)
			}
		}
		return err
	})
	return found.logical, err
}

// tree is the groups of a schema that are not complete: how many children each still has to come.
type tree struct{ left []int64 }

func (t *tree) add(children int64) error {
	if children < 0 {
		return fmt.Errorf("a group of %d fields", children)
	}
	if n := len(t.left); n > 0 {
		t.left[n-1]--
	}
	if children > 0 {
		t.left = append(t.left, children)
	}
	for n := len(t.left); n > 0 && t.left[n-1] == 0; n-- {
		t.left = t.left[:n-1]
	}
	if len(t.left) > maxDepth {
		return fmt.Errorf("groups are nested deeper than %d", maxDepth)
	}
	return nil
}

// thrift reads the compact protocol.
type thrift struct {
	b  []byte
	at int
}

var errEnds = errors.New("the text ends within a value")

func (w *thrift) byte() (byte, error) {
	if w.at >= len(w.b) {
		return 0, errEnds
	}
	w.at++
	return w.b[w.at-1], nil
}

func (w *thrift) varint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.at:])
	if n <= 0 {
		return 0, errEnds
	}
	w.at += n
	return v, nil
}

// i32 reads a number of 32 bits, in zigzag.
func (w *thrift) i32() (int64, error) {
	v, err := w.varint()
	if err == nil && v > math.MaxUint32 {
		err = errors.New("a number of more than 32 bits")
	}
	return int64(v>>1) ^ -int64(v&1), err
}

// text reads a text.
func (w *thrift) text() (string, error) {
	n, err := w.varint()
	if err != nil {
		return "", err
	}
	from := w.at
	if err := w.bytes(n); err != nil {
		return "", err
	}
	return string(w.b[from:w.at]), nil
}

func (w *thrift) bytes(n uint64) error {
	if n > uint64(len(w.b)-w.at) {
		return errEnds
	}
	w.at += int(n)
	return nil
}

// fields calls f with the fields of a struct, whose values it reads.
func (w *thrift) fields(depth int, f func(id int, kind byte) error) error {
	if depth > maxStruct {
		return fmt.Errorf("structs are nested deeper than %d", maxStruct)
	}
	for id := 0; ; {
		head, err := w.byte()
		if err != nil || head == thriftStop {
			return err
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			v, err := w.varint()
			if err != nil {
				return err
			}
			id = int(int64(v>>1) ^ -int64(v&1))
		}
		if err := f(id, head&15); err != nil {
			return err
		}
	}
}

// list returns the length of a list and the type of its elements, of which each takes a byte or
// more.
func (w *thrift) list() (n int, elem byte, err error) {
	head, err := w.byte()
	if err != nil {
		return 0, 0, err
	}
	size := uint64(head >> 4)
	if size == 15 {
		if size, err = w.varint(); err != nil {
			return 0, 0, err
		}
	}
	if size > uint64(len(w.b)-w.at) {
		return 0, 0, fmt.Errorf("a list of %d elements in %d bytes", size, len(w.b)-w.at)
	}
	return int(size), head & 15, nil
}

func (w *thrift) skip(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse:
		return nil
	case thriftByte:
		return w.bytes(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.bytes(8)
	case thriftBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.bytes(n)
	case thriftStruct:
		return w.fields(depth+1, func(_ int, kind byte) error { return w.skip(kind, depth+1) })
	case thriftList, thriftSet:
		n, elem, err := w.list()
		for i := 0; i < n && err == nil; i++ {
			err = w.skipElement(elem, depth+1)
		}
		return err
	case thriftMap:
		return w.pairs(depth + 1)
	}
	return fmt.Errorf("a value of type %d", kind)
}

// skipElement skips an element of a list: there a boolean is a byte.
func (w *thrift) skipElement(kind byte, depth int) error {
	switch {
	case depth > maxStruct:
		return fmt.Errorf("lists are nested deeper than %d", maxStruct)
	case kind == thriftTrue || kind == thriftFalse:
		return w.bytes(1)
	}
	return w.skip(kind, depth)
}

func (w *thrift) pairs(depth int) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.byte()
	if err == nil && n > uint64(len(w.b)-w.at) {
		err = errEnds
	}
	for i := uint64(0); i < n && err == nil; i++ {
		if err = w.skipElement(kinds>>4, depth); err == nil {
			err = w.skipElement(kinds&15, depth)
		}
	}
	return err
}
