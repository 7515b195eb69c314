package dataset

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// A folder named key=value gives all files below it a column, as in Hive. Key and value are
// URL-encoded. The column has the type int64 if every value is an integer as strconv.FormatInt
// writes it, else text: "01" stays what it is.

// hiveNull is the value of a folder for null.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// maxKeys bounds the columns that folders give.
const maxKeys = 28

// partition is what a folder says of the files below it.
type partition struct {
	key, value string
	null       bool
}

// partitionsOf returns the partitions of a member's path. The last folder counts if two have the
// same key.
func partitionsOf(label string) (all []partition) {
	folders := strings.Split(label, "/")
	for _, folder := range folders[:len(folders)-1] {
		key, value, ok := strings.Cut(folder, "=")
		if !ok || key == "" {
			continue
		}
		p := partition{key: unescapeURL(key), value: unescapeURL(value), null: value == hiveNull}
		replaced := false
		for i := range all {
			if all[i].key == p.key {
				all[i], replaced = p, true
			}
		}
		if !replaced {
			all = append(all, p)
		}
	}
	return all
}

// unescapeURL decodes %XX. Text that is not encoded stays as it is.
func unescapeURL(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return strings.ToValidUTF8(out, "\uFFFD")
	}
	return s
}

// isInteger reports whether a value is an integer in its shortest form.
func isInteger(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == s
}

// folderColumns are the columns that do not come from the content of files: those of folders, then
// the path. They precede all others.
type folderColumns struct {
	keys     []string
	integer  []bool
	filename string // name of the column of paths; "": none
}

// foldersOf returns the columns of the members' folders, in order of first appearance.
func foldersOf(members []member, filename string) (*folderColumns, error) {
	f := &folderColumns{filename: filename}
	at := map[string]int{}
	for i := range members {
		for _, p := range members[i].partitions {
			k, ok := at[p.key]
			if !ok {
				if len(f.keys) == maxKeys {
					return nil, fmt.Errorf("%s: more than %d keys of key=value folders", members[i].entry.Name, maxKeys)
				}
				k = len(f.keys)
				at[p.key] = k
				f.keys, f.integer = append(f.keys, p.key), append(f.integer, true)
			}
			f.integer[k] = f.integer[k] && (p.null || isInteger(p.value))
		}
	}
	return f, nil
}

// highestRank is the rank of the first folder's column among leading columns.
const highestRank = 63

func (f *folderColumns) id(i int) geoarrow.ColumnID {
	name := f.filename
	if i < len(f.keys) {
		name = f.keys[i]
	}
	return geoarrow.ColumnID{Role: geoarrow.LeadingRole(uint8(highestRank-i), false), Name: name}
}

// len returns the number of the columns.
func (f *folderColumns) len() int {
	if f.filename != "" {
		return len(f.keys) + 1
	}
	return len(f.keys)
}

// shape returns the columns as a shape to be joined with those of the members.
func (f *folderColumns) shape() *readers.Shape {
	s := &readers.Shape{}
	for i := range f.len() {
		kinds := geoarrow.FactString
		if i < len(f.keys) && f.integer[i] {
			kinds = geoarrow.FactInt64
		}
		s.IDs = append(s.IDs, f.id(i))
		s.Facts = append(s.Facts, geoarrow.Facts{Kinds: kinds})
	}
	return s
}

// text returns the value of column i for a member; "" and false for null.
func (f *folderColumns) text(i int, m *member) (value string, ok bool) {
	if i == len(f.keys) {
		return m.label, true
	}
	for _, p := range m.partitions {
		if p.key == f.keys[i] && !p.null {
			return p.value, true
		}
	}
	return "", false
}

// wantedValue is a value that a folder's column must have.
type wantedValue struct {
	text string
	null bool
}

// wanted returns the text of a value that column k must have.
func (f *folderColumns) wanted(k int, value any) (w wantedValue, err error) {
	kind := "texts"
	if f.integer[k] {
		kind = "integers"
	}
	switch value := value.(type) {
	case nil:
		return wantedValue{null: true}, nil
	case int64:
		if f.integer[k] {
			return wantedValue{text: strconv.FormatInt(value, 10)}, nil
		}
	case string:
		if !f.integer[k] {
			return wantedValue{text: value}, nil
		}
	}
	return w, &scan.PartitionError{Column: f.keys[k], What: fmt.Sprintf("has %s, and not %v", kind, value)}
}

// has reports whether a member has the values, by column.
func (f *folderColumns) has(m *member, wanted map[int]wantedValue) bool {
	for k, w := range wanted {
		text, ok := f.text(k, m)
		if ok == w.null || ok && text != w.text {
			return false
		}
	}
	return true
}

// run is the number of rows of a batch that belong to a member.
type run struct {
	member *member
	rows   int
}

// fill fills in the column of an identifier for the rows of some members. It returns an error if
// their texts are larger than a column of a batch can be.
func (f *folderColumns) fill(id geoarrow.ColumnID, col *geoarrow.Column, runs []run, rows int) error {
	for i := range f.len() {
		if f.id(i) != id {
			continue
		}
		if i < len(f.keys) && f.integer[i] {
			f.integers(i, runs, rows, col)
			return nil
		}
		return f.texts(i, runs, rows, col)
	}
	return nil
}

// bytes returns the size of column i for the rows of a member.
func (f *folderColumns) bytes(i int, r run) int64 {
	if i < len(f.keys) && f.integer[i] {
		return 8 * int64(r.rows)
	}
	text, _ := f.text(i, r.member)
	return int64(4+len(text)) * int64(r.rows)
}

func (f *folderColumns) integers(i int, runs []run, rows int, col *geoarrow.Column) {
	values := make([]int64, 0, rows)
	valid := newValidity(rows)
	for _, r := range runs {
		text, ok := f.text(i, r.member)
		n, _ := strconv.ParseInt(text, 10, 64) // the text of an integer, or 0 for null
		valid.add(r.rows, ok)
		for range r.rows {
			values = append(values, n)
		}
	}
	col.Values = geoarrow.AsBytes(values)
	col.Valid, col.Nulls = valid.result()
}

var errLongTexts = errors.New("the texts of a column of folders or paths need more than 2 GiB")

func (f *folderColumns) texts(i int, runs []run, rows int, col *geoarrow.Column) error {
	size := int64(0)
	for _, r := range runs {
		text, _ := f.text(i, r.member)
		size += int64(len(text)) * int64(r.rows)
	}
	if size > math.MaxInt32 { // offsets have 32 bits
		return errLongTexts
	}
	offsets := make([]int32, 1, rows+1)
	bytes := make([]byte, 0, size)
	valid := newValidity(rows)
	for _, r := range runs {
		text, ok := f.text(i, r.member)
		valid.add(r.rows, ok)
		for range r.rows {
			bytes = append(bytes, text...)
			offsets = append(offsets, int32(len(bytes)))
		}
	}
	col.Offsets, col.Values = offsets, bytes
	col.Valid, col.Nulls = valid.result()
	return nil
}

// validity is the bits of rows that are not null.
type validity struct {
	bits  []byte
	row   int
	nulls int
}

func newValidity(rows int) *validity { return &validity{bits: make([]byte, (rows+7)/8)} }

func (v *validity) add(rows int, ok bool) {
	for range rows {
		if ok {
			v.bits[v.row>>3] |= 1 << (v.row & 7)
		} else {
			v.nulls++
		}
		v.row++
	}
}

func (v *validity) result() (bits []byte, nulls int) {
	if v.nulls == 0 {
		return nil, 0
	}
	return v.bits, v.nulls
}
