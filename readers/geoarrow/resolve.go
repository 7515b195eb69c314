package geoarrow

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

const (
	factNumber   = FactInt32 | FactInt64 | FactNegative | FactUint64 | FactHuge | FactFloat | FactDecimal
	factTemporal = FactDate | FactNaive | FactZoned | FactTime
	factText     = FactString | factTemporal
	factScalar   = FactBool | factNumber | factText | FactMoney

	factListNumber = FactListInt32 | FactListInt64 | FactListNegative | FactListUint64 | FactListHuge | FactListFloat
	factList       = FactListBool | factListNumber | FactListString

	// A number in a list has the bit of the scalar, shifted: the list bits repeat the order of the
	// scalars.
	listShift = 14
)

// InList turns the kinds of scalar numbers into the same kinds inside a list.
func (k FactKinds) InList() FactKinds { return k & factNumber << listShift & factListNumber }

// OutOfList undoes InList.
func (k FactKinds) OutOfList() FactKinds { return k & factListNumber >> listShift }

// Join returns the combined facts of two runs of rows.
func (f Facts) Join(g Facts) Facts {
	switch {
	case (f.Kinds|g.Kinds)&FactDeclared != 0: // in all rows with a time
		return Facts{Kinds: f.Kinds | g.Kinds, Declared: cmp.Or(f.Declared, g.Declared)}
	case f.Kinds&factTemporal == 0:
		g.Kinds |= f.Kinds
		return g
	case g.Kinds&factTemporal == 0:
		f.Kinds |= g.Kinds
		return f
	}
	f.Kinds |= g.Kinds
	f.Digits = max(f.Digits, g.Digits)
	f.MinSec, f.MaxSec = min(f.MinSec, g.MinSec), max(f.MaxSec, g.MaxSec)
	switch {
	case f.Zones == NoZone:
		f.Zones, f.Offset = g.Zones, g.Offset
	case g.Zones == NoZone:
	case f.Zones == SeveralZones || g.Zones == SeveralZones || f.Offset != g.Offset:
		f.Zones, f.Offset = SeveralZones, 0
	}
	return f
}

// Resolution is the type that a set of facts gives a column.
type Resolution struct {
	Type        arrow.DataType
	JSON, Mixed bool // as in Column
}

// String names the type for people.
func (r Resolution) String() string {
	switch {
	case r.JSON:
		return "JSON text"
	case r.Mixed:
		return "text of mixed values"
	}
	return r.Type.String()
}

var (
	textType  = Resolution{Type: arrow.BinaryTypes.String}
	jsonType  = Resolution{Type: arrow.BinaryTypes.String, JSON: true}
	mixedType = Resolution{Type: arrow.BinaryTypes.String, Mixed: true}

	decimalType = &arrow.Decimal128Type{Precision: 38}
	moneyType   = &arrow.Decimal128Type{Precision: 19, Scale: 4}
)

// Resolve returns the narrowest type that holds every value of the facts without loss,
// docs/formats/geojson.md:
//
//	                      scalars of one kind   several kinds   none
//	no list               that kind             text, mixed     text (all null)
//	[] only               list of it            text, mixed     JSON
//	lists of one kind     list if of that kind  text, mixed     list
//	lists of several      text, mixed           text, mixed     JSON
//	objects, other arrays text, mixed           text, mixed     JSON
//
// Booleans next to numbers count as numbers. Dates and times are texts unless all values of the
// column fit one type. A column that is not requested has the type null.
func (f Facts) Resolve(role Role) Resolution {
	k := f.Kinds &^ FactField
	if k&FactUnread != 0 || k == FactGuess {
		return Resolution{Type: arrow.Null}
	}
	if k&FactGuess != 0 {
		return textType
	}
	if k&FactDeclared != 0 {
		t, ok := TypeNamed(f.Declared)
		if !ok {
			panic(fmt.Sprintf("geoarrow: a column of type %q", f.Declared)) // names are those of TypeName
		}
		return Resolution{Type: t}
	}
	switch role {
	case RoleFeatureID:
		return resolveID(k)
	case RoleShape:
		return Resolution{Type: arrow.BinaryTypes.Binary}
	}
	if k == 0 && role.Leads() && role.Times() {
		return Resolution{Type: &arrow.TimestampType{Unit: arrow.Millisecond}}
	}
	scalars := k & factScalar
	if f.Kinds&FactField != 0 && scalars == k {
		return f.resolveField(scalars)
	}
	if k&(FactJSON|FactEmptyList|factList) == 0 {
		return f.resolveScalars(scalars)
	}
	if k&FactJSON != 0 {
		return orMixed(scalars)
	}
	item, ok := listItem(k&factList, scalars)
	if !ok {
		return orMixed(scalars)
	}
	return Resolution{Type: ListOf(item, false)}
}

func orMixed(scalars FactKinds) Resolution {
	if scalars == 0 {
		return jsonType
	}
	return mixedType
}

