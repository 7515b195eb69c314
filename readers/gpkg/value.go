package gpkg

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// nan is the canonical NaN.
var nan = math.Float64frombits(0x7ff8000000000000)

var (
	errBool  = errors.New("expected a boolean, 0 or 1")
	errInt32 = errors.New("expected an integer of 32 bits")
	errExact = errors.New("the integer is not exact as a float64")
	errDate  = errors.New("expected a date, YYYY-MM-DD")
	errTime  = errors.New("expected a date and time, YYYY-MM-DDTHH:MM:SS.SSSZ, to the microsecond")
)

// Names of storage classes, and what the stores expect.
var (
	classNames = [...]string{"a NULL", "an INTEGER", "a REAL", "a TEXT", "a BLOB"}
	expected   = [...]string{
		storeAny:      "a TEXT, an INTEGER or a REAL",
		storeBool:     "a boolean, 0 or 1",
		storeInt32:    "an INTEGER",
		storeInt64:    "an INTEGER",
		storeFloat:    "a REAL or INTEGER",
		storeText:     "a TEXT",
		storeJSON:     "a TEXT",
		storeBytes:    "a BLOB",
		storeDate:     "a TEXT of a date",
		storeTime:     "a TEXT of a date and time",
		storeRowid:    "a NULL",
		storeGeometry: "a BLOB",
	}
)

// errClass returns the error for a value of another storage class.
func (d *column) errClass(c sqlite.Class) error {
	return fmt.Errorf("%s, expected %s", classNames[c], expected[d.store])
}

// append ends the row's value of a column, which is not null. It leaves the column as it was if the
// value is malformed.
func (d *column) append(db *sqlite.Database, c *rows.Column, v *sqlite.Value) error {
	switch d.store {
	case storeInt64, storeInt32, storeBool:
		if v.Class != sqlite.Integer {
			return d.errClass(v.Class)
		}
		if d.store == storeInt32 && v.Int != int64(int32(v.Int)) {
			return errInt32
		}
		if d.store == storeBool && uint64(v.Int) > 1 {
			return errBool
		}
		if c.Unread {
			c.Pass()
			return nil
		}
		c.Ints = append(c.Ints, v.Int)
		c.Filled()
		return nil
	case storeFloat:
		return d.float(c, v)
	case storeText, storeJSON, storeAny, storeBytes:
		return d.text(db, c, v)
	case storeTime:
		return d.time(db, c, v)
	case storeDate:
		return d.date(db, c, v)
	}
	return d.errClass(v.Class)
}

// float appends a number. SQLite stores whole numbers as integers.
func (d *column) float(c *rows.Column, v *sqlite.Value) error {
	x := v.Float()
	switch v.Class {
	case sqlite.Float:
		if x != x {
			x = nan
		}
	case sqlite.Integer:
		if x = float64(v.Int); x >= 1<<63 || int64(x) != v.Int {
			return errExact
		}
	default:
		return d.errClass(v.Class)
	}
	if c.Unread {
		c.Pass()
		return nil
	}
	c.Floats = append(c.Floats, x)
	c.Filled()
	return nil
}

// text appends a text or bytes.
func (d *column) text(db *sqlite.Database, c *rows.Column, v *sqlite.Value) (err error) {
	n := len(c.Text)
	switch {
	case v.Class == sqlite.Text && d.store != storeBytes:
		c.Text, err = db.AppendText(c.Text, v.Bytes)
	case v.Class == sqlite.Blob && d.store == storeBytes:
		c.Text = append(c.Text, v.Bytes...)
	case v.Class == sqlite.Integer && d.store == storeAny:
		c.Text = strconv.AppendInt(c.Text, v.Int, 10)
	case v.Class == sqlite.Float && d.store == storeAny:
		c.Text = strconv.AppendFloat(c.Text, v.Float(), 'g', -1, 64)
	default:
		return d.errClass(v.Class)
	}
	if err != nil {
		c.Text = c.Text[:n]
		return err
	}
	if c.Unread {
		c.Text = c.Text[:n]
		c.Pass()
		return nil
	}
	if d.store == storeJSON && !json.Valid(c.Text[n:]) {
		c.Accept(geoarrow.FactString) // of several kinds: the column is text
	}
	c.EndText()
	return nil
}

// time appends a date and time. One without zone is in UTC, and a date is its midnight, as GDAL has
// it.
func (d *column) time(db *sqlite.Database, c *rows.Column, v *sqlite.Value) error {
	if us, ok := temporal.UTC(v.Bytes); ok && v.Class == sqlite.Text && db.Encoding == sqlite.UTF8 && !c.Unread {
		c.Ints = append(c.Ints, us)
		c.Filled()
		return nil
	}
	t, err := d.moment(db, v)
	if err != nil {
		return err
	}
	if t.Kind == temporal.Time || t.Digits > 6 && t.Fraction%1000 != 0 {
		return errTime
	}
	if c.Unread {
		c.Pass()
		return nil
	}
	c.Ints = append(c.Ints, (t.Seconds-int64(t.Offset))*1_000_000+int64(t.Fraction)/1000)
	c.Filled()
	return nil
}

// moment reads the text of a date or time.
func (d *column) moment(db *sqlite.Database, v *sqlite.Value) (temporal.Value, error) {
	if v.Class != sqlite.Text {
		return temporal.Value{}, d.errClass(v.Class)
	}
	text := v.Bytes
	if db.Encoding != sqlite.UTF8 {
		var err error
		if text, err = db.AppendText(nil, text); err != nil {
			return temporal.Value{}, err
		}
	}
	t, ok := temporal.Parse(text)
	if !ok && d.store == storeDate {
		return t, errDate
	}
	if !ok || t.Digits == 255 {
		return t, errTime
	}
	return t, nil
}

// date appends the days since 1970-01-01.
func (d *column) date(db *sqlite.Database, c *rows.Column, v *sqlite.Value) error {
	t, err := d.moment(db, v)
	if err != nil {
		return err
	}
	if t.Kind != temporal.Date {
		return errDate
	}
	if c.Unread {
		c.Pass()
		return nil
	}
	c.Ints = append(c.Ints, int64(t.Days()))
	c.Filled()
	return nil
}

// inUTF8 reads the texts of default values, which are parts of the schema's SQL as UTF-8.
var inUTF8 = &sqlite.Database{Encoding: sqlite.UTF8}

// defaultTo appends the default value.
func (d *column) defaultTo(c *rows.Column) error { return d.append(inUTF8, c, &d.missing) }
