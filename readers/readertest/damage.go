package readertest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// DamageSuite reads damaged files of a format's folder testdata, each under on_error fail, null and
// repair. It checks for each:
//
//	canonical  a table, or an error with a place in the file
//	unchanged  a file that fail reads is the same table in the other modes, to the byte, unless repair
//	           says that it reads what fail passes
//	counted    a table that fail refuses has a deviation
//	milder     repair reads what null reads
//	batches    the same rows and deviations with several workers, small parts and small batches
//	workers    the same error with one worker and with four
//	memory     less than maxAllocated allocated, whatever counts the file claims
//	device     the outcome of the CPU engine on a device, where engine is not nil
type DamageSuite struct {
	format  readers.Format
	engine  *Device
	packing Packing
	files   []golden
	given   []map[string]any // options of each file
	tokens  [][]byte
}

// NewDamaged finds the files of a format in a folder. Tokens are texts that the damage may put in.
// Three of four damages are of a part, where the format has a packing; its files may be larger.
func NewDamaged(
	t *testing.T, f readers.Format, dir string, e *Device, p Packing, tokens ...string,
) *DamageSuite {
	t.Helper()
	d := &DamageSuite{format: f, engine: e, packing: p}
	largest := 4 * smallBytes
	if p.Unpack != nil {
		largest = packedBytes
	}
	for _, token := range tokens {
		d.tokens = append(d.tokens, []byte(token))
	}
	for _, g := range goldensIn(t, f, dir) {
		if len(g.text) > largest {
			continue
		}
		times := 4 // as often as one that is an error already
		if want, err := os.ReadFile(stem(g.path) + ".want"); err != nil || bytes.HasPrefix(want, []byte("error:")) {
			times = 1
		}
		for range times {
			d.files, d.given = append(d.files, g), append(d.given, options(t, g))
		}
	}
	if len(d.files) == 0 {
		t.Fatalf("%s holds no small file of format %s", dir, f.Name)
	}
	return d
}

// layer returns a layer of a damaged file, for half of the files whose first one is read.
func (d *DamageSuite) layer(t testing.TB, in Input, r *rand.Rand) string {
	t.Helper()
	if r.IntN(2) == 0 {
		return ""
	}
	table, err := Parse(t, d.format, in)
	if err != nil || len(table.Summary.Layers) == 0 {
		return ""
	}
	return table.Summary.Layers[r.IntN(len(table.Summary.Layers))]
}

// packedBytes is the maximum size of a damaged file of a format with a packing.
const packedBytes = 256 << 10

// Read reads the file of a seed in three modes. It reports how many of them gave a table.
func (d *DamageSuite) Read(t testing.TB, seed uint64) (tables int) {
	t.Helper()
	in, r := d.input(seed)
	keepInput(t, in)
	if d.packing.Unpack != nil {
		in.Layer = d.layer(t, in, r)
	}
	var results [3]result
	for i, mode := range []string{"fail", "null", "repair"} {
		in.Options["on_error"] = mode
		results[i] = d.read(t, in, r)
		if results[i].err == nil {
			tables++
		}
	}
	if wrong := compareModes(results); wrong != nil {
		t.Errorf("%v\n%s\n%s", wrong, in.Name, clip(in.Text))
	}
	return tables
}

// result is the outcome of one mode.
type result struct {
	table *readers.Table
	err   error
}

// readsMore reports a table of repair that differs from that of fail as it may: repair reads what
// fail passes, as a KML element in the wrong case. So the first deviation that only repair has says
// "read as"; others may be in what was read. One that only fail has says "not read", or repair
// reads its place.
func (r *result) readsMore(fail *result) bool {
	if r.err != nil {
		return false
	}
	added, gone := beyond(r.table, fail.table), beyond(fail.table, r.table)
	if len(added) == 0 || !strings.HasPrefix(added[0].Done, "read as ") {
		return false
	}
	for _, d := range gone {
		read := func(a readers.Deviation) bool { return a.Offset == d.Offset && strings.HasPrefix(a.Done, "read as ") }
		if d.Done != "not read" && !slices.ContainsFunc(added, read) {
			return false
		}
	}
	return true
}

