package geoarrow

// Facts are what was observed of the text of a column's values. It is a growing set, so joining the
// facts of chunks is associative, commutative and independent of where chunks end.
type Facts struct {
	Kinds FactKinds
	// These describe the texts that are times. They are undefined if Kinds has none.
	Digits         uint8 // most digits of a fraction of a second
	Zones          Zones // how many different offsets from UTC
	Offset         int32 // the offset, in seconds east, where Zones is OneZone
	MinSec, MaxSec int64 // range of the seconds since the epoch, as written

	// with FactDeclared: the name (TypeName) of the type that the file declares, whatever the
	// values
	Declared string `json:",omitempty"`
}

// FactKinds is a set of the kinds of values that occurred.
type FactKinds uint32

// Kinds of values. Null is not one of them, since every column may have nulls.
const (
	FactBool      FactKinds = 1 << iota
	FactInt32               // an integer of the range of int32
	FactInt64               // a wider one of the range of int64
	FactUint64              // an integer from 2^63 to 2^64-1
	FactHuge                // an integer beyond
	FactFloat               // a number with a fraction or an exponent
	FactNegative            // a negative integer; occurs with one of the three signed kinds of integers
	FactString              // text that is neither a date nor a time
	FactDate                // text of a valid date
	FactNaive               // text of a date and time without zone
	FactZoned               // text of a date and time with zone
	FactTime                // text of a time of day
	FactJSON                // an object, or an array that is not a list of one kind
	FactEmptyList           // []
	FactListBool
	FactListInt32
	FactListInt64
	FactListUint64
	FactListHuge
	FactListFloat
	FactListNegative
	FactListString
	FactDecimal // an integer beyond int64 of at most 38 digits, in a field declared as integer
	FactMoney   // a number in ten-thousandths, in a field declared as currency
	FactUnread  // a value of a column that is not requested

	FactDeclared // the file declares the column's type
	FactGuess    // the column was guessed to hold the geometry: see Guessed
)

// FactField is set on every value of a column whose text has no quotes that distinguish kinds, such
// as CSV fields and GML elements. Resolve joins such kinds more cautiously.
const FactField FactKinds = 1 << 31

// Zones counts the different offsets from UTC.
type Zones uint8

const (
	NoZone Zones = iota
	OneZone
	SeveralZones
)
