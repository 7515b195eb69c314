package osmpbf

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
	"math/bits"
)

// deflater unpacks zlib data (RFC 1950, RFC 1951) of which both sides are in memory: a blob and its
// content, whose size is known. So it needs no window, and reads and writes words. It takes half the
// time of a streaming decoder.
type deflater struct {
	literals  codes // and lengths
	distances codes
	fixed     *[2]codes // of blocks with fixed codes; nil: not made yet
	lengths   [286 + 30]uint8
	meta      codes

	in  []byte
	p   int    // next byte of in
	bit uint64 // bits that were read from in and not used, the next one lowest
	n   int    // how many; < 0: more were used than there are
	out []byte
	o   int // next byte of out
}

var (
	errShortData = errors.New("the data ends early")
	errLongData  = errors.New("the content is larger than raw_size says")
	errZlibHead  = errors.New("expected a zlib header")
	errBlock     = errors.New("a block of type 3")
	errStored    = errors.New("a stored block whose length is not the complement of its check")
	errCodes     = errors.New("lengths of codes that are no prefix code")
	errCode      = errors.New("a code that the block does not have")
	errDistance  = errors.New("a distance beyond the start of the content")
	errChecksum  = errors.New("the content does not have the Adler-32 checksum of the data")
)

// unpack unpacks data, whose content has the size of out.
func (d *deflater) unpack(out, data []byte) error {
	if len(data) < 2 || data[0]&15 != 8 || data[0]>>4 > 7 || binary.BigEndian.Uint16(data)%31 != 0 || data[1]&32 != 0 {
		return errZlibHead
	}
	d.in, d.p, d.bit, d.n, d.out, d.o = data, 2, 0, 0, out, 0
	for last := false; !last; {
		d.refill()
		head := d.take(3)
		last = head&1 != 0
		var err error
		switch head >> 1 {
		case 0:
			err = d.stored()
		case 1:
			err = d.block(&d.fixedCodes()[0], &d.fixedCodes()[1])
		case 2:
			if err = d.readCodes(); err == nil {
				err = d.block(&d.literals, &d.distances)
			}
		default:
			err = errBlock
		}
		if d.n < 0 {
			return errShortData
		}
		if err != nil {
			return err
		}
	}
	d.align()
	switch {
	case d.o < len(out) || len(data)-d.p < 4:
		return errShortData
	case binary.BigEndian.Uint32(data[d.p:]) != adler32.Checksum(out):
		return errChecksum
	}
	return nil
}

// refill reads bits until there are 56 or more, or the data ends.
func (d *deflater) refill() {
	if d.p+8 <= len(d.in) && d.n >= 0 {
		// The bits above n may be there already: they are the same.
		d.bit |= binary.LittleEndian.Uint64(d.in[d.p:]) << d.n
		d.p += (63 - d.n) >> 3
		d.n |= 56
		return
	}
	for d.n >= 0 && d.n <= 56 && d.p < len(d.in) {
		d.bit |= uint64(d.in[d.p]) << d.n
		d.p++
		d.n += 8
	}
}

// take uses up to 16 bits.
func (d *deflater) take(n int) uint32 {
	v := uint32(d.bit) & (1<<n - 1)
	d.bit >>= n
	d.n -= n
	return v
}

// align goes to the next whole byte of the data.
func (d *deflater) align() {
	d.p -= max(0, d.n) >> 3
	d.bit, d.n = 0, min(d.n, 0)
}

// stored copies a block that is not packed.
func (d *deflater) stored() error {
	if d.align(); d.n < 0 || len(d.in)-d.p < 4 {
		return errShortData
	}
	size := int(binary.LittleEndian.Uint16(d.in[d.p:]))
	if size != int(^binary.LittleEndian.Uint16(d.in[d.p+2:])) {
		return errStored
	}
	d.p += 4
	switch {
	case size > len(d.in)-d.p:
		return errShortData
	case size > len(d.out)-d.o:
		return errLongData
	}
	copy(d.out[d.o:], d.in[d.p:d.p+size])
	d.p += size
	d.o += size
	return nil
}

// block unpacks the symbols of a block.
func (d *deflater) block(literals, distances *codes) (err error) {
	d.bit, d.n, d.p, d.o, err = symbols(literals, distances, d.in, d.out, d.bit, d.n, d.p, d.o)
	return err
}

