package json

import (
	"encoding/binary"
	"testing"
)

// SameHashes are names of 24 bytes that have the same hash under seed: their first word is what the
// hash is before it, the third what it is after the second, and each makes it 0.
func SameHashes(seed uint64, n int) []string {
	names := make([]string, n)
	for i := range names {
		b := binary.LittleEndian.AppendUint64(nil, fieldHash(seed, 24))
		b = binary.LittleEndian.AppendUint64(b, uint64(i)+1)
		names[i] = string(binary.LittleEndian.AppendUint64(b, fieldHash(0, uint64(i)+1)))
	}
	return names
}

// Names that were chosen to have one hash get another seed; no search looks far.
func TestFieldNamesOfOneHash(t *testing.T) {
	names := SameHashes(0, 5000)
	zero := fieldTable{slots: make([]fieldSlot, 1)}
	for _, name := range names {
		if h := zero.hash(name); h != 0 {
			t.Fatalf("hash of %q is %x, want 0", name, h)
		}
	}
	_, at, _, err := packNames(names)
	if err != nil {
		t.Fatal(err)
	}
	table, err := hashNames(names, at)
	if err != nil {
		t.Fatal(err)
	}
	if table.seed == 0 || table.reach > 64 {
		t.Errorf("seed %x, searches of up to %d slots", table.seed, table.reach)
	}
}

// The names of MaxFields fields are found soon.
func TestFieldNamesAreSpread(t *testing.T) {
	names := make([]string, MaxFields)
	for i := range names {
		names[i] = string(binary.BigEndian.AppendUint32([]byte("field"), uint32(i)))
	}
	_, at, _, err := packNames(names)
	if err != nil {
		t.Fatal(err)
	}
	table, err := hashNames(names, at)
	if err != nil {
		t.Fatal(err)
	}
	if table.seed != 0 || table.reach > 32 {
		t.Errorf("seed %x, searches of up to %d slots", table.seed, table.reach)
	}
}
