package kernels_test

import (
	"bytes"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// tableBench prepares what is done with 64 MiB of records of an integer, a text, a float64 and two
// ordinates. It counts bytes of text.
func tableBench(r *rig, what string) measured {
	const columns = 5
	row := []byte("1234567,\"Main Street, 12\",12.75,-81.1234567,27.1234567\n")
	host := bytes.Repeat(row, 64<<20/len(row))
	rows, n := len(host)/len(row), int64(len(host))
	text := upload(r, host)
	if what == "table" {
		return measured{launch: func() error {
			x, err := r.k.AllocTable(r.s, text, csvDialect, columns)
			r.ok(err)
			return x.Free(r.s)
		}, moved: n + n*9/8 + int64(rows)*(8+4*columns), items: n}
	}
	x, err := r.k.AllocTable(r.s, text, csvDialect, columns)
	r.ok(err)
	r.Cleanup(func() { r.ok(x.Free(r.s)) })
	fields, words := int64(rows)*columns, kernels.Words(rows)
	valid, odd := poisoned[uint64](r, words), upload(r, []uint32{0})
	m := measured{items: n}
	switch what {
	case "table kinds":
		kinds := poisoned[uint32](r, columns)
		m.launch, m.moved = func() error { return r.k.TableKinds(r.s, text, x, kinds) }, n+8*fields
	case "parse table":
		to := []kernels.TableColumn{
			{Column: 0, Type: kernels.TableInt32, Int32: poisoned[int32](r, rows)},
			{Column: 2, Type: kernels.TableFloat64, Float64: poisoned[float64](r, rows)},
		}
		valid := poisoned[uint64](r, 2*words)
		m.launch, m.moved = func() error {
			return r.k.ParseTable(r.s, text, x, to, valid, odd)
		}, n/3+int64(rows)*(16+12)
	case "table points":
		outX, outY := poisoned[float64](r, rows), poisoned[float64](r, rows)
		m.launch, m.moved = func() error {
			return r.k.TablePoints(r.s, text, x, 3, 4, outX, outY, valid, odd)
		}, n/2+int64(rows)*(16+16)
	case "table texts":
		starts, ends := poisoned[int64](r, rows), poisoned[int64](r, rows)
		m.launch, m.moved = func() error {
			return r.k.TableTexts(r.s, text, x, []int{1}, starts, ends, valid)
		}, int64(rows)*(8+16+32)
	case "cell spans", "cell lines", "check cells":
		starts, ends := poisoned[int64](r, rows), poisoned[int64](r, rows)
		m.launch, m.moved = func() error {
			return r.k.CellSpans(r.s, text, x, 1, starts, ends, valid)
		}, int64(rows)*(8+16+32)
		if what != "cell spans" {
			r.ok(m.launch())
			m.launch, m.moved = cellsOf(r, what, text, starts, ends, valid)
		}
	default:
		panic("no " + what)
	}
	return m
}

// cellsOf prepares what makes lines of strings, or looks at the lines.
func cellsOf(r *rig, what string, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	valid kernels.Mask,
) (launch func() error, moved int64) {
	rows := starts.Len()
	offsets, places := poisoned[int64](r, rows+1), poisoned[int64](r, rows+1)
	s, err := r.k.MeasureStrings(r.s, text, starts, ends, kernels.StringsRaw, offsets)
	r.ok(err)
	r.Cleanup(func() { r.ok(s.Free(r.s)) })
	bytes := read(r, offsets.Slice(rows, rows+1))[0]
	lines := poisoned[byte](r, int(bytes)+rows*kernels.CellLine)
	launch = func() error { return r.k.CellLines(r.s, s, offsets, valid, places, lines) }
	if what == "cell lines" {
		return launch, 2*bytes + int64(rows)*(24+13)
	}
	r.ok(launch())
	report := poisoned[kernels.CellsReport](r, 1)
	return func() error {
		return r.k.CheckCells(r.s, lines, places, places.Slice(0, rows), report)
	}, int64(lines.Len()) + int64(rows)*16
}

// tableOffsets prepares the offsets of 8 columns of a million texts.
func tableOffsets(r *rig) measured {
	const rows, columns = 1 << 20, 8
	offsets, narrow := poisoned[int64](r, rows*columns+1), poisoned[int32](r, (rows+1)*columns)
	r.ok(gpu.Fill(r.s, offsets, 0))
	return measured{launch: func() error {
		return r.k.TableOffsets(r.s, offsets, rows, narrow)
	}, moved: 12 * rows * columns, items: rows * columns}
}

// tableDates prepares two columns of three million dates.
func tableDates(r *rig) measured {
	const columns = 2
	row := []byte("2024-02-29,1969/12/31\n")
	host := bytes.Repeat(row, 64<<20/len(row))
	rows, n, text := len(host)/len(row), int64(len(host)), upload(r, host)
	x, err := r.k.AllocTable(r.s, text, csvDialect, columns)
	r.ok(err)
	r.Cleanup(func() { r.ok(x.Free(r.s)) })
	days, valid := poisoned[int32](r, rows*columns), poisoned[uint64](r, columns*kernels.Words(rows))
	first, last := poisoned[int32](r, columns), poisoned[int32](r, columns)
	return measured{launch: func() error {
		return r.k.TableDates(r.s, text, x, []int{0, 1}, days, valid, first, last)
	}, moved: n + int64(rows)*columns*(8+4), items: n}
}

// longestGap prepares 16 million spans.
func longestGap(r *rig) measured {
	const spans = 16 << 20
	starts, longest := poisoned[int64](r, spans), poisoned[int64](r, 1)
	r.ok(gpu.Fill(r.s, starts, 0))
	return measured{launch: func() error {
		return r.k.LongestGap(r.s, starts, 1, longest)
	}, moved: 8 * spans, items: spans}
}

var csvDialect = kernels.Dialect{Delimiter: ',', Quote: '"'}
