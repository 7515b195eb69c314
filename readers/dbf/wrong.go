package dbf

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// wrong returns the defect of a value in bad.
func (c *column) wrong(b *block, place int) error {
	value := b.bytes(c.field, place)
	text := quoted(trim(value))
	switch c.field.kind {
	case kindInteger, kindNumber:
		if _, ok := parseNumeral(c.numeral(b, place)); ok {
			return fmt.Errorf("expected a number that a float64 can hold, found %s", text)
		}
		if c.h.options.comma {
			return fmt.Errorf("expected a number with a decimal comma, found %s", text)
		}
		return fmt.Errorf("expected a number, found %s", text)
	case kindDate:
		return fmt.Errorf("expected a date as YYYYMMDD, found %s", text)
	case kindLogical:
		return fmt.Errorf("expected T, F, Y, N, ? or a blank, found %s", text)
	case kindTimestamp:
		day, clock := int32(binary.LittleEndian.Uint32(value)), int32(binary.LittleEndian.Uint32(value[4:]))
		return fmt.Errorf("expected a Julian day from %d to %d and the milliseconds of a day, found %d and %d",
			firstDay, lastDay, day, clock)
	case kindText, kindHex:
		return fmt.Errorf("the last byte says that the value has %d bytes, expected less than the field's %d",
			value[len(value)-1], len(value))
	}
	var wrong *memoError
	if _, err := c.memoOf(value); errors.As(err, &wrong) {
		return wrong
	}
	return errors.New("the memo file changed while it was read")
}
