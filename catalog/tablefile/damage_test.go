package tablefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// small returns a table whose file has a few kilobytes.
func small(t testing.TB) *readers.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	table := randomTable(t, r, mix{
		[]geoarrow.Kind{geoarrow.Polygon, geoarrow.MultiPolygon},
		[]geoarrow.Dim{geoarrow.XY},
	}, 5, 3)
	for _, b := range table.Batches {
		b.Attributes = append(b.Attributes[:1:1], b.Attributes[5], b.Attributes[22])
	}
	table.IDs, table.Facts = append(table.IDs[:1:1], table.IDs[5], table.IDs[22]),
		append(table.Facts[:1:1], table.Facts[5], table.Facts[22])
	return table
}

// survives opens a file that may be damaged. It returns the error of any step, if that is an
// expected one, and else compares the table.
func survives(t testing.TB, f files.File, want *readers.Table) error {
	t.Helper()
	err := func() error {
		file, err := Open(f)
		if err != nil {
			return err
		}
		defer file.Release()
		table := file.Table()
		for i := range table.Batches {
			if err := table.Check(i); err != nil {
				return err
			}
			for _, box := range queries {
				if _, err := table.Search(i, box); err != nil {
					return err
				}
			}
		}
		if err := same(table, want); err != nil {
			t.Fatalf("another table: %v", err)
		}
		checkTable(t, file, want)
		return nil
	}()
	if err != nil && (!errors.Is(err, readers.ErrDamaged) || !strings.HasPrefix(err.Error(), f.Name()+": ")) {
		t.Fatalf("no damage, or of no file: %v", err)
	}
	return err
}

func TestEveryFlip(t *testing.T) {
	table, f := small(t), create(t)
	writeTable(t, f, table)
	text := content(t, f)
	guarded := guards(t, f)
	for i := range text {
		for bit := range 8 {
			if testing.Short() && bit != i*5%24 {
				continue
			}
			write(t, f, []byte{text[i] ^ 1<<bit}, i)
			if found := survives(t, f, table) != nil; found != guarded[i] {
				t.Errorf("byte %d, bit %d: damage is found: %t", i, bit, found)
			}
		}
		write(t, f, text[i:i+1], i)
	}
	if survives(t, f, table) != nil {
		t.Error("the file as it was is damaged")
	}
	noMappings(t)
}

// guards returns, for each byte of a file, whether a sum protects it. The head, the end of the
// stream and the gaps between regions are unprotected.
func guards(t testing.TB, f files.File) []bool {
	t.Helper()
	all := make([]bool, len(content(t, f)))
	file := open(t, f)
	defer file.Release()
	mark := func(e extent) {
		for i := range all[e.offset:][:e.length] {
			all[e.offset+int64(i)] = true
		}
	}
	for i := range file.bodies {
		mark(file.bodies[i].extent)
		mark(file.trees[i].extent)
	}
	end, err := parseTail(content(t, f)[len(all)-tailBytes:], int64(len(all)))
	if err != nil {
		t.Fatal(err)
	}
	mark(extent{end.footer.offset, end.footer.length + tailBytes})
	return all
}

func write(t testing.TB, f files.File, b []byte, at int) {
	t.Helper()
	if _, err := f.WriteAt(b, int64(at)); err != nil {
		t.Fatal(err)
	}
}

func rewrite(t testing.TB, f files.File, b []byte) {
	t.Helper()
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	write(t, f, b, 0)
}

func TestEveryTruncation(t *testing.T) {
	table, f := small(t), create(t)
	writeTable(t, f, table)
	text := content(t, f)
	write(t, f, []byte{0}, len(text))
	if survives(t, f, table) == nil {
		t.Error("a byte more is no damage")
	}
	for n := len(text) - 1; n >= 0; n-- {
		if err := f.Truncate(int64(n)); err != nil {
			t.Fatal(err)
		}
		if survives(t, f, table) == nil {
			t.Errorf("%d bytes of %d are no damage", n, len(text))
		}
	}
	noMappings(t)
}

