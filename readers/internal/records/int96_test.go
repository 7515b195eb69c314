package records

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

func TestInt96(t *testing.T) {
	for _, c := range []struct {
		name       string
		day, clock int64
		want       int64
		ok         bool
	}{
		{"1970", 2440588, 0, 0, true},
		{"the nanosecond before", 2440587, dayNs - 1, -1, true},
		{"the last one", 2440588 + 106751, math.MaxInt64 - 106751*dayNs, math.MaxInt64, true},
		{"beyond it", 2440588 + 106751, math.MaxInt64 - 106751*dayNs + 1, 0, false},
		{"the first one", 2440588 - 106752, math.MinInt64 + 106751*dayNs + dayNs, math.MinInt64, true},
		{"before it", 2440588 - 106752, math.MinInt64 + 106751*dayNs + dayNs - 1, 0, false},
		{"the year 1", 1721426, 0, 0, false},
		{"the year 9999", 5373484, 0, 0, false},
		{"no time of a day", 2440588, -1, 0, false},
	} {
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(c.clock)), uint32(c.day))
		if ns, ok := int96(b); ok != c.ok || ok && ns != c.want {
			t.Errorf("%s: got %d, %t, want %d, %t", c.name, ns, ok, c.want, c.ok)
		}
	}
}

// TestWithoutBadTimes has the rows of an array that begins within its buffers.
func TestWithoutBadTimes(t *testing.T) {
	var b []byte
	for _, day := range []uint32{0, 2440588, 0, 2440589} {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, 0), day)
	}
	of := NewInt96("")
	for _, valid := range [][]byte{nil, {0b1111}} {
		var bitmap *memory.Buffer
		if valid != nil {
			bitmap = memory.NewBufferBytes(valid)
		}
		data := array.NewData(of, 3, []*memory.Buffer{bitmap, memory.NewBufferBytes(b)}, nil, 0, 1)
		if _, err := (rows{data, 0, 3}).read(); err == nil {
			t.Error("day 0 of the Julian calendar is read")
		}
		var bad []int
		clean := withoutBadTimes(rows{data, 0, 3}, func(row int) { bad = append(bad, row) })
		c, err := rows{clean, 0, 3}.read()
		if err != nil || c.Nulls != 1 || len(bad) != 1 || bad[0] != 1 || le64(c.Values[16:]) != dayNs {
			t.Errorf("got %v, %d nulls, rows %v, %v", err, c.Nulls, bad, c.Values)
		}
	}
}
