package kernels_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
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
	r := open(t)
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
		x, textDev := tableOf(r, text, 2), upload(r, text)
		starts, ends, valid := poisoned[int64](r, rows), poisoned[int64](r, rows),
			poisoned[uint64](r, kernels.Words(rows))
		r.ok(r.k.CellSpans(r.s, textDev, x, 1, starts, ends, valid))
		offsets, moved := poisoned[int64](r, rows+1), poisoned[int64](r, rows+1)
		s, err := r.k.MeasureStrings(r.s, textDev, starts, ends, kernels.StringsRaw, offsets)
		r.ok(err)
		want, wantMoved, wantValid := cellLines(cells)
		lines := poisoned[byte](r, len(want))
		r.ok(r.k.CellLines(r.s, s, offsets, valid, moved, lines))
		sameItems(r, "moved", read(r, moved), wantMoved)
		sameItems(r, "valid", read(r, valid), flagged(wantValid))
		if got := string(read(r, lines)); got != want {
			t.Fatalf("%q: got %q, want %q", cells, got, want)
		}
		r.ok(s.Free(r.s))
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
			report := poisoned[kernels.CellsReport](r, 1)
			r.ok(r.k.CheckCells(r.s, lines, moved, upload(r, first), report))
			if got := read(r, report)[0]; (got.Odd != 0) != odd || !odd && got.SRIDs != srids ||
				got.Semicolons != semicolons {
				t.Errorf("%d rows, odd %v: got %+v, want %d SRIDs and %d semicolons", rows, odd, got, srids, semicolons)
			}
		}
	}
}

// TestCellsWithQuotes has a quote at every byte of a text of more than one word.
func TestCellsWithQuotes(t *testing.T) {
	r := open(t)
	line := "POINT(1 2)" + strings.Repeat(" ", 150) + "\n"
	moved, first := upload(r, []int64{0, int64(len(line))}), upload(r, []int64{0})
	for at := -1; at < len(line); at++ {
		text := []byte(line)
		if at >= 0 {
			text[at] = '"'
		}
		report := poisoned[kernels.CellsReport](r, 1)
		r.ok(r.k.CheckCells(r.s, upload(r, text), moved, first, report))
		if got := read(r, report)[0]; (got.Odd != 0) != (at >= 0) {
			t.Errorf("a quote at %d: got %+v", at, got)
		}
	}
}

func TestCellsRefuse(t *testing.T) {
	r := open(t)
	text := upload(r, []byte("a,b\nc,d\n"))
	x, err := r.k.AllocTable(r.s, text, commas, 2)
	r.ok(err)
	defer func() { r.ok(x.Free(r.s)) }()
	two, three, mask := poisoned[int64](r, 2), poisoned[int64](r, 3), poisoned[uint64](r, 1)
	for _, c := range []struct {
		name string
		err  error
	}{
		{"no such column", r.k.CellSpans(r.s, text, x, 2, two, two, mask)},
		{"spans of other rows", r.k.CellSpans(r.s, text, x, 0, three, two, mask)},
		{"places of other rows", r.k.CellLines(r.s, &kernels.Strings{}, three, mask, two, text)},
		{"short text", r.k.CellLines(r.s, &kernels.Strings{}, three, mask, three, text)},
		{"other lines", r.k.CheckCells(r.s, text, three, three, poisoned[kernels.CellsReport](r, 1))},
		{"no report", r.k.CheckCells(r.s, text, three, two, poisoned[kernels.CellsReport](r, 2))},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}
