package uploads

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/protobuf/proto"
)

// queue is messages that came.
type queue []*flight.FlightData

func (q *queue) Recv() (*flight.FlightData, error) {
	if len(*q) == 0 {
		return nil, io.EOF
	}
	d := (*q)[0]
	*q = (*q)[1:]
	return d, nil
}

func (q *queue) Send(d *flight.FlightData) error {
	*q = append(*q, proto.Clone(d).(*flight.FlightData))
	return nil
}

// sent are the messages of a record.
func sent(t testing.TB, rec arrow.Record, opts ...ipc.Option) queue {
	t.Helper()
	var q queue
	w := flight.NewRecordWriter(&q, append(opts, ipc.WithSchema(rec.Schema()))...)
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	return q
}

// oneColumn is a record of one column, of which JSON says the values.
func oneColumn(t testing.TB, typ arrow.DataType, values string) arrow.Record {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(values))
	if err != nil {
		t.Fatal(err)
	}
	return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ, Nullable: true}}, nil),
		[]arrow.Array{a}, int64(a.Len()))
}

// of is an array of a type over buffers that hold anything.
func of(typ arrow.DataType, n, nulls int, children []arrow.ArrayData, buffers ...[]byte) arrow.ArrayData {
	var bs []*memory.Buffer
	for _, b := range buffers {
		if b == nil {
			bs = append(bs, nil)
			continue
		}
		bs = append(bs, memory.NewBufferBytes(b))
	}
	return array.NewData(typ, n, bs, children, nulls, 0)
}