// listItem returns the type of the elements if lists of one kind, or only [], occur with scalars of
// that kind.
func listItem(lists, scalars FactKinds) (arrow.DataType, bool) {
	switch both := lists | scalars; {
	case both != 0 && both&^(FactListBool|FactBool) == 0:
		return arrow.FixedWidthTypes.Boolean, true
	case both != 0 && both&^(factListNumber|factNumber) == 0:
		return numberType(lists.OutOfList() | scalars), true
	case both != 0 && both&^(FactListString|factText) == 0:
		return arrow.BinaryTypes.String, true
	}
	return nil, false
}

func (f Facts) resolveScalars(k FactKinds) Resolution {
	switch {
	case k == 0:
		return textType
	case k == FactMoney:
		return Resolution{Type: moneyType}
	case k&FactMoney != 0:
		return mixedType
	case k&factText == 0 && k == FactBool:
		return Resolution{Type: arrow.FixedWidthTypes.Boolean}
	case k&factText == 0:
		return Resolution{Type: numberType(k)}
	case k&^factText != 0:
		return mixedType
	}
	return Resolution{Type: f.temporalType()}
}

// resolveField is resolveScalars for FactField. The meaning of such a text is a guess, so a column
// has a type only if every value does; otherwise it stays text.
//
//	booleans   bool; with any number: text
//	integers   int32, int64; beyond: text
//	numbers    float64
//	times      as for any texts
//	several    text, which is not mixed: no other type was intended
func (f Facts) resolveField(k FactKinds) Resolution {
	switch {
	case k == 0 || k&factText == k:
		return f.resolveScalars(k)
	case k == FactBool, k&(FactInt32|FactInt64|FactNegative|FactFloat) == k:
		return f.resolveScalars(k)
	}
	return textType
}

func numberType(k FactKinds) arrow.DataType {
	switch {
	case k&(FactFloat|FactHuge) != 0, k&FactUint64 != 0 && k&FactNegative != 0:
		return arrow.PrimitiveTypes.Float64
	case k&FactDecimal != 0:
		return decimalType
	case k&FactUint64 != 0:
		return arrow.PrimitiveTypes.Uint64
	case k&FactInt64 != 0:
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.PrimitiveTypes.Int32
}

// Range of whole seconds that a timestamp of nanoseconds holds with any fraction.
const minNanoSec, maxNanoSec = -9_223_372_036, 9_223_372_035

func (f Facts) temporalType() arrow.DataType {
	k := f.Kinds & factText
	unit, ok := arrow.Millisecond, true
	switch {
	case f.Digits > 9:
		ok = false
	case f.Digits > 6:
		unit = arrow.Nanosecond
		ok = k == FactTime || f.MinSec >= minNanoSec && f.MaxSec <= maxNanoSec
	case f.Digits > 3:
		unit = arrow.Microsecond
	}
	switch {
	case k == FactDate:
		return arrow.FixedWidthTypes.Date32
	case ok && (k == FactNaive || k == FactNaive|FactDate):
		return &arrow.TimestampType{Unit: unit}
	case ok && k == FactZoned:
		return &arrow.TimestampType{Unit: unit, TimeZone: f.zone()}
	case ok && k == FactTime && unit == arrow.Millisecond:
		return arrow.FixedWidthTypes.Time32ms
	case ok && k == FactTime:
		return &arrow.Time64Type{Unit: unit}
	}
	return arrow.BinaryTypes.String
}

// zone returns the time zone of a timestamp: values are instants in UTC either way.
func (f Facts) zone() string {
	if f.Zones != OneZone || f.Offset == 0 {
		return "UTC"
	}
	sign, off := '+', f.Offset
	if off < 0 {
		sign, off = '-', -off
	}
	return fmt.Sprintf("%c%02d:%02d", sign, off/3600, off/60%60)
}

// resolveID returns int64 or else uint64 if all ids are such integers, else text. It never returns
// float64: an id is not a quantity.
func resolveID(k FactKinds) Resolution {
	switch {
	case k == 0, k&^(FactInt32|FactInt64|FactNegative|FactUint64) != 0, k&FactUint64 != 0 && k&FactNegative != 0:
		return textType
	case k&FactUint64 != 0:
		return Resolution{Type: arrow.PrimitiveTypes.Uint64}
	}
	return Resolution{Type: arrow.PrimitiveTypes.Int64}
}

// Rounded returns facts that give the same types as f, alone and joined with others. Times are only
// told apart by whether nanoseconds hold them, so that many columns have the same rounded facts.
func (f Facts) Rounded() Facts {
	if f.Kinds&factTemporal == 0 || f.Kinds&FactDeclared != 0 {
		return f
	}
	low, high := int64(minNanoSec), int64(maxNanoSec)
	if f.MinSec < minNanoSec {
		low--
	}
	if f.MaxSec > maxNanoSec {
		high++
	}
	f.MinSec, f.MaxSec = low, high
	return f
}
