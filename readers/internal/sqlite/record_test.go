package sqlite

import (
	"errors"
	"math"
	"testing"
)

func TestVarint(t *testing.T) {
	for _, c := range []struct {
		name string
		b    string
		v    uint64
		n    int
	}{
		{"one byte", "\x7f\xff", 127, 1},
		{"two bytes", "\x81\x00", 128, 2},
		{"nine bytes", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", math.MaxUint64, 9},
		{"zeros in front", "\x80\x80\x01", 1, 3},
		{"cut", "\x81", 0, 0},
		{"nothing", "", 0, 0},
	} {
		if v, n := Varint([]byte(c.b)); v != c.v || n != c.n {
			t.Errorf("%s: got %d of %d bytes, want %d of %d", c.name, v, n, c.v, c.n)
		}
	}
}

// TestRecord reads a value of each serial type, in a payload with and without bytes after it.
func TestRecord(t *testing.T) {
	payload := "\x0d\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0e\x11" +
		"\xff" + "\x80\x00" + "\xff\xff\xfe" + "\x7f\xff\xff\xff" + "\xff\xff\xff\xff\xff\xfd" +
		"\x80\x00\x00\x00\x00\x00\x00\x00" + "\x3f\xf8\x00\x00\x00\x00\x00\x00" + "b" + "hi"
	want := []Value{
		{},
		{Class: Integer, Int: -1},
		{Class: Integer, Int: -32768},
		{Class: Integer, Int: -2},
		{Class: Integer, Int: math.MaxInt32},
		{Class: Integer, Int: -3},
		{Class: Integer, Int: math.MinInt64},
		FloatValue(1.5),
		{Class: Integer},
		{Class: Integer, Int: 1},
		{Class: Blob, Bytes: []byte("b")},
		{Class: Text, Bytes: []byte("hi")},
	}
	for _, after := range []string{"", "12345678"} {
		all := []byte(payload + after)
		var r Record
		if err := r.Open(all[:len(payload):len(all)]); err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			var v Value
			if err := r.Next(&v); err != nil {
				t.Fatal(err)
			}
			if v.Class != w.Class || string(v.Bytes) != string(w.Bytes) ||
				(w.Class == Integer || w.Class == Float) && v.Int != w.Int {
				t.Errorf("value %d: got %+v, want %+v", i, v, w)
			}
		}
		if r.More() {
			t.Error("more values")
		}
	}
}

func TestMalformedRecords(t *testing.T) {
	for _, c := range []struct {
		name, payload string
		want          error
	}{
		{"nothing", "", errRecordHeader},
		{"header beyond the payload", "\x05\x01", errRecordHeader},
		{"header of no bytes", "\x00", errRecordHeader},
		{"value beyond the payload", "\x02\x06\x00", errRecordEnd},
		{"text beyond the payload", "\x02\x11\x00", errRecordEnd},
		{"type that is not in use", "\x02\x0a\x00", errSerial},
		{"cut type", "\x02\x81\x00", errSerial},
	} {
		var r Record
		var v Value
		err := r.Open([]byte(c.payload))
		for err == nil && r.More() {
			err = r.Next(&v)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAppendText(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Encoding
		text string
		want string
		err  error
	}{
		{"UTF-8", UTF8, "é", "é", nil},
		{"not UTF-8", UTF8, "\xff", "", errUTF8},
		{"little-endian", UTF16LE, "a\x00\x34\xd8\x1e\xdd", "a𝄞", nil},
		{"big-endian", UTF16BE, "\x00a\xd8\x34\xdd\x1e", "a𝄞", nil},
		{"half a pair", UTF16LE, "\x34\xd8", "", errUTF16},
		{"wrong pair", UTF16LE, "\x34\xd8a\x00", "", errUTF16},
		{"odd bytes", UTF16LE, "a", "", errUTF16},
	} {
		d := &Database{Encoding: c.e}
		if got, err := d.AppendText([]byte("x"), []byte(c.text)); string(got) != "x"+c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
}