func int32s(values ...int32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func TestWhole(t *testing.T) {
	flat := of(arrow.PrimitiveTypes.Int32, 2, 0, nil, nil, int32s(1, 2))
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int32}
	coded := func(indices ...byte) arrow.ArrayData {
		values := array.NewData(arrow.PrimitiveTypes.Int32, 2, flat.Buffers(), nil, 0, 0)
		return array.NewDataWithDictionary(dictionary, len(indices),
			[]*memory.Buffer{nil, memory.NewBufferBytes(indices)}, 0, 0, values)
	}
	union := arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}}, []arrow.UnionTypeCode{5})
	tests := []struct {
		name string
		data arrow.ArrayData
		want string // in the error; "": none
	}{
		{"fixed", flat, ""},
		{"fixed, short", of(arrow.PrimitiveTypes.Int32, 3, 0, nil, nil, int32s(1, 2)), "too short"},
		{"bits", of(arrow.FixedWidthTypes.Boolean, 9, 0, nil, nil, []byte{1, 1}), ""},
		{"bits, short", of(arrow.FixedWidthTypes.Boolean, 9, 0, nil, nil, []byte{1}), "too short"},
		{"nulls", of(arrow.PrimitiveTypes.Int32, 2, 1, nil, []byte{1}, int32s(1, 2)), ""},
		{
			"nulls, miscounted", of(arrow.PrimitiveTypes.Int32, 2, 2, nil, []byte{1}, int32s(1, 2)),
			"1 rows are null, and 2",
		},
		{"nulls, nowhere", of(arrow.PrimitiveTypes.Int32, 2, 1, nil, nil, int32s(1, 2)), "nothing says which"},
		{"nulls, short", of(arrow.PrimitiveTypes.Int8, 9, 1, nil, []byte{1}, make([]byte, 9)), "too short"},
		{"text", of(arrow.BinaryTypes.String, 2, 0, nil, nil, int32s(0, 1, 3), []byte("aü")), ""},
		{"no text", of(arrow.BinaryTypes.String, 0, 0, nil, nil, nil, nil), ""},
		{
			"text, not UTF-8", of(arrow.BinaryTypes.String, 2, 0, nil, nil, int32s(0, 1, 3), []byte("a\xff\xfe")),
			"row 1 is not UTF-8",
		},
		{
			"text, cut in a character", of(arrow.BinaryTypes.String, 2, 0, nil, nil, int32s(0, 2, 3), []byte("aü")),
			"row 1 is not UTF-8",
		},
		{"bytes, not UTF-8", of(arrow.BinaryTypes.Binary, 1, 0, nil, nil, int32s(0, 1), []byte("\xff")), ""},
		{"text, beyond its end", of(arrow.BinaryTypes.String, 1, 0, nil, nil, int32s(0, 9), []byte("a")), "too short"},
		{
			"offsets, falling", of(arrow.BinaryTypes.String, 2, 0, nil, nil, int32s(0, 3, 1), []byte("abc")),
			"offset 2 is 1, after 3",
		},
		{"offsets, negative", of(arrow.BinaryTypes.String, 1, 0, nil, nil, int32s(0, -1), []byte("abc")), "after"},
		{
			"offsets, not from 0", of(arrow.BinaryTypes.String, 1, 0, nil, nil, int32s(1, 2), []byte("abc")),
			"first offset is 1",
		},
		{"offsets, short", of(arrow.BinaryTypes.String, 2, 0, nil, nil, int32s(0, 1), []byte("abc")), "too short"},
		{"list", of(arrow.ListOf(arrow.PrimitiveTypes.Int32), 1, 0, []arrow.ArrayData{flat}, nil, int32s(0, 2)), ""},
		{"list, beyond its end", of(arrow.ListOf(arrow.PrimitiveTypes.Int32), 1, 0, []arrow.ArrayData{flat},
			nil, int32s(0, 3)), "2 values, not 3"},
		{"fixed list, beyond its end", of(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), 2, 0,
			[]arrow.ArrayData{flat}, nil), "2 values, not 4"},
		{"struct, beyond its end", of(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}),
			3, 0, []arrow.ArrayData{flat}, nil), "2 values, not 3"},
		{"dictionary", coded(0, 1, 1), ""},
		{"dictionary, beyond its end", coded(0, 2), "row 1 is value 2 of a dictionary of 2"},
		{"dictionary, negative", coded(0xff), "value -1"},
		{"union", of(union, 2, 0, []arrow.ArrayData{flat}, nil, []byte{5, 5}, int32s(0, 1)), ""},
		{
			"union, no such member", of(union, 2, 0, []arrow.ArrayData{flat}, nil, []byte{5, 4}, int32s(0, 1)),
			"row 1 is of member 4",
		},
		{
			"union, beyond its end", of(union, 2, 0, []arrow.ArrayData{flat}, nil, []byte{5, 5}, int32s(0, 2)),
			"row 1 is value 2",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := checkArray(tt.data)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestRecords reads every type that is read, and views as what they are views of.
func TestRecords(t *testing.T) {
	tests := []struct {
		name   string
		typ    arrow.DataType
		values string
		want   arrow.DataType // nil: typ
	}{
		{"int", arrow.PrimitiveTypes.Int64, `[1,null,-3]`, nil},
		{"null", arrow.Null, `[null,null]`, nil},
		{"text", arrow.BinaryTypes.String, `["a",null,"ü"]`, nil},
		{"large text", arrow.BinaryTypes.LargeString, `["a",null]`, nil},
		{"list", arrow.ListOf(arrow.BinaryTypes.String), `[["a"],null,[]]`, nil},
		{
			"struct", arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}),
			`[{"a":1},null]`, nil,
		},
		{
			"map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8),
			`[[{"key":"a","value":1}],null]`, nil,
		},
		{
			"dictionary", &arrow.DictionaryType{
				IndexType: arrow.PrimitiveTypes.Int8,
				ValueType: arrow.BinaryTypes.String,
			},
			`["a",null,"a","b"]`, nil,
		},
		{
			"view", arrow.BinaryTypes.StringView, `["a",null,"longer than the twelve bytes inside"]`,
			arrow.BinaryTypes.String,
		},
	}
	for i, tt := range slices.Repeat(tests, 3) {
		codec := i / len(tests)
		t.Run(tt.name+[]string{"", ", LZ4", ", Zstandard"}[codec], func(t *testing.T) {
			rec := oneColumn(t, tt.typ, tt.values)
			q := sent(t, rec, [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}}[codec]...)
			// a descriptor may come alone
			r, err := NewRecords(&flight.FlightData{FlightDescriptor: &flight.FlightDescriptor{}}, &q, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Release()
			want := tt.want
			if want == nil {
				want = tt.typ
			}
			got, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !arrow.TypeEqual(r.Schema().Field(0).Type, want) || got.NumRows() != rec.NumRows() ||
				got.Column(0).NullN() != rec.Column(0).NullN() {
				t.Errorf("got %v", got)
			}
			for i := range int(rec.NumRows()) {
				if a, b := got.Column(0).ValueStr(i), rec.Column(0).ValueStr(i); a != b {
					t.Errorf("row %d is %s, want %s", i, a, b)
				}
			}
			if _, err := r.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("after the last one: %v", err)
			}
		})
	}
}