// beyond returns the deviations of a table that another table does not have, of any row.
func beyond(table, other *readers.Table) (list []readers.Deviation) {
	for _, d := range table.Summary.Deviations.First {
		same := func(o readers.Deviation) bool { o.Row = d.Row; return o == d }
		if !slices.ContainsFunc(other.Summary.Deviations.First, same) {
			list = append(list, d)
		}
	}
	return list
}

// secondCRS is in the error of a file whose rows have two reference systems. repair may read a row
// with the second one that null passes.
const secondCRS = "a table has one coordinate reference system"

// compareModes returns the defects of the outcomes of fail, null and repair.
func compareModes(results [3]result) error {
	fail, null, repair := results[0], results[1], results[2]
	if fail.err == nil {
		want := dump(fail.table)
		for i, r := range results[1:] {
			got := outcome(r.table, r.err)
			if bytes.Equal(got, want) || errorModes[2+i] == "repair" && r.readsMore(&fail) {
				continue
			}
			return fmt.Errorf("fail reads it, %s differs\ngot:\n%s\nwant:\n%s", errorModes[2+i], clip(got), clip(want))
		}
		return nil
	}
	if null.err == nil && repair.err != nil && !strings.Contains(repair.err.Error(), secondCRS) {
		return fmt.Errorf("null reads it, repair does not: %w", repair.err)
	}
	for i, r := range results[1:] {
		if r.err == nil && r.table.Summary.Deviations.IsEmpty() {
			return fmt.Errorf("fail: %w, and %s counts no deviation", fail.err, errorModes[2+i])
		}
	}
	return nil
}

// read reads a file as a whole, in small pieces, and on the device.
func (d *DamageSuite) read(t testing.TB, in Input, r *rand.Rand) result {
	t.Helper()
	table, err := d.parse(t, in)
	if wrong := d.check(in, table, err); wrong != nil {
		t.Errorf("options %v: %v\n%s\n%s", in.Options, wrong, in.Name, clip(in.Text))
	}
	if err != nil {
		d.compareWorkers(t, in, r)
	}
	if err == nil {
		want := Rows(table)
		small := in
		small.Limits = readers.Limits{BatchRows: 1 + r.IntN(5), Workers: 1 + r.IntN(3), PartBytes: 20 + r.Int64N(200)}
		switch again, err := Parse(t, d.format, small); {
		case err != nil:
			t.Errorf("options %v, limits %+v: %v\n%s\n%s", in.Options, small.Limits, err, in.Name, clip(in.Text))
		case Rows(again) != want:
			t.Errorf("options %v, limits %+v\ngot:\n%s\nwant:\n%s\n%s\n%s", in.Options, small.Limits,
				Rows(again), want, in.Name, clip(in.Text))
		}
	}
	if d.engine != nil {
		d.engine.Same(t, in)
	}
	return result{table, err}
}

// maxAllocated is the maximum number of bytes that the parse of a damaged file allocates. Other
// tests allocate at the same time.
const maxAllocated = 1 << 30

// parse reads a file and checks how much it allocates. It reads once more before it reports a
// defect, because the other formats are read at the same time.
func (d *DamageSuite) parse(t testing.TB, in Input) (table *readers.Table, err error) {
	t.Helper()
	var grown uint64
	for range 3 {
		before := allocated()
		table, err = Parse(t, d.format, in)
		if grown = allocated() - before; grown < maxAllocated {
			return table, err
		}
	}
	t.Errorf("options %v: %d bytes were allocated\n%s\n%s", in.Options, grown, in.Name, clip(in.Text))
	return table, err
}

// allocated returns the bytes that this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// compareWorkers reads a file that is an error with one worker and with four, in the same small
// parts.
func (d *DamageSuite) compareWorkers(t testing.TB, in Input, r *rand.Rand) {
	t.Helper()
	in.Limits = readers.Limits{BatchRows: 1 + r.IntN(5), Workers: 1, PartBytes: 20 + r.Int64N(200)}
	_, one := Parse(t, d.format, in)
	in.Limits.Workers = 4
	_, four := Parse(t, d.format, in)
	if fmt.Sprint(one) != fmt.Sprint(four) {
		t.Errorf("options %v, limits %+v\none worker: %v\nfour: %v\n%s\n%s", in.Options, in.Limits, one, four, in.Name,
			clip(in.Text))
	}
}

