package geoarrow

import "github.com/apache/arrow/go/v17/arrow"

// Columns is a run of consecutive rows of one table: its attributes, then its geometry.
type Columns struct {
	Rows       int
	Attributes []Column  // leading columns of the format, then attributes in order of first appearance
	Geometry   *Geometry // nil for a table without geometry
}

// Role says how a column came to be, which decides its place and its name in the table.
type Role uint8

const (
	RoleAttribute Role = iota // a property of a feature, a field of a record
	// the id member of a GeoJSON Feature: first column, renamed where an attribute is called id
	RoleFeatureID
	// an attribute whose text is never taken for a date or a time. A format has these or
	// RoleAttribute
	RolePlain
	RoleShape // a geometry that is not the row's own, as WKB. Its name is a path, as for RolePath
	// an attribute inside of other elements: its name is the way there, with "/" between steps
	RolePath

	roleLeading Role = 64
)

// LeadingRole is that of a column of the format's own, which is before the attributes: the
// higher the rank, 0 to 63, the farther in front. An attribute of the same name is renamed. Text is
// taken for dates and times only where times is set; without a value such a column is one of
// timestamps.
func LeadingRole(rank uint8, times bool) Role {
	r := roleLeading + Role(rank)<<1
	if times {
		r |= 1
	}
	return r
}

// Leads reports whether the role is a LeadingRole.
func (r Role) Leads() bool { return r >= roleLeading }

// IsPath reports whether the name of a column is a path. The table calls it by its last step where
// no other column ends so, else by all of them.
func (r Role) IsPath() bool { return r == RolePath || r == RoleShape }

// Times reports whether texts of a column that are all dates or times become such.
func (r Role) Times() bool {
	return r == RoleAttribute || r == RolePath || r >= roleLeading && r&1 != 0
}

// Column is one attribute column in Arrow's layout.
//
//	Type     Valid        Offsets        Values                          Child
//	fixed    ceil(n/8)    -              n * width bytes, little-endian  -
//	bool     ceil(n/8)    -              ceil(n/8) bytes, one bit a row  -
//	string   ceil(n/8)    n+1, from 0    UTF-8                           -
//	binary   ceil(n/8)    n+1, from 0    bytes                           -
//	list     ceil(n/8)    n+1, from 0    -                               Offsets[n] elements; nulls only if
//	                                     the type says so
//	null     -            -              -                               -
//
// A column of the type null, whose Nulls are 0, is one that is not requested: only its name and its
// place are known.
//
// Bits are numbered from the least significant one. Valid is nil if and only if Nulls is 0. Under a
// null Values hold zeros and Offsets do not advance; unused bits of the last byte are zero.
type Column struct {
	Name     string
	Role     Role
	Type     arrow.DataType // of the slices below
	JSON     bool           // string: every value is a JSON text (extension arrow.json)
	Mixed    bool           // string: values of several kinds as their source text (field metadata vibeflight.mixed)
	Facts    Facts          // what the text of these rows showed; Type follows from it
	Rounded  int64          // float64: integers among the rows that a float64 could not hold exactly
	Replaced int64          // text: lone surrogates that became U+FFFD
	Nulls    int
	Valid    []byte
	Offsets  []int32
	Values   []byte
	Child    *Column
}

// Unread returns a column that is not requested.
func Unread(id ColumnID) Column {
	return Column{Name: id.Name, Role: id.Role, Type: arrow.Null, Facts: Facts{Kinds: FactUnread}}
}

// Guessed returns a column of a chunk whose values are all in the geometry, as far as the chunk
// goes. The table has no such column unless a value in some chunk turns out not to be one: then the
// column is text in the whole table, and each chunk that left it out is read again for it.
func Guessed(id ColumnID) Column {
	return Column{Name: id.Name, Role: id.Role, Type: arrow.Null, Facts: Facts{Kinds: FactGuess}}
}

// IsGuessed reports whether all rows that the facts are of are in the geometry, as Guessed has it.
func (f Facts) IsGuessed() bool { return f.Kinds == FactGuess }

// Bytes returns the size of all slices, in bytes.
func (c *Column) Bytes() int64 {
	n := int64(len(c.Valid)) + 4*int64(len(c.Offsets)) + int64(len(c.Values))
	if c.Child != nil {
		n += c.Child.Bytes()
	}
	return n
}

// Bytes returns the size of all slices, in bytes.
func (c *Columns) Bytes() int64 {
	var n int64
	for i := range c.Attributes {
		n += c.Attributes[i].Bytes()
	}
	if c.Geometry != nil {
		n += c.Geometry.Bytes()
	}
	return n
}

// ColumnID names a column before the table has given it its final name.
type ColumnID struct {
	Role Role
	Name string
}

// ID returns the column's name before renaming.
func (c *Column) ID() ColumnID { return ColumnID{c.Role, c.Name} }