// TestViewsInside copies views in lists and structs.
func TestViewsInside(t *testing.T) {
	views := oneColumn(t, arrow.BinaryTypes.StringView,
		`["a","longer than the twelve bytes inside",null]`).Column(0).Data()
	list := of(arrow.ListOf(arrow.BinaryTypes.StringView), 2, 0, []arrow.ArrayData{views}, nil, int32s(0, 2, 3))
	got, err := withoutViewsOf(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkArray(got); err != nil || !arrow.TypeEqual(got.DataType(), arrow.ListOf(arrow.BinaryTypes.String)) {
		t.Fatalf("%v, %v", got.DataType(), err)
	}
	if s := array.MakeFromData(got).String(); s != `[["a" "longer than the twelve bytes inside"] [(null)]]` {
		t.Errorf("got %s", s)
	}
}

func TestRefused(t *testing.T) {
	rec := oneColumn(t, arrow.PrimitiveTypes.Int64, `[1,2]`)
	good := sent(t, rec)
	header := bytes.Clone(good[1].DataHeader)
	runs := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32)
	tests := []struct {
		name string
		sent queue
		want string
	}{
		{"nothing", nil, "no schema"},
		{"no schema", good[1:], "schema"},
		{"cut header", queue{good[0], {DataHeader: header[:20], DataBody: good[1].DataBody}}, "damaged"},
		{"cut body", queue{good[0], {DataHeader: header, DataBody: good[1].DataBody[:8]}}, "of a body of 8"},
		{"no message", queue{{DataHeader: []byte("nonsense, and then some")}}, ""},
		{"run-end encoded", sent(t, array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "r", Type: runs}}, nil),
			[]arrow.Array{array.NewRunEndEncodedBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32,
				arrow.PrimitiveTypes.Int32).NewArray()}, 0)), "run-end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := readAll(tt.sent)
			var message *MessageError
			if !errors.As(err, &message) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestCompressedRefused sends buffers that are not what they say: another codec's, cut, longer,
