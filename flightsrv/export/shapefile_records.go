package export

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/crs"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// dbfRecords writes the records of a .dbf.
type dbfRecords struct {
	fields []*dbfField
	out    *bufio.Writer
	record []byte
	number []byte
}

// create writes the header of a table of n rows.
func (t *dbfTable) create(out *os.File, n int64) (*dbfRecords, error) {
	if len(t.fields) == 1 && t.fields[0].column < 0 {
		t.fields[0].width = max(minInt64Digits, len(strconv.FormatInt(n, 10)))
	}
	record := 1 // the mark of a deleted record
	for _, d := range t.fields {
		width, _ := d.size()
		record += width
	}
	head := fieldBytes + fieldBytes*len(t.fields) + 1
	if record > math.MaxUint16 {
		return nil, fmt.Errorf("a record of the .dbf would have %d bytes, and %d is its limit; write .gpkg or .parquet",
			record, math.MaxUint16)
	}
	if size := int64(head) + n*int64(record) + 1; size > maxTableBytes {
		return nil, fmt.Errorf("the .dbf would have %d bytes, and %d is its limit; write .gpkg or .parquet",
			size, int64(maxTableBytes))
	}
	le := binary.LittleEndian
	today := time.Now().UTC()
	h := make([]byte, head)
	h[0], h[1], h[2], h[3] = 3, byte(today.Year()-1900), byte(today.Month()), byte(today.Day())
	le.PutUint32(h[4:], uint32(n))
	le.PutUint16(h[8:], uint16(head))
	le.PutUint16(h[10:], uint16(record))
	for i, d := range t.fields {
		f := h[fieldBytes*(i+1):]
		width, decimals := d.size()
		copy(f[:maxNameBytes], d.name)
		f[11], f[16], f[17] = d.kind, byte(width), byte(decimals)
	}
	h[head-1] = '\r'
	r := &dbfRecords{fields: t.fields, out: bufio.NewWriterSize(out, bufferBytes)}
	return r, write(r.out, h)
}

// Write writes a record of the cells of dbfTable.cells.
func (r *dbfRecords) Write(row int64, cells []byte) error {
	b := append(r.record[:0], ' ')
	for _, d := range r.fields {
		width, decimals := d.size()
		value := strconv.AppendInt(r.number[:0], row, 10)
		if d.column >= 0 {
			size := binary.LittleEndian.Uint16(cells)
			value, cells = nil, cells[2:]
			if size > 0 {
				value, cells = cells[:size-1], cells[size-1:]
				if d.float {
					value = r.float(d, decimals, math.Float64frombits(binary.LittleEndian.Uint64(value)))
				}
			}
		}
		pad := width - len(value)
		switch d.kind {
		case 'N':
			b = append(appendBlanks(b, pad), value...)
		case 'L':
			if value == nil {
				value = []byte("?")
			}
			b = append(b, value...)
		default:
			b = appendBlanks(append(b, value...), pad)
		}
	}
	r.record = b
	return write(r.out, b)
}

// float returns the text of a float: with the decimals of the field, or in scientific notation. Both
// have the shortest digits that are read as the same number, and zeros.
func (r *dbfRecords) float(d *dbfField, decimals int, v float64) []byte {
	if d.scientific() {
		r.number = strconv.AppendFloat(r.number[:0], v, 'e', -1, 64)
		return r.number
	}
	b := strconv.AppendFloat(r.number[:0], v, 'f', -1, 64)
	point := len(b)
	for i, c := range b {
		if c == '.' {
			point = i
		}
	}
	if point == len(b) {
		b = append(b, '.')
	}
	for len(b) < point+1+decimals {
		b = append(b, '0')
	}
	r.number = b
	return b
}

func appendBlanks(b []byte, n int) []byte {
	for range n {
		b = append(b, ' ')
	}
	return b
}

// Close writes the mark of the end.
func (r *dbfRecords) Close() error {
	if err := r.out.WriteByte(0x1a); err != nil {
		return err
	}
	return r.out.Flush()
}

// esriWKT returns the definition of a column's reference system for .prj; "" if it has none. The
// positions of a shapefile have x first, whatever the system says, so that OGC:CRS84 is EPSG:4326.
func esriWKT(f arrow.Field) (string, error) {
	system, _ := crsOf(f)
	if system == geoarrow.CRS84 {
		system = geoarrow.CRS{Authority: "EPSG", Code: "4326"}
	}
	if system.Authority == "" {
		if system.Text != "" && system.Text[0] == '{' {
			return "", errors.New("shapefile: the reference system is PROJJSON, and .prj holds WKT; write .gpkg")
		}
		return system.Text, nil
	}
	if known, ok := crs.Lookup(system.Authority, system.Code); ok {
		if text := known.ESRI(); text != "" {
			return text, nil
		}
		if text := known.WKT1(); text != "" {
			return text, nil
		}
	}
	return "", fmt.Errorf("shapefile: the reference system %s has no WKT 1, which .prj holds; write .gpkg", system)
}