// keepInput writes a file before it is read to where VIBEFLIGHT_DAMAGED says, so that it is there
// after a crash.
func keepInput(t testing.TB, in Input) {
	t.Helper()
	folder := os.Getenv("VIBEFLIGHT_DAMAGED")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, filepath.Base(in.Name)), in.Text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// check returns the defects of an outcome. The position of an error may be in a sibling.
func (d *DamageSuite) check(in Input, table *readers.Table, err error) error {
	if err == nil {
		return Canonical(table)
	}
	place, wrong := Place(err)
	if wrong != nil || place == nil || place.Name != in.Name && len(in.Siblings) > 0 {
		return wrong
	}
	return checkError(d.format, in, err)
}

// input returns the file of a seed: one of testdata, with one to three damages, mostly one. In one
// of eight its sibling is damaged, where it has one.
func (d *DamageSuite) input(seed uint64) (Input, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, 28))
	k := r.IntN(len(d.files))
	file := d.files[k]
	if each := file.each(); len(each) > 1 {
		file = each[r.IntN(len(each))]
	}
	in := file.input(file.bytes())
	in.Options = map[string]any{}
	maps.Copy(in.Options, d.given[k])
	for range max(1, r.IntN(7)-3) {
		if file.replaced != "" {
			in.Members[file.replaced] = d.damage(in.Members[file.replaced], r)
		} else {
			in.Text = d.damageFile(in.Text, r)
		}
	}
	if names := slices.Sorted(maps.Keys(in.Siblings)); len(names) > 0 && r.IntN(8) == 0 {
		name := names[r.IntN(len(names))]
		in.Siblings = maps.Clone(in.Siblings)
		in.Siblings[name] = d.damage(in.Siblings[name], r)
	}
	return in, r
}

// damageFile changes one place of a file, or of one of its parts.
func (d *DamageSuite) damageFile(text []byte, r *rand.Rand) []byte {
	if d.packing.Unpack == nil || r.IntN(4) == 0 {
		return d.damage(text, r)
	}
	parts, ok := d.packing.Unpack(text)
	if !ok {
		return d.damage(text, r)
	}
	k := r.IntN(len(parts))
	for range 8 { // most of a small database is empty
		if len(bytes.Trim(parts[k], "\x00")) > 0 {
			break
		}
		k = r.IntN(len(parts))
	}
	parts[k] = d.damage(parts[k], r)
	return d.packing.Pack(text, parts)
}

// damage changes one place of a text: a bit, a byte, a run of bytes left out, doubled, moved or
// overwritten, a token put in, or the end cut off.
func (d *DamageSuite) damage(text []byte, r *rand.Rand) []byte {
	if len(text) == 0 {
		return []byte{byte(r.UintN(256))}
	}
	at := r.IntN(len(text))
	for k := 0; d.packing.Unpack != nil && k < 8 && text[at] == 0; k++ {
		at = r.IntN(len(text))
	}
	end := min(len(text), at+1+r.IntN(12))
	before, run, rest := text[:at], text[at:end], text[end:]
	switch r.IntN(10) {
	case 0:
		flipped := slices.Clone(text)
		flipped[at] ^= 1 << r.UintN(8)
		return flipped
	case 1:
		return slices.Concat(before, []byte{byte(r.UintN(256))}, text[at+1:])
	case 2:
		return slices.Concat(before, rest)
	case 3:
		return slices.Concat(before, run, run, rest)
	case 4:
		to := r.IntN(len(text))
		moved := slices.Clone(text)
		copy(moved[to:], run)
		return moved
	case 5:
		if r.IntN(4) == 0 {
			return slices.Clone(before)
		}
		return slices.Concat(before, text[at+1:])
	case 6, 7:
		return slices.Concat(before, d.tokens[r.IntN(len(d.tokens))], rest)
	default:
		return slices.Concat(before, d.tokens[r.IntN(len(d.tokens))], text[at:])
	}
}
