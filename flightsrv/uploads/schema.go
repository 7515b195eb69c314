package uploads

import "fmt"

// layout is the number of arrays and buffers of some fields in a batch.
type layout struct {
	arrays, buffers int
	views           int // columns with any number of additional buffers
}

func (l *layout) add(m layout) {
	l.arrays, l.buffers, l.views = l.arrays+m.arrays, l.buffers+m.buffers, l.views+m.views
}

// fieldType is a member of the union Type of Schema.fbs.
type fieldType byte

const (
	typeBinary, typeUtf8, typeLargeBinary, typeLargeUtf8                                 fieldType = 4, 5, 19, 20
	typeNull, typeList, typeStruct, typeUnion, typeFixedSizeList, typeMap, typeLargeList fieldType = 1,
		12, 13, 14, 16, 17, 21
	typeRunEndEncoded, typeBinaryView, typeUtf8View, typeListView, typeLargeListView fieldType = 22, 23, 24, 25, 26
	typeMax                                                                          fieldType = 26
)

var refusedTypes = map[fieldType]string{
	typeRunEndEncoded: "run-end encoded", typeListView: "list_view",
	typeLargeListView: "large_list_view",
}

// buffersOf returns the buffers of an array of a type without its children. Unions have no validity
// since version 5; older ones are refused.
func (k fieldType) buffersOf(dense bool) layout {
	switch k {
	case typeNull:
		return layout{arrays: 1}
	case typeStruct, typeFixedSizeList:
		return layout{arrays: 1, buffers: 1}
	case typeUnion:
		if dense {
			return layout{arrays: 1, buffers: 2}
		}
		return layout{arrays: 1, buffers: 1}
	case typeBinary, typeUtf8, typeLargeBinary, typeLargeUtf8:
		return layout{arrays: 1, buffers: 3}
	case typeBinaryView, typeUtf8View:
		return layout{arrays: 1, buffers: 2, views: 1}
	}
	return layout{arrays: 1, buffers: 2}
}

// nested reports whether fields of a type have children, or any number of buffers.
func (k fieldType) nested() bool {
	switch k {
	case typeList, typeStruct, typeUnion, typeFixedSizeList, typeMap, typeLargeList, typeBinaryView, typeUtf8View:
		return true
	}
	return false
}

// maxNesting is the maximum nesting of fields, as in Arrow's reader.
const maxNesting = 64

// version5 is the current version of the metadata.
const version5 = 4

// schemaCheck counts the content of a schema.
type schemaCheck struct {
	*Checker
	fields, pairs, text int
}

func (c *Checker) schema(s table) error {
	fields, err := s.vector(schemaFields, 4)
	if err != nil {
		return err
	}
	if fields.n > c.Fields || len(s.Bytes) > c.SchemaBytes {
		return fmt.Errorf("%d columns in a schema of %d bytes: more than %d, or than %d bytes", fields.n,
			len(s.Bytes), c.Fields, c.SchemaBytes)
	}
	check := schemaCheck{Checker: c}
	for _, k := range []int{schemaMetadata, schemaFeatures} {
		v, err := s.vector(k, 4)
		if err != nil {
			return err
		}
		check.pairs += v.n
		if k == schemaMetadata {
			check.metadata(s, v)
		}
	}
	for i := range fields.n {
		l, err := check.field(s.element(fields, i), i+1, 0)
		if err != nil {
			return err
		}
		c.rows.add(l)
	}
	if check.text > len(s.Bytes) {
		return errDamaged // texts that share bytes
	}
	return nil
}

// field checks a field and its children, and returns their layout in a batch.
func (c *schemaCheck) field(f table, column, depth int) (l layout, err error) {
	children, err := f.vector(fieldChildren, 4)
	if err != nil {
		return l, err
	}
	metadata, err := f.vector(fieldMetadata, 4)
	if err != nil {
		return l, err
	}
	c.text += f.textBytes(fieldName)
	c.fields++
	if c.fields > c.Fields || depth > maxNesting {
		return l, fmt.Errorf("the schema has more than %d fields, or some %d inside of each other",
			c.Fields, maxNesting)
	}
	if c.pairs += metadata.n; c.pairs > c.Fields {
		return l, fmt.Errorf("the schema has more than %d pairs of metadata", c.Fields)
	}
	c.metadata(f, metadata)
	kind := fieldType(f.byte(fieldKind))
	dense := false
	switch {
	case kind == 0 || kind > typeMax || refusedTypes[kind] != "":
		return l, fmt.Errorf("column %d: %s is a type that is not read: send its values as they are",
			column, orNumber(refusedTypes[kind], byte(kind)))
	case c.Flat && (kind.nested() || children.n > 0) && !(c.Unions && kind == typeUnion && depth == 0):
		return l, fmt.Errorf("column %d: a nested type can't stand here", column)
	case !kind.nested() && children.n > 0:
		return l, errDamaged
	case kind == typeUnion && c.version != version5:
		return l, fmt.Errorf("column %d: a union of an old version of Arrow's format is not read", column)
	case kind == typeUnion:
		of, ok := f.child(fieldTable)
		if !ok {
			return l, errDamaged
		}
		dense = of.byte(unionMode) != 0 // an int16 of 0 or 1
		c.unions = true
	}
	l = kind.buffersOf(dense)
	for i := range children.n {
		inside, err := c.field(f.element(children, i), column, depth+1)
		if err != nil {
			return l, err
		}
		l.add(inside)
	}
	return c.dictionaryLayout(f, column, l)
}

// dictionaryLayout returns the layout of a field in a batch if a dictionary has its values.
func (c *schemaCheck) dictionaryLayout(f table, column int, values layout) (layout, error) {
	of, ok := f.child(fieldDictionary)
	if !ok {
		return values, nil
	}
	if c.Flat {
		return layout{}, fmt.Errorf("column %d: a dictionary can't stand here; send its values", column)
	}
	id := of.int64(dictionaryID)
	if before, taken := c.dictionaries[id]; taken && before != values {
		return layout{}, fmt.Errorf("column %d: its dictionary is that of another column", column)
	}
	c.dictionaries[id] = values
	return layout{arrays: 1, buffers: 2}, nil // numbers
}

func orNumber(name string, kind byte) string {
	if name != "" {
		return name
	}
	return fmt.Sprintf("number %d", kind)
}

// metadata adds up the texts of key-value pairs.
func (c *schemaCheck) metadata(of table, pairs vector) {
	for i := range min(pairs.n, c.Fields) {
		kv := of.element(pairs, i)
		c.text += kv.textBytes(pairKey) + kv.textBytes(pairValue)
	}
}