func TestOtherVersion(t *testing.T) {
	f := create(t)
	writeTable(t, f, small(t))
	write(t, f, []byte{layoutVersion + 1}, len(content(t, f))-tailBytes+8)
	_, err := Open(f)
	want := fmt.Sprintf("version %d, not %d", layoutVersion+1, layoutVersion)
	if !errors.Is(err, readers.ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// sealed returns the bytes of a file with another description and correct sums.
func sealed(t testing.TB, whole, text []byte) []byte {
	t.Helper()
	end, err := parseTail(whole[len(whole)-tailBytes:], int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	end.sum, end.footer.length, end.description = sumOf(text), int64(len(text)), extent{0, int64(len(text))}
	return slices.Concat(whole[:end.footer.offset], text, end.bytes())
}

// FuzzOpen reads arbitrary bytes, as a file and as the description in a file with correct sums.
func FuzzOpen(f *testing.F) {
	file := create(f)
	writeTable(f, file, small(f))
	whole := content(f, file)
	text, _, err := readDescription(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, false)
	f.Add([]byte("ARROW1"), false)
	f.Add(text, true)
	for _, c := range hostile(f, text) {
		f.Add(c, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		f := create(t)
		if seal {
			b = sealed(t, whole, b)
		}
		write(t, f, b, 0)
		opened, err := Open(f)
		fuzzRemote(t, b, err)
		if err != nil {
			if !errors.Is(err, readers.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		defer opened.Release()
		for i := range opened.Table().Batches {
			err := opened.Table().Check(i)
			if opened.Table().Search != nil {
				_, searchErr := opened.Table().Search(i, queries[0])
				err = errors.Join(err, searchErr)
			}
			if err != nil && !errors.Is(err, readers.ErrDamaged) {
				t.Fatal(err)
			}
		}
	})
}

// fuzzRemote opens the same bytes as a remote file. local is the error of Open.
func fuzzRemote(t *testing.T, b []byte, local error) {
	remote := remoteOf(b)
	opened, err := OpenRemote(t.Context(), poisoned(t, remote.size), remote, nil)
	if (err == nil) != (local == nil) {
		t.Fatalf("opened as a remote file: %v; else %v", err, local)
	}
	if err != nil {
		if !errors.Is(err, readers.ErrDamaged) {
			t.Fatal(err)
		}
		return
	}
	defer opened.Release()
	for i := range opened.Table().Batches {
		if err := opened.Table().Check(i); err != nil && !errors.Is(err, readers.ErrDamaged) {
			t.Fatal(err)
		}
	}
}

// hostile returns descriptions with one wrong number.
func hostile(t testing.TB, text []byte) (all [][]byte) {
	for _, change := range []func(*description){
		func(d *description) { d.Batches.Offset[1] = 1 << 62 },
		func(d *description) { d.Batches.Offset[1] = -64 },
		func(d *description) { d.Batches.Offset[1]++ },
		func(d *description) { d.Batches.Metadata[0] = 1 << 62 },
		func(d *description) { d.Batches.Body[0] = -1 },
		func(d *description) { d.Batches.Body[0] += 64 },
		func(d *description) { d.Batches.Rows[0] = 1 << 31 },
		func(d *description) { d.Batches.Rows[0] = -1 },
		func(d *description) { d.Batches.Rows = d.Batches.Rows[:1] },
		func(d *description) { d.Batches.Offset = nil },
		func(d *description) { d.Batches.TreeItems[0] = 1 << 40 },
		func(d *description) { d.Batches.TreeOffset[0] = 1 << 40 },
		func(d *description) { d.Columns[0].Type = "int7" },
		func(d *description) { d.Columns[1].Bytes = series{1 << 62, 1 << 62} },
		func(d *description) { d.Columns[1].Bytes = series{-1, -1} },
		func(d *description) { d.Columns[2].Elements = series{1 << 61, -1} },
		func(d *description) { d.Columns = make([]columnDescription, 1e4) },
		func(d *description) { d.Geometry.Kind = geoarrow.GeometryCollection },
		func(d *description) { d.Geometry.Dim = 4 },
		func(d *description) { d.Geometry.Rings = series{1 << 62, 1 << 62} },
	} {
		var d description
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		change(&d)
		changed, err := d.encode()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, changed)
	}
	return all
}

func TestHostileDescriptions(t *testing.T) {
	table := small(t)
	f := create(t)
	writeTable(t, f, table)
	text, _, err := readDescription(f)
	if err != nil {
		t.Fatal(err)
	}
	whole := content(t, f)
	for i, c := range append(hostile(t, text), nil, []byte("{"), []byte("{}"), []byte("null")) {
		rewrite(t, f, sealed(t, whole, c))
		if _, err := Open(f); !errors.Is(err, readers.ErrDamaged) {
			t.Errorf("description %d: %v\n%s", i, err, c)
		}
	}
	rewrite(t, f, sealed(t, whole, text))
	if err := survives(t, f, table); err != nil {
		t.Error(err)
	}
	noMappings(t)
}

// failingFile fails at operation n of a writer, counted from 0.
type failingFile struct {
	files.File
	left int
}

var errBrittle = &fs.PathError{Op: "write", Path: "table", Err: syscall.ENOSPC}

func (b *failingFile) fails() bool {
	b.left--
	return b.left < 0
}

func (b *failingFile) WriteAt(p []byte, at int64) (int, error) {
	if b.fails() {
		n, _ := b.File.WriteAt(p[:len(p)/2], at)
		return n, errBrittle
	}
	return b.File.WriteAt(p, at)
}

func (b *failingFile) Map(from, to int64) ([]byte, error) {
	if b.fails() {
		return nil, errBrittle
	}
	return b.File.Map(from, to)
}

func TestEveryErrorOfTheFile(t *testing.T) {
	table := randomTable(t, rand.New(rand.NewPCG(7, 7)), mixes()[4], 20, 4)
	for n := 0; ; n++ {
		f := &failingFile{create(t), n}
		w := NewWriter(f)
		final := *table
		final.Batches = nil
		var err error
		for i, b := range table.Batches {
			if i%2 == 0 {
				b, err = w.Append(b)
			}
			if err != nil {
				break
			}
			final.Batches = append(final.Batches, b)
		}
		if err == nil {
			err = w.Finish(t.Context(), &final)
		}
		if closeErr := w.Close(); closeErr != nil {
			t.Error(closeErr)
		}
		noMappings(t)
		if err == nil {
			if n < 7 {
				t.Errorf("%d operations are too few", n)
			}
			f.left = 1
			file := open(t, f)
			checkTable(t, file, table)
			file.Release()
			f.left = 0
			if _, err := Open(f); !errors.Is(err, syscall.ENOSPC) || errors.Is(err, readers.ErrDamaged) {
				t.Errorf("no mapping: %v", err)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), f.Name()) &&
			!strings.HasPrefix(err.Error(), "batch ") {
			t.Fatalf("operation %d: %v", n, err)
		}
		if survives(t, f.File, table) == nil && n < 5 {
			t.Errorf("operation %d failed, and the file is whole", n)
		}
	}
}

// unreadableFile fails to read, with an error of the system or as if it were truncated.
type unreadableFile struct {
	files.File
	err error
}

func (u unreadableFile) ReadAt([]byte, int64) (int, error) { return 0, u.err }

func TestReadErrors(t *testing.T) {
	f := create(t)
	writeTable(t, f, small(t))
	for _, c := range []struct {
		name   string
		err    error
		damage bool
	}{
		{"the system's", syscall.EIO, false},
		{"shorter", io.EOF, true},
	} {
		if _, err := Open(unreadableFile{f, c.err}); err == nil || errors.Is(err, readers.ErrDamaged) != c.damage ||
			!strings.HasPrefix(err.Error(), f.Name()) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	defer noMappings(t)
	for _, c := range []struct {
		name   string
		change func(*readers.Table)
		want   string
	}{
		{"no batch", func(t *readers.Table) { t.Batches = nil }, "no batch"},
		{"other columns", func(t *readers.Table) { t.Batches[1].Attributes = nil }, "batch 1 has other columns"},
		{"another type", func(t *readers.Table) {
			t.Batches[1].Attributes[1].Type = arrow.PrimitiveTypes.Int64
		}, "other columns"},
		{"another kind", func(t *readers.Table) { t.Batches[1].Geometry.Kind = geoarrow.Polygon }, "other columns"},
		{"an unknown type", func(t *readers.Table) {
			for _, b := range t.Batches {
				b.Attributes[0].Type = arrow.BinaryTypes.LargeString
			}
		}, "no place for large_utf8"},
		{"a name that is not UTF-8", func(t *readers.Table) {
			for _, b := range t.Batches {
				b.Attributes[0].Name = "\xff"
			}
		}, "not UTF-8"},
		{"a foreign member that is not UTF-8", func(t *readers.Table) { t.Summary.Foreign["\xff"] = 1 }, "not UTF-8"},
		{"short values", func(t *readers.Table) { t.Batches[0].Attributes[0].Values = nil }, "another length"},
		{"short offsets", func(t *readers.Table) { t.Batches[0].Attributes[1].Offsets = nil }, "another length"},
		{"nulls without validity", func(t *readers.Table) {
			t.Batches[0].Attributes[0].Nulls++
			t.Batches[0].Attributes[0].Valid = nil
		}, "another length"},
		{"values of a list", func(t *readers.Table) { t.Batches[0].Attributes[2].Values = []byte{1} }, "no use for"},
		{"a list without a child", func(t *readers.Table) {
			t.Batches[0].Attributes[2].Child = nil
		}, "more than their values"},
		{"a child with a name", func(t *readers.Table) {
			t.Batches[0].Attributes[2].Child.Name = "x"
		}, "more than their values"},
		{"other rows", func(t *readers.Table) { t.Batches[0].Rows++ }, "another length"},
		{"geometry of other rows", func(t *readers.Table) { t.Batches[0].Geometry.Rows-- }, "another length"},
		{"a collection column", func(t *readers.Table) {
			for _, b := range t.Batches {
				b.Geometry.Kind = geoarrow.GeometryCollection
			}
		}, "kind 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := small(t)
			c.change(table)
			w := NewWriter(create(t))
			if err := w.Finish(t.Context(), table); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, err := w.Append(small(t).Batches[0]); !errors.Is(err, errFinished) {
				t.Errorf("Append after Finish: %v", err)
			}
			if err := errors.Join(w.Finish(t.Context(), table), w.Close()); !errors.Is(err, errFinished) {
				t.Errorf("Finish after Finish: %v", err)
			}
		})
	}
}