// symbols unpacks the symbols of a block. Its variables are those of a deflater, in registers. A pair
// of a length and a distance takes at most 48 bits, and three literals 45, so one refill is enough
// for each.
func symbols(literals, distances *codes, in, out []byte, bit uint64, n, p, o int) (uint64, int, int, int, error) {
	for {
		if p+8 <= len(in) {
			bit |= binary.LittleEndian.Uint64(in[p:]) << (n & 63)
			p += (63 - n) >> 3
			n |= 56
		} else {
			for n <= 56 && p < len(in) {
				bit |= uint64(in[p]) << (n & 63)
				p++
				n += 8
			}
		}
		e := literals.find(bit)
		if e&isLiteral != 0 && len(out)-o > 2 {
			out[o] = byte(e >> codeValue)
			o++
			bit >>= e & codeBits
			n -= int(e & codeBits)
			if e = literals.find(bit); e&isLiteral != 0 {
				out[o] = byte(e >> codeValue)
				o++
				bit >>= e & codeBits
				n -= int(e & codeBits)
				e = literals.find(bit)
			}
		}
		bit >>= e & codeBits
		n -= int(e & codeBits)
		if e&isLiteral != 0 {
			if n < 0 {
				return bit, n, p, o, errShortData
			}
			if o >= len(out) {
				return bit, n, p, o, errLongData
			}
			out[o] = byte(e >> codeValue)
			o++
			continue
		}
		switch {
		case n < 0:
			return bit, n, p, o, errShortData
		case e&isEnd != 0:
			return bit, n, p, o, nil
		case e == 0:
			return bit, n, p, o, errCode
		}
		extra := e >> codeExtra & 15
		length := int(e>>codeValue) + int(bit&(1<<extra-1))
		bit >>= extra
		n -= int(extra)
		if p+8 <= len(in) && n >= 0 {
			bit |= binary.LittleEndian.Uint64(in[p:]) << (n & 63)
			p += (63 - n) >> 3
			n |= 56
		} else {
			for n >= 0 && n <= 56 && p < len(in) {
				bit |= uint64(in[p]) << (n & 63)
				p++
				n += 8
			}
		}
		e = distances.find(bit)
		if e == 0 {
			if n < maxCodeLen {
				return bit, n, p, o, errShortData
			}
			return bit, n, p, o, errCode
		}
		bit >>= e & codeBits
		extra = e >> codeExtra & 15
		distance := int(e>>codeValue) + int(bit&(1<<extra-1))
		bit >>= extra
		if n -= int(e&codeBits) + int(extra); n < 0 {
			return bit, n, p, o, errShortData
		}
		switch {
		case length > len(out)-o:
			return bit, n, p, o, errLongData
		case distance > o:
			return bit, n, p, o, errDistance
		}
		repeat(out, o, length, distance)
		o += length
	}
}

// repeat copies the bytes at a distance before o to o.
func repeat(out []byte, o, length, distance int) {
	from := o - distance
	if distance < 8 || o+length+8 > len(out) {
		for k := range length {
			out[o+k] = out[from+k]
		}
		return
	}
	for k := 0; k < length; k += 8 { // bytes after the end are overwritten later
		binary.LittleEndian.PutUint64(out[o+k:], binary.LittleEndian.Uint64(out[from+k:]))
	}
}

// codes finds the symbol of a code by its bits.
type codes struct {
	root [1 << rootBits]uint32 // by the next rootBits bits
	subs []uint32              // tables for longer codes
	sub  int                   // bits of each of these
}

// Entries of a table: the bits of the code, the bits after it that count, what the code means, and
// its value; or, for longer codes, the place of another table.
const (
	codeBits  = 15      // mask
	codeExtra = 4       // shift of the number of bits after the code
	isLiteral = 1 << 8  // the value is a byte
	isEnd     = 1 << 9  // of the block
	isSub     = 1 << 10 // the value is the place of a table
	codeValue = 16      // shift

	rootBits   = 11
	maxCodeLen = 15
)

// find returns the entry of the code that the bits begin with, 0 if there is none.
func (c *codes) find(bit uint64) uint32 {
	e := c.root[bit&(1<<rootBits-1)]
	if e&isSub != 0 {
		e = c.subs[uint64(e>>codeValue)+bit>>rootBits&(1<<c.sub-1)]
	}
	return e
}

