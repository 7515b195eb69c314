package dbf

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Field is a field of a table: a column.
type Field struct {
	// unique: a repeated one has _1, _2, … after it, an empty one is called field_ and its number
	// from 1
	Name     string
	Type     byte // the letter
	Offset   int  // in a record, whose byte 0 is the deletion flag
	Length   int  // in bytes
	Decimals int

	kind    kind
	nullBit int // number of the bit that marks a null, or noBit
	sizeBit int // number of the bit that marks a text whose last byte is its length, or noBit
}

const noBit = -1

// kind is the interpretation of a field's bytes.
type kind uint8

const (
	kindText      kind = iota // a text
	kindInteger               // digits, without a point
	kindNumber                // digits with a point or an exponent
	kindDate                  // YYYYMMDD
	kindLogical               // a letter
	kindInt                   // int32
	kindDouble                // float64
	kindTimestamp             // two int32: Julian day, milliseconds of the day
	kindMoney                 // int64, ten-thousandths
	kindHex                   // bytes, given as hexadecimal text
	kindMemo                  // number of a block of the memo file that holds a text
	kindHexMemo               // … that holds bytes, given as hexadecimal text
)

func (k kind) isMemo() bool { return k == kindMemo || k == kindHexMemo }

// id is the name of the field's column.
func (f *Field) id() geoarrow.ColumnID { return geoarrow.ColumnID{Name: f.Name} }

// takesAll reports whether any bytes are a valid value of the field.
func (f *Field) takesAll() bool {
	switch f.kind {
	case kindInt, kindDouble, kindMoney:
		return true
	}
	return f.kind == kindText && f.sizeBit == noBit
}

// wideDigits is the width from which an integer may be beyond int64, narrowDigits beyond int32.
const (
	narrowDigits = 10
	wideDigits   = 19
)

// decide finds the kind by the letter, and checks the length of binary values. Unknown letters are
// texts, as in GDAL.
func (f *Field) decide(version byte) error {
	binary := 0 // required number of bytes
	switch f.Type {
	case 'N':
		f.kind = kindNumber
		if f.Decimals == 0 {
			f.kind = kindInteger
		}
	case 'F':
		f.kind = kindNumber
	case 'D':
		f.kind = kindDate
	case 'L':
		f.kind = kindLogical
	case 'I', '+':
		f.kind, binary = kindInt, 4
	case 'O':
		f.kind, binary = kindDouble, 8
	case 'T', '@':
		f.kind, binary = kindTimestamp, 8
	case 'Y':
		f.kind, binary = kindMoney, 8
	case 'M':
		f.kind = kindMemo
	case 'G', 'P', 'W':
		f.kind = kindHexMemo
	case 'Q':
		f.kind = kindHex
	case 'B': // a double in Visual FoxPro, a memo of bytes in dBASE 5, whose pointers have 10 digits
		f.kind = kindHexMemo
		if visualFoxPro(version) || f.Length == 8 {
			f.kind, binary = kindDouble, 8
		}
	default:
		if f.Type <= ' ' || f.Type >= 0x7F {
			return fmt.Errorf("a field type is a letter, found %s", quoted([]byte{f.Type}))
		}
	}
	if binary > 0 && f.Length != binary {
		return fmt.Errorf("a field of type %c has %d bytes, expected %d", f.Type, f.Length, binary)
	}
	return nil
}

// Facts returns the facts about the field's column that the header declares.
func (f *Field) facts() geoarrow.Facts {
	switch f.kind {
	case kindInteger:
		if f.Length < narrowDigits {
			return geoarrow.Facts{Kinds: geoarrow.FactInt32}
		}
		return geoarrow.Facts{Kinds: geoarrow.FactInt64}
	case kindNumber, kindDouble:
		return geoarrow.Facts{Kinds: geoarrow.FactFloat}
	case kindDate:
		return geoarrow.Facts{Kinds: geoarrow.FactDate}
	case kindLogical:
		return geoarrow.Facts{Kinds: geoarrow.FactBool}
	case kindInt:
		return geoarrow.Facts{Kinds: geoarrow.FactInt32}
	case kindTimestamp:
		return geoarrow.Facts{Kinds: geoarrow.FactNaive, Digits: 3}
	case kindMoney:
		return geoarrow.Facts{Kinds: geoarrow.FactMoney}
	}
	return geoarrow.Facts{Kinds: geoarrow.FactString}
}

// Flags of a field of Visual FoxPro.
const flagNullable = 0x02

// takeBits assigns a field its bits among the null flags, n of which are in use: a text of variable
// length has one for that, and a nullable field one for null. It returns the number of bits now in
// use.
func (f *Field) takeBits(taken int, flags byte) int {
	if f.Type == 'V' || f.Type == 'Q' {
		f.sizeBit = taken
		taken++
	}
	if flags&flagNullable != 0 {
		f.nullBit = taken
		taken++
	}
	return taken
}

// fieldNames gives each field a name of its own. Names that are in the header once are kept.
func fieldNames(raw [][]byte, page *codePage) []string {
	names, taken := make([]string, len(raw)), map[string]bool{}
	decoder := page.decoder()
	for i, d := range raw {
		name, _, _ := bytes.Cut(d[:nameBytes], []byte{0})
		decoded, _ := decoder.append(nil, name)
		names[i] = strings.Trim(string(decoded), " ")
		if names[i] == "" {
			names[i] = fmt.Sprintf("field_%d", i+1)
		}
		taken[names[i]] = true
	}
	// last: the last number that was added to a name, so that 2,000 equal names take little time
	seen, last := map[string]bool{}, map[string]int{}
	for i, name := range names {
		for seen[names[i]] {
			last[name]++
			if again := fmt.Sprintf("%s_%d", name, last[name]); !taken[again] {
				names[i] = again
				taken[again] = true
			}
		}
		seen[names[i]] = true
	}
	return names
}

// quoted formats bytes of a file for an error message: texts in quotes, others in hexadecimal.
func quoted(b []byte) string {
	const most = 32
	more := ""
	if len(b) > most {
		b, more = b[:most], "…"
	}
	for _, c := range b {
		if c < ' ' || c >= 0x7F {
			return fmt.Sprintf("the bytes % x%s", b, more)
		}
	}
	return fmt.Sprintf("%q%s", b, more)
}
