package kml

import (
	"bytes"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const dataRule = "KML 2.3, ExtendedData"

// schemas are the Schema elements so far. Of equal ids the first one counts.
type schemas struct {
	all    []schema
	byID   map[string]int // in all
	byName map[string]int
}

// schema is a Schema element.
type schema struct {
	id, name string
	fields   []field
	byName   map[string]int // in fields
	arrays   bool           // some of them are arrays
}

// field is a SimpleField or a SimpleArrayField of a schema.
type field struct {
	name  string
	kinds geoarrow.FactKinds // FactInt32, FactInt64, FactFloat, FactBool; 0: text
	array bool               // it has any number of values of the kinds
}

// kindsOf are the kinds of the types of fields, as in GDAL.
var kindsOf = map[string]geoarrow.FactKinds{
	"int": geoarrow.FactInt32, "short": geoarrow.FactInt32, "ushort": geoarrow.FactInt32, "uint": geoarrow.FactInt64,
	"float": geoarrow.FactFloat, "double": geoarrow.FactFloat, "bool": geoarrow.FactBool,
}

// schema reads the Schema whose start tag was read.
func (s *scanner) schema() bool {
	id, _ := s.X.Attr("id")
	sc := schema{id: string(id), byName: map[string]int{}}
	name, _ := s.X.Attr("name")
	sc.name = string(name)
	ok := s.children(schemaNames, func(name []byte) bool {
		if isArray := string(name) == "SimpleArrayField"; isArray || string(name) == "SimpleField" {
			name, named := s.X.Attr("name")
			f := field{name: string(name), array: isArray}
			kind, _ := s.X.Attr("type")
			f.kinds = kindsOf[string(kind)]
			if _, twice := sc.byName[f.name]; named && !twice {
				sc.byName[f.name] = len(sc.fields)
				sc.fields = append(sc.fields, f)
				sc.arrays = sc.arrays || isArray
			}
		}
		return s.X.Skip()
	})
	if ok {
		s.schemas.add(sc)
	}
	return ok
}

func (c *schemas) add(sc schema) {
	if c.byID == nil {
		c.byID, c.byName = map[string]int{}, map[string]int{}
	}
	if _, twice := c.byID[sc.id]; !twice {
		c.byID[sc.id] = len(c.all)
	}
	if _, twice := c.byName[sc.name]; !twice {
		c.byName[sc.name] = len(c.all)
	}
	c.all = append(c.all, sc)
}

// find returns the number of the schema with an id, or else a name; -1: none.
func (c *schemas) find(id []byte) int {
	if i, ok := c.byID[string(id)]; ok {
		return i
	}
	if i, ok := c.byName[string(id)]; ok {
		return i
	}
	return -1
}

// extended reads a child of ExtendedData.
func (s *scanner) extended(name []byte) bool {
	switch string(name) {
	case "Data":
		return s.data()
	case "SchemaData":
		return s.schemaData()
	}
	return s.foreign()
}

// data reads a Data element: a name, and a value of no type. One without a value is null.
func (s *scanner) data() bool {
	name, ok := s.dataName()
	if !ok {
		return s.nulls && s.unnamed()
	}
	d := datum{name: name}
	at := len(s.row.data)
	s.row.data = append(s.row.data, d)
	for {
		switch s.X.Next() {
		case xmltext.End:
			s.row.data[at] = d
			return true
		case xmltext.Start:
		default:
			return false
		}
		if string(s.local(dataNames)) != "value" {
			if !s.X.Skip() {
				return false
			}
			continue
		}
		b, _, ok := s.X.Value()
		if !ok {
			return false
		}
		d.value = s.keep(b)
	}
}

// dataName returns the attribute name of the tag that was read.
func (s *scanner) dataName() ([]byte, bool) {
	name, ok := s.X.Attr("name")
	if !ok {
		return nil, s.Wrong(s.X.At, "", dataRule, "extended data without a name")
	}
	return s.keep(name).text, true
}

// unnamed skips extended data without a name, which has no column.
func (s *scanner) unnamed() bool {
	s.deviate(s.X.At, "", ruleNoName, doneNotRead)
	return s.X.Skip()
}

// schemaData reads values of the types in a schema.
func (s *scanner) schemaData() bool {
	url, _ := s.X.Attr("schemaUrl")
	if i := bytes.LastIndexByte(url, '#'); i >= 0 {
		url = url[i+1:]
	}
	var known schema
	if i := s.schemas.find(url); i >= 0 {
		known = s.schemas.all[i]
		s.row.data = append(s.row.data, datum{schema: i + 1})
	}
	next := 0 // field, if the values have the order of the schema
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
		default:
			return false
		}
		element := string(s.local(schemaDataNames))
		isArray := element == "SimpleArrayData"
		if !isArray && element != "SimpleData" {
			if !s.foreign() {
				return false
			}
			continue
		}
		name, ok := s.dataName()
		if !ok {
			if s.nulls && s.unnamed() {
				continue
			}
			return false
		}
		var kinds geoarrow.FactKinds
		if next >= len(known.fields) || known.fields[next].name != string(name) {
			i, ok := known.byName[string(name)]
			if !ok {
				i = len(known.fields)
			}
			next = i
		}
		if next < len(known.fields) && known.fields[next].array == isArray {
			kinds = known.fields[next].kinds
			next++
		}
		if isArray {
			if !s.array(kinds, name) {
				return false
			}
			continue
		}
		v, ok := s.typed(kinds, name)
		if !ok {
			return false
		}
		s.row.data = append(s.row.data, datum{name: name, value: v})
	}
}

// commitData copies the extended data of the row to their columns, which are in the order of the
// text. Of equal names the last one counts, and arrays are joined.
func (s *scanner) commitData() {
	k, data := s.sink, s.row.data
	n := 0
	for i := range data {
		d := &data[i]
		if d.schema > 0 {
			s.listFields(d.schema - 1)
			continue
		}
		d.column = k.attribute(n, d.name)
		n++
	}
	for i := len(data) - 1; i >= 0; i-- {
		switch d := &data[i]; {
		case d.array != nil && d.column.N <= k.Rows:
			s.addArrays(d.column, data[:i+1])
		case d.value.kind != null && d.column.N <= k.Rows:
			s.add(d.column, &d.value)
		}
	}
}

// listFields makes a column for every field of a schema, of its type.
func (s *scanner) listFields(i int) {
	k := s.sink
	if _, listed := k.listed[i]; listed {
		return
	}
	k.listed[i] = struct{}{}
	for _, f := range s.schemas.all[i].fields {
		c := k.Column(geoarrow.RolePlain, []byte(f.name))
		switch {
		case f.array:
			c.Accept(listOf(f.kinds))
		case f.kinds != 0:
			c.Accept(f.kinds)
		}
	}
}

// add ends the row of a column with a value.
func (s *scanner) add(c *rows.Column, v *value) {
	c.Pad(s.sink.Rows)
	switch v.kind {
	case text:
		c.AddText(v.text)
	case integer:
		c.AddNumber(v.num, v.text)
	case boolean:
		c.AddBool(v.num.Int != 0, v.text)
	}
}