// build makes the table for the lengths of the codes of symbols (RFC 1951 section 3.2.2). entry
// returns what a symbol means.
func (c *codes) build(lengths []uint8, entry func(symbol int) uint32) error {
	var count [maxCodeLen + 1]int
	longest, used := 0, 0
	for _, l := range lengths {
		count[l]++
		if l > 0 {
			used++
			longest = max(longest, int(l))
		}
	}
	count[0] = 0
	var next [maxCodeLen + 2]int
	left := 1
	for l := 1; l <= maxCodeLen; l++ {
		left = left<<1 - count[l]
		if left < 0 {
			return errCodes
		}
		next[l+1] = (next[l] + count[l]) << 1
	}
	if left > 0 && used > 1 {
		return errCodes
	}
	c.sub = max(0, longest-rootBits)
	c.subs = c.subs[:0]
	clear(c.root[:])
	for symbol, l := range lengths {
		if l == 0 {
			continue
		}
		code := int(bits.Reverse16(uint16(next[l])) >> (16 - l))
		next[l]++
		e := entry(symbol) | uint32(l)
		if l <= rootBits {
			for i := code; i < 1<<rootBits; i += 1 << l {
				c.root[i] = e
			}
			continue
		}
		root := code & (1<<rootBits - 1)
		if c.root[root] == 0 {
			c.root[root] = uint32(len(c.subs))<<codeValue | isSub
			for range 1 << c.sub {
				c.subs = append(c.subs, 0)
			}
		}
		at := int(c.root[root] >> codeValue)
		for i := code >> rootBits; i < 1<<c.sub; i += 1 << (l - rootBits) {
			c.subs[at+i] = e
		}
	}
	return nil
}

// endSymbol ends a block.
const endSymbol = 256

// literalEntry returns what a symbol of literals and lengths means (RFC 1951 section 3.2.5).
func literalEntry(symbol int) uint32 {
	switch {
	case symbol < endSymbol:
		return uint32(symbol)<<codeValue | isLiteral
	case symbol == endSymbol:
		return isEnd
	case symbol < 265:
		return uint32(symbol-257+3) << codeValue
	case symbol < 285:
		extra := (symbol - 261) / 4
		base := 3 + (4+(symbol-261)%4)<<extra
		return uint32(base)<<codeValue | uint32(extra)<<codeExtra
	case symbol == 285:
		return 258 << codeValue
	}
	return invalidSymbol
}

// distanceEntry returns what a symbol of distances means.
func distanceEntry(symbol int) uint32 {
	switch {
	case symbol < 4:
		return uint32(symbol+1) << codeValue
	case symbol < 30:
		extra := symbol/2 - 1
		return uint32(1+(2+symbol%2)<<extra)<<codeValue | uint32(extra)<<codeExtra
	}
	return invalidSymbol
}

// invalidSymbol is the entry of a symbol that fixed codes have and no block may use: a distance
// beyond any content.
const invalidSymbol = 0xffff << codeValue

// fixedCodes returns the codes of blocks of type 1 (RFC 1951 section 3.2.6).
func (d *deflater) fixedCodes() *[2]codes {
	if d.fixed != nil {
		return d.fixed
	}
	d.fixed = &[2]codes{}
	var lengths [288]uint8
	for i := range lengths {
		switch {
		case i < 144, i >= 280:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		default:
			lengths[i] = 7
		}
	}
	_ = d.fixed[0].build(lengths[:], literalEntry) // they are prefix codes
	for i := range 32 {
		lengths[i] = 5
	}
	_ = d.fixed[1].build(lengths[:32], distanceEntry)
	return d.fixed
}

// metaOrder is the order of the lengths of the codes for lengths (RFC 1951 section 3.2.7).
var metaOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the codes of a block of type 2.
func (d *deflater) readCodes() error {
	d.refill()
	literals, distances, metas := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	if literals > 286 || distances > 30 {
		return errCodes
	}
	var meta [19]uint8
	for _, i := range metaOrder[:metas] {
		d.refill()
		meta[i] = uint8(d.take(3))
	}
	numbers := func(symbol int) uint32 { return uint32(symbol)<<codeValue | isLiteral }
	if err := d.meta.build(meta[:], numbers); err != nil {
		return err
	}
	lengths := d.lengths[:literals+distances]
	for i := 0; i < len(lengths); {
		d.refill()
		e := d.meta.find(d.bit)
		d.take(int(e & codeBits))
		symbol := int(e >> codeValue)
		switch {
		case d.n < 0:
			return errShortData
		case e == 0:
			return errCode
		case symbol < 16:
			lengths[i] = uint8(symbol)
			i++
			continue
		}
		again, length := 0, uint8(0)
		switch symbol {
		case 16:
			if i == 0 {
				return errCodes
			}
			again, length = 3+int(d.take(2)), lengths[i-1]
		case 17:
			again = 3 + int(d.take(3))
		default:
			again = 11 + int(d.take(7))
		}
		if again > len(lengths)-i {
			return errCodes
		}
		for range again {
			lengths[i] = length
			i++
		}
	}
	if lengths[endSymbol] == 0 {
		return errCodes
	}
	if err := d.literals.build(lengths[:literals], literalEntry); err != nil {
		return err
	}
	return d.distances.build(lengths[literals:], distanceEntry)
}
