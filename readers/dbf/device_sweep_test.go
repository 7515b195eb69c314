package dbf_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// devices are engines with chunks so small that most tables are several chunks, down to a record.
func devices(t *testing.T) readertest.Devices {
	return readertest.NewDevices(t, dbf.Format(), 60, 200, 700, 2000)
}

// TestDeviceGolden reads the files of testdata as they are, and with their records several times if
// they are few.
func TestDeviceGolden(t *testing.T) {
	list := devices(t)
	list.Golden(t, func(in readertest.Input) []readertest.Input {
		longer := in
		longer.Text, longer.Limits.BatchRows = repeated(in.Text, 1+6000/(1+len(in.Text))), 8
		return []readertest.Input{in, longer}
	})
	list.Accepted(t, 150, 0.5)
}

// repeated returns a table with its records n times, if its header is one.
func repeated(text []byte, times int) []byte {
	if len(text) < 32 {
		return text
	}
	count, start, length := int(binary.LittleEndian.Uint32(text[4:])), int(binary.LittleEndian.Uint16(text[8:])),
		int(binary.LittleEndian.Uint16(text[10:]))
	if start+count*length > len(text) {
		return text
	}
	out := slices.Concat(text[:start], bytes.Repeat(text[start:start+count*length], times))
	binary.LittleEndian.PutUint32(out[4:], uint32(count*times))
	return out
}

// TestDeviceSplits has chunks begin and end at every byte of a small table, and one that is cut off.
func TestDeviceSplits(t *testing.T) {
	text := table{
		fields: []field{{"N", 'N', 4, 1}, {"C", 'C', 5, 0}, {"L", 'L', 1, 0}},
		records: []string{
			"  1.5ab   T", "*xxxx     ?", " -2.0 c d F", "     12345?", " ****     t",
			" 1e1     xY",
		},
	}.bytes()
	in := readertest.Input{Name: "a.dbf", Text: text, Options: map[string]any{"on_error": "skip"}}
	readertest.DeviceSplits(t, dbf.Format(), in, 1, 1)
}

// TestDeviceSweep reads random tables. Some have fields that devices do not read, some are invalid.
func TestDeviceSweep(t *testing.T) {
	readertest.Sweep{Format: dbf.Format(), Documents: 2000, Document: sweepOnDevice}.Device(t, devices(t), 1, 0.5)
}

// sweepOnDevice is the table of a seed.
func sweepOnDevice(seed uint64) readertest.Input {
	r := rand.New(rand.NewPCG(seed, 14))
	in := sweepInput(r, "CNNFDL", "CNNFDLIBYTVX@+OMQG"[:15+r.IntN(2)*3], 40)
	if r.IntN(2) == 0 {
		in.Limits.BatchRows = 1 + r.IntN(30)
	}
	if r.IntN(8) == 0 {
		in.Options["memo"] = "ignore"
	}
	return in
}

// TestDeviceMutants has one mistake, at each byte. Left out or put in, a byte moves all that
// follows.
func TestDeviceMutants(t *testing.T) {
	text := longer(everyType(rand.New(rand.NewPCG(7, 3)), 2, "ab", " c "), 8)
	head, length := int(binary.LittleEndian.Uint16(text[8:])), int(binary.LittleEndian.Uint16(text[10:]))
	d := readertest.NewDevice(t, dbf.Format(), int64(2*length))
	d.Mutants(t, readertest.Input{Name: "a.dbf", Text: text}, head+2*length, head+4*length, " *.-+1e9T\x00\xff")
}
