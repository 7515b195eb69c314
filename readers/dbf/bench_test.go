package dbf_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parcels returns a table like the attributes of a land register: texts of a half, numbers and
// dates of the other.
func parcels(records int) []byte {
	var b bytes.Buffer
	for i := range records {
		k := i * 2654435761 % 1000003
		fmt.Fprintf(&b, " %-16s%-30s%-40s%-20s%5d%14.3f%12d%4d%8d%s", fmt.Sprint("P-", k*811),
			fmt.Sprintf("Owner %d, LLC", k%5000), fmt.Sprintf("%d Ocean Dr", k%9999),
			[]string{"Miami", "Tampa", "Orlando"}[k%3], 32000+k%999, float64(k)*1.377, k*7919, 1950+k%75,
			20050101+k%28, []string{"T", "F"}[k&1])
	}
	return table{fields: []field{
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
	}, raw: b.Bytes(), count: records}.bytes()
}

// BenchmarkRead reads a table with one worker: MB/s is MB per CPU-second. VIBEFLIGHT_BENCH_DBF
// names another file.
func BenchmarkRead(b *testing.B) {
	path := os.Getenv("VIBEFLIGHT_BENCH_DBF")
	if path == "" {
		path = filepath.Join(b.TempDir(), "parcels.dbf")
		if err := os.WriteFile(path, parcels(100_000), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	src, err := source.Open("parcels.dbf", path)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	f := dbf.Format()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(src.Size)
			for b.Loop() {
				layout, err := f.Open(context.Background(), src, opts)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := readers.Read(context.Background(), f, f.CPU(layout), src, readers.Limits{Workers: workers},
					nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecords reads records only, as a shapefile does, without making batches of them.
func BenchmarkRecords(b *testing.B) {
	path := os.Getenv("VIBEFLIGHT_BENCH_DBF")
	if path == "" {
		path = filepath.Join(b.TempDir(), "parcels.dbf")
		if err := os.WriteFile(path, parcels(100_000), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	src, err := source.Open("parcels.dbf", path)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	opts, err := dbf.Format().ParseOptions(nil)
	if err != nil {
		b.Fatal(err)
	}
	h, err := dbf.ReadHeader(context.Background(), src, opts)
	if err != nil {
		b.Fatal(err)
	}
	r, err := h.NewReader(src, readers.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(src.Size)
	for b.Loop() {
		for at := int64(0); at < h.Records; at += 8192 {
			if _, err := r.Read(context.Background(), at, min(at+8192, h.Records)); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// field is a descriptor of a table that a test makes.
type field struct {
	name             string
	kind             byte
	length, decimals int
}

// table is one that a test makes, of dBASE III where nothing else is said.
type table struct {
	version  byte
	driver   byte
	fields   []field
	flags    []byte   // of the fields, in Visual FoxPro
	records  []string // with their deletion flags
	raw      []byte   // in place of records, with their count
	count    int
	promised int    // in place of the count, if not 0
	behind   []byte // between the fields and the records; nil: 0x0D
	length   int    // of a record, in place of the sum
	rest     []byte // after the records
}

func (t table) bytes() []byte {
	if t.version == 0 {
		t.version = 3
	}
	if t.behind == nil {
		t.behind = []byte{0x0D}
	}
	if t.raw == nil {
		for _, r := range t.records {
			t.raw = append(t.raw, r...)
		}
		t.count = len(t.records)
	}
	if t.promised != 0 {
		t.count = t.promised
	}
	head := make([]byte, 32, 32+32*len(t.fields))
	sum := 1
	for i, f := range t.fields {
		d := make([]byte, 32)
		copy(d[:11], f.name)
		d[11], d[16], d[17] = f.kind, byte(f.length), byte(f.decimals)
		if f.kind == 'C' && f.length > 255 {
			d[17] = byte(f.length >> 8)
		}
		if i < len(t.flags) {
			d[18] = t.flags[i]
		}
		sum += f.length
		head = append(head, d...)
	}
	if t.length != 0 {
		sum = t.length
	}
	head[0], head[1], head[2], head[3], head[29] = t.version, 126, 11, 22, t.driver
	binary.LittleEndian.PutUint32(head[4:], uint32(t.count))
	binary.LittleEndian.PutUint16(head[8:], uint16(len(head)+len(t.behind)))
	binary.LittleEndian.PutUint16(head[10:], uint16(sum))
	return append(append(append(head, t.behind...), t.raw...), t.rest...)
}
