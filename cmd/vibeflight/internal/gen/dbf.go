package gen

import "encoding/binary"

// dbfField is a field descriptor.
type dbfField struct {
	name           string
	kind           byte
	bytes, decimal byte
}

var dbfFields = []dbfField{
	{"PARCEL_ID", 'C', 16, 0},
	{"OWNER", 'C', 30, 0},
	{"ADDRESS", 'C', 40, 0},
	{"CITY", 'C', 20, 0},
	{"ZIP", 'N', 5, 0},
	{"AREA_SQM", 'N', 14, 3},
	{"VALUE", 'N', 12, 0},
	{"YEAR", 'N', 4, 0},
	{"SALEDATE", 'D', 8, 0},
	{"ACTIVE", 'L', 1, 0},
}

// dbfRecordBytes is the length of a record: the deletion flag and the fields.
const dbfRecordBytes = 1 + 16 + 30 + 40 + 20 + 5 + 14 + 12 + 4 + 8 + 1

const dbfTail = "\x1a"

var cities = []string{"Miami", "Tampa", "Orlando", "Naples", "Ocala", "Destin"}

// dbfHead is the header of a dBASE III file:
//
//	0   1  version 3
//	1   3  last change: year since 1900, month, day; 2026-01-01 always, so that the same seed gives the same bytes
//	4   4  records, little-endian as all here
//	8   2  length of the header
//	10  2  length of a record
//	12  20 zeros: no code page
//	32  32 for each field: name, NULs up to 11 bytes; type; 4 zeros; length; decimals; 14 zeros
//	    1  0x0D
func dbfHead(records int64) string {
	b := []byte{3, 126, 1, 1}
	b = binary.LittleEndian.AppendUint32(b, uint32(records))
	b = binary.LittleEndian.AppendUint16(b, uint16(32+32*len(dbfFields)+1))
	b = binary.LittleEndian.AppendUint16(b, dbfRecordBytes)
	b = append(b, make([]byte, 20)...)
	for _, f := range dbfFields {
		var descriptor [32]byte
		copy(descriptor[:11], f.name)
		descriptor[11], descriptor[16], descriptor[17] = f.kind, f.bytes, f.decimal
		b = append(b, descriptor[:]...)
	}
	return string(append(b, '\r'))
}

// dbfRecord writes the attributes of a parcel of land.
func (c *chunk) dbfRecord(int64) {
	id := c.between(1e8, 9e8)
	at := len(c.text)
	c.string(" P-")
	c.integer(id)
	at = c.padTo(at + 17)
	c.string("Owner ")
	c.integer(id % 5000)
	c.string(", LLC")
	at = c.padTo(at + 30)
	c.integer(id % 9999)
	c.byte(' ')
	c.oneOf(streets)
	at = c.padTo(at + 40)
	c.oneOf(cities)
	at = c.padTo(at + 20)
	c.integer(32000 + id%999)
	at += 5
	c.fixed(c.area(), 3)
	at = c.flushRight(at, 14)
	if rare := c.below(100); rare >= 3 {
		c.integer(id / 100)
	}
	c.flushRight(at, 12)
	c.integer(1950 + id%75)
	c.date("20060102", 2005, 365*20)
	c.byte("TF"[c.below(2)])
}

const blanks = "                                        "

// padTo writes blanks up to the end of a field, and returns its position.
func (c *chunk) padTo(end int) int {
	c.string(blanks[:end-len(c.text)])
	return end
}

// flushRight aligns the text since start to the right end of a field, and returns its position.
func (c *chunk) flushRight(start, width int) int {
	n := len(c.text) - start
	c.padTo(start + width)
	copy(c.text[start+width-n:], c.text[start:start+n])
	copy(c.text[start:], blanks[:width-n])
	return start + width
}
