package table_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// cellLines are the lines of some fields as CellLines has them, and where each begins.
func cellLines(fields []string) (text string, moved []int64, valid []bool) {
	for _, f := range fields {
		moved = append(moved, int64(len(text)))
		has := !slices.Contains([]string{"", "null", "nan", "na", "n/a", "none", `\n`, "#n/a", "-"},
			strings.ToLower(strings.Trim(f, " \t")))
		if valid = append(valid, has); has {
			text += f + "    \n"
		} else {
			text += "NULL\n"
		}
	}
	return text, append(moved, int64(len(text))), valid
}

func TestCells(t *testing.T) {
	r := kerneltest.Open(t)
	geometries := []string{
		"POINT (1 2)", "", "SRID=5;POINT(3 4)", " NA ", "n/A", "LINESTRING(" + strings.Repeat("1 2,", 400) +
			"5 6)", "\t", "  sRID=5;POINT EMPTY", "x", "NULL", "nan", "None", `\N`, "#N/A", "-", "--",
	}
	for _, rows := range []int{1, 11, 300} {
		var fields, cells []string
		for i := range rows {
			cell := geometries[i%len(geometries)]
			fields, cells = append(fields, "1", cell), append(cells, cell)
		}
		text, _ := asTable(fields, 2)
		x, textDev := tableOf(r, text, 2), kerneltest.Upload(r, text)
		starts, ends, valid := kerneltest.Poisoned[int64](r, rows), kerneltest.Poisoned[int64](r, rows),
			kerneltest.Poisoned[uint64](r, kernels.Words(rows))
		r.OK(ktable.CellSpans(r.Set, r.Stream, textDev, x, 1, starts, ends, valid))
		offsets, moved := kerneltest.Poisoned[int64](r, rows+1), kerneltest.Poisoned[int64](r, rows+1)
		s, err := ktext.MeasureStrings(r.Set, r.Stream, textDev, starts, ends, ktext.StringsRaw, offsets)
		r.OK(err)
		want, wantMoved, wantValid := cellLines(cells)
		lines := kerneltest.Poisoned[byte](r, len(want))
		r.OK(ktable.CellLines(r.Set, r.Stream, s, offsets, valid, moved, lines))
		kerneltest.SameItems(r, "moved", kerneltest.Read(r, moved), wantMoved)
		kerneltest.SameItems(r, "valid", kerneltest.Read(r, valid), flagged(wantValid))
		if got := string(kerneltest.Read(r, lines)); got != want {
			t.Fatalf("%q: got %q, want %q", cells, got, want)
		}
		r.OK(s.Free(r.Stream))
		// The first byte of each row, and then of a row more or less.
		first, srids, semicolons := make([]int64, rows), int64(0), int64(strings.Count(want, ";"))
		for i, cell := range cells {
			line := want[wantMoved[i]:wantMoved[i+1]]
			first[i] = wantMoved[i] + int64(len(line)-len(strings.TrimLeft(line, " \t")))
			if strings.Contains(cell, "=") {
				srids++
			}
		}
		for _, odd := range []bool{false, true} {
			if odd {
				first[rows/2] = wantMoved[rows/2+1]
			}
			report := kerneltest.Poisoned[ktable.CellsReport](r, 1)
			r.OK(ktable.CheckCells(r.Set, r.Stream, lines, moved, kerneltest.Upload(r, first), report))
			if got := kerneltest.Read(r, report)[0]; (got.Odd != 0) != odd || !odd && got.SRIDs != srids ||
				got.Semicolons != semicolons {
				t.Errorf("%d rows, odd %v: got %+v, want %d SRIDs and %d semicolons", rows, odd, got, srids, semicolons)
			}
		}
	}
}

// TestCellsWithQuotes has a quote at every byte of a text of more than one word.
func TestCellsWithQuotes(t *testing.T) {
	r := kerneltest.Open(t)
	line := "POINT(1 2)" + strings.Repeat(" ", 150) + "\n"
	moved, first := kerneltest.Upload(r, []int64{0, int64(len(line))}), kerneltest.Upload(r, []int64{0})
	for at := -1; at < len(line); at++ {
		text := []byte(line)
		if at >= 0 {
			text[at] = '"'
		}
		report := kerneltest.Poisoned[ktable.CellsReport](r, 1)
		r.OK(ktable.CheckCells(r.Set, r.Stream, kerneltest.Upload(r, text), moved, first, report))
		if got := kerneltest.Read(r, report)[0]; (got.Odd != 0) != (at >= 0) {
			t.Errorf("a quote at %d: got %+v", at, got)
		}
	}
}

func TestCellsRefuse(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Upload(r, []byte("a,b\nc,d\n"))
	x, err := ktable.AllocTable(r.Set, r.Stream, text, commas, 2)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	two, three, mask := kerneltest.Poisoned[int64](r, 2), kerneltest.Poisoned[int64](r, 3),
		kerneltest.Poisoned[uint64](r, 1)
	for _, c := range []struct {
		name string
		err  error
	}{
		{"no such column", ktable.CellSpans(r.Set, r.Stream, text, x, 2, two, two, mask)},
		{"spans of other rows", ktable.CellSpans(r.Set, r.Stream, text, x, 0, three, two, mask)},
		{"places of other rows", ktable.CellLines(r.Set, r.Stream, &ktext.Strings{}, three, mask, two, text)},
		{"short text", ktable.CellLines(r.Set, r.Stream, &ktext.Strings{}, three, mask, three, text)},
		{"other lines", ktable.CheckCells(r.Set, r.Stream, text, three, three,
			kerneltest.Poisoned[ktable.CellsReport](r, 1))},
		{"no report", ktable.CheckCells(r.Set, r.Stream, text, three, two,
			kerneltest.Poisoned[ktable.CellsReport](r, 2))},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}
