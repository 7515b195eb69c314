package geoarrow

import "github.com/apache/arrow/go/v17/arrow"

// Columns is a range of consecutive rows of one table: attributes, then geometry.
type Columns struct {
	Rows       int
	Attributes []Column  // leading columns of the format, then attributes in order of first appearance
	Geometry   *Geometry // nil for a table without geometry
}

// Role is the origin of a column, which determines its place and its name in the table.
type Role uint8

const (
	RoleAttribute Role = iota // a property of a feature, a field of a record
	// the id member of a GeoJSON Feature: first column, renamed if an attribute is called id
	RoleFeatureID
	// an attribute whose text is never read as a date or time. A format uses this or RoleAttribute
	RolePlain
	RoleShape // a further geometry of the row, as WKB. Its name is a path, as for RolePath
	// an attribute inside of other elements: its name is the path to it, with "/" between steps
	RolePath

	roleLeading Role = 64
)

// LeadingRole returns the role of one of the format's own columns, which precede the attributes,
// those of higher rank (0 to 63) first. An attribute of the same name is renamed. Text is read as
// dates and times only if times is set; such a column without any value has timestamps.
func LeadingRole(rank uint8, times bool) Role {
	r := roleLeading + Role(rank)<<1
	if times {
		r |= 1
	}
	return r
}

// Leads reports whether the role is a LeadingRole.
func (r Role) Leads() bool { return r >= roleLeading }

// IsPath reports whether the name of a column is a path. The table names it by its last step if
// that is unique, else by all steps.
func (r Role) IsPath() bool { return r == RolePath || r == RoleShape }

// Times reports whether a column of texts that are all dates or times becomes one of dates or
// times.
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
// A column of type null with Nulls 0 was not requested: only its name and place are known.
//
// Bits are numbered from the least significant one. Valid is nil if and only if Nulls is 0. Under a
// null Values hold zeros and Offsets do not advance; unused bits of the last byte are zero.
type Column struct {
	Name     string
	Role     Role
	Type     arrow.DataType // of the slices below
	JSON     bool           // string: every value is a JSON text (extension arrow.json)
	Mixed    bool           // string: values of several kinds as their source text (field metadata vibeflight.mixed)
	Facts    Facts          // facts about the text of these rows; Type follows from them
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

// Guessed returns a column whose values in this chunk are all in the geometry. The table omits the
// column unless a value in some chunk is not a geometry. Then the column is text in the whole
// table, and each chunk that omitted it is read again.
func Guessed(id ColumnID) Column {
	return Column{Name: id.Name, Role: id.Role, Type: arrow.Null, Facts: Facts{Kinds: FactGuess}}
}

// IsGuessed reports whether the facts are those of a column that Guessed returned.
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

// ColumnID identifies a column before it has its final name.
type ColumnID struct {
	Role Role
	Name string
}

// ID returns the column's name before renaming.
func (c *Column) ID() ColumnID { return ColumnID{c.Role, c.Name} }