// shorter, larger than what may be unpacked.
func TestCompressedRefused(t *testing.T) {
	many := "[" + strings.Repeat("7,", 50_000) + "7]"
	for name, option := range map[string]ipc.Option{"lz4": ipc.WithLZ4(), "zstd": ipc.WithZstd()} {
		rec := oneColumn(t, arrow.PrimitiveTypes.Int64, many)
		q := sent(t, rec, option)
		if err := readAll(slices.Clone(q)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body := q[1].DataBody
		at := bytes.Index(body, binary.LittleEndian.AppendUint64(nil, 8*50_001)) // the values
		for _, tt := range []struct {
			name string
			says int64
			want string
		}{
			{"shorter", 8*50_001 - 1, "more bytes"},
			{"nothing", 1, "more bytes"},
			{"longer", 8*50_001 + 1, "and says 400009"},
			{"larger than the limit", 1<<20 + 1, "--max-message-bytes"},
			{"larger than memory", 1 << 60, "--max-message-bytes"},
			{"less than nothing", -2, "-2 bytes"},
		} {
			changed := bytes.Clone(body)
			binary.LittleEndian.PutUint64(changed[at:], uint64(tt.says))
			err := readAll(queue{q[0], {DataHeader: q[1].DataHeader, DataBody: changed}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %s: got %v, want %q", name, tt.name, err, tt.want)
			}
			if large := strings.Contains(tt.want, "--"); errors.Is(err, ErrUnpacked) != large {
				t.Errorf("%s, %s: %v is ErrUnpacked: %t", name, tt.name, err, !large)
			}
		}
		changed := bytes.Clone(body)
		changed[at+prefixBytes] ^= 0xff
		if err := readAll(queue{q[0], {DataHeader: q[1].DataHeader, DataBody: changed}}); err == nil ||
			!strings.Contains(err.Error(), "does not unpack") {
			t.Errorf("%s, damaged: %v", name, err)
		}
		as := bytes.Clone(body) // not packed, it says
		binary.LittleEndian.PutUint64(as[at:], math.MaxUint64)
		if err := readAll(queue{q[0], {DataHeader: q[1].DataHeader, DataBody: as}}); err == nil {
			t.Errorf("%s: packed bytes are taken for values", name)
		}
		var in Bytes
		of := sent(t, oneColumn(t, arrow.BinaryTypes.Binary, `["AQID"]`), option)
		_, err := in.Next(of[0])
		if err == nil {
			_, err = in.Next(of[1])
		}
		if err == nil || !strings.Contains(err.Error(), "compressed") {
			t.Errorf("%s: bytes of a file: %v", name, err)
		}
	}
}

// readAll reads all records.
func readAll(q queue) error {
	first, err := q.Recv()
	if err != nil {
		first = &flight.FlightData{}
	}
	r, err := NewRecords(first, &q, 1<<20)
	if err != nil {
		return err
	}
	defer r.Release()
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestBytes(t *testing.T) {
	rows := func(typ arrow.DataType, values string) queue { return sent(t, oneColumn(t, typ, values)) }
	one := oneColumn(t, arrow.BinaryTypes.Binary, `["AQID"]`).Column(0)
	two := array.NewRecord(arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: one.DataType()},
		{Name: "b", Type: one.DataType()},
	}, nil), []arrow.Array{one, one}, 1)
	b := rows(arrow.BinaryTypes.Binary, `["AQID","","BA=="]`) // base64
	tests := []struct {
		name string
		sent queue
		want string
		err  string
	}{
		{"binary", b, "\x01\x02\x03\x04", ""},
		{"large binary", rows(arrow.BinaryTypes.LargeBinary, `["AQID","BA=="]`), "\x01\x02\x03\x04", ""},
		{
			"several batches",
			queue{b[0], b[1], {AppMetadata: []byte("x")}, b[1]},
			"\x01\x02\x03\x04\x01\x02\x03\x04", "",
		},
		{"no rows", rows(arrow.BinaryTypes.Binary, `[]`), "", ""},
		{"nothing", nil, "", ""},
		{"null", rows(arrow.BinaryTypes.Binary, `["AQID",null]`), "", "null"},
		{"text", rows(arrow.BinaryTypes.String, `["a"]`), "", "binary"},
		{"two columns", sent(t, two), "", "2 columns"},
		{"no schema", b[1:], "", "before their schema"},
		{"two schemas", queue{b[0], b[0]}, "", "second schema"},
		{"another batch", queue{b[0], rows(arrow.PrimitiveTypes.Int64, `[1]`)[1]}, "", "arrays and"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var in Bytes
			var got []byte
			var failed error
			for _, d := range tt.sent {
				part, err := in.Next(d)
				if err != nil {
					failed = err
					break
				}
				got = append(got, part...)
			}
			if tt.err == "" && (failed != nil || string(got) != tt.want) || tt.err != "" &&
				(failed == nil || !strings.Contains(failed.Error(), tt.err)) {
				t.Errorf("got %q, %v, want %q, %q", got, failed, tt.want, tt.err)
			}
		})
	}
}

// FuzzUploads sends anything after a schema, or in its place. No reader may panic, or take what
// no client sent.
func FuzzUploads(f *testing.F) {
	for _, rec := range []arrow.Record{
		oneColumn(f, arrow.BinaryTypes.Binary, `["AQID","BA=="]`),
		oneColumn(f, arrow.ListOf(arrow.BinaryTypes.String), `[["a"],null]`),
		oneColumn(f, arrow.BinaryTypes.StringView, `["a","longer than the twelve bytes inside"]`),
		oneColumn(f, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
			`["a","b"]`),
	} {
		for _, opts := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
			q := sent(f, rec, opts...)
			last := q[len(q)-1]
			f.Add(q[0].DataHeader, last.DataHeader, last.DataBody)
		}
	}
	f.Fuzz(func(_ *testing.T, schema, header, body []byte) {
		q := queue{{DataHeader: schema}, {DataHeader: header, DataBody: body}, {DataHeader: header, DataBody: body}}
		_ = readAll(q)
		var in Bytes
		for _, d := range q {
			if _, err := in.Next(d); err != nil {
				break
			}
		}
	})
}
