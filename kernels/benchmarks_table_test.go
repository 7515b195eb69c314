package kernels_test

import (
	"bytes"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// tableBench prepares what is done with 64 MiB of records of an integer, a text, a float64 and two
// ordinates. It counts bytes of text.
func tableBench(r *kerneltest.Rig, what string) measurement {
	const columns = 5
	row := []byte("1234567,\"Main Street, 12\",12.75,-81.1234567,27.1234567\n")
	host := bytes.Repeat(row, 64<<20/len(row))
	rows, n := len(host)/len(row), int64(len(host))
	text := kerneltest.Upload(r, host)
	if what == "table" {
		return measurement{launch: func() error {
			x, err := ktable.AllocTable(r.Set, r.Stream, text, csvDialect, columns)
			r.OK(err)
			return x.Free(r.Stream)
		}, moved: n + n*9/8 + int64(rows)*(8+4*columns), items: n}
	}
	x, err := ktable.AllocTable(r.Set, r.Stream, text, csvDialect, columns)
	r.OK(err)
	r.Cleanup(func() { r.OK(x.Free(r.Stream)) })
	fields, words := int64(rows)*columns, kernels.Words(rows)
	valid, odd := kerneltest.Poisoned[uint64](r, words), kerneltest.Upload(r, []uint32{0})
	m := measurement{items: n}
	switch what {
	case "table kinds":
		kinds := kerneltest.Poisoned[uint32](r, columns)
		m.launch, m.moved = func() error { return ktable.TableKinds(r.Set, r.Stream, text, x, kinds) }, n+8*fields
	case "parse table":
		to := []ktable.TableColumn{
			{Column: 0, Type: ktable.TableInt32, Int32: kerneltest.Poisoned[int32](r, rows)},
			{Column: 2, Type: ktable.TableFloat64, Float64: kerneltest.Poisoned[float64](r, rows)},
		}
		valid := kerneltest.Poisoned[uint64](r, 2*words)
		m.launch, m.moved = func() error {
			return ktable.ParseTable(r.Set, r.Stream, text, x, to, valid, odd)
		}, n/3+int64(rows)*(16+12)
	case "table points":
		outX, outY := kerneltest.Poisoned[float64](r, rows), kerneltest.Poisoned[float64](r, rows)
		m.launch, m.moved = func() error {
			return ktable.TablePoints(r.Set, r.Stream, text, x, 3, 4, outX, outY, valid, odd)
		}, n/2+int64(rows)*(16+16)
	case "table texts":
		starts, ends := kerneltest.Poisoned[int64](r, rows), kerneltest.Poisoned[int64](r, rows)
		m.launch, m.moved = func() error {
			return ktable.TableTexts(r.Set, r.Stream, text, x, []int{1}, starts, ends, valid)
		}, int64(rows)*(8+16+32)
	case "cell spans", "cell lines", "check cells":
		starts, ends := kerneltest.Poisoned[int64](r, rows), kerneltest.Poisoned[int64](r, rows)
		m.launch, m.moved = func() error {
			return ktable.CellSpans(r.Set, r.Stream, text, x, 1, starts, ends, valid)
		}, int64(rows)*(8+16+32)
		if what != "cell spans" {
			r.OK(m.launch())
			m.launch, m.moved = cellsOf(r, what, text, starts, ends, valid)
		}
	default:
		panic("no " + what)
	}
	return m
}

// cellsOf prepares what makes lines of strings, or looks at the lines.
func cellsOf(r *kerneltest.Rig, what string, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	valid kernels.Mask,
) (launch func() error, moved int64) {
	rows := starts.Len()
	offsets, places := kerneltest.Poisoned[int64](r, rows+1), kerneltest.Poisoned[int64](r, rows+1)
	s, err := ktext.MeasureStrings(r.Set, r.Stream, text, starts, ends, ktext.StringsRaw, offsets)
	r.OK(err)
	r.Cleanup(func() { r.OK(s.Free(r.Stream)) })
	bytes := kerneltest.Read(r, offsets.Slice(rows, rows+1))[0]
	lines := kerneltest.Poisoned[byte](r, int(bytes)+rows*ktable.CellLine)
	launch = func() error { return ktable.CellLines(r.Set, r.Stream, s, offsets, valid, places, lines) }
	if what == "cell lines" {
		return launch, 2*bytes + int64(rows)*(24+13)
	}
	r.OK(launch())
	report := kerneltest.Poisoned[ktable.CellsReport](r, 1)
	return func() error {
		return ktable.CheckCells(r.Set, r.Stream, lines, places, places.Slice(0, rows), report)
	}, int64(lines.Len()) + int64(rows)*16
}

// tableOffsets prepares the offsets of 8 columns of a million texts.
func tableOffsets(r *kerneltest.Rig) measurement {
	const rows, columns = 1 << 20, 8
	offsets, narrow := kerneltest.Poisoned[int64](r, rows*columns+1), kerneltest.Poisoned[int32](r, (rows+1)*columns)
	r.OK(gpu.Fill(r.Stream, offsets, 0))
	return measurement{launch: func() error {
		return ktable.TableOffsets(r.Set, r.Stream, offsets, rows, narrow)
	}, moved: 12 * rows * columns, items: rows * columns}
}

// tableDates prepares two columns of three million dates.
func tableDates(r *kerneltest.Rig) measurement {
	const columns = 2
	row := []byte("2024-02-29,1969/12/31\n")
	host := bytes.Repeat(row, 64<<20/len(row))
	rows, n, text := len(host)/len(row), int64(len(host)), kerneltest.Upload(r, host)
	x, err := ktable.AllocTable(r.Set, r.Stream, text, csvDialect, columns)
	r.OK(err)
	r.Cleanup(func() { r.OK(x.Free(r.Stream)) })
	days, valid := kerneltest.Poisoned[int32](r, rows*columns), kerneltest.Poisoned[uint64](r,
		columns*kernels.Words(rows))
	first, last := kerneltest.Poisoned[int32](r, columns), kerneltest.Poisoned[int32](r, columns)
	return measurement{launch: func() error {
		return ktable.TableDates(r.Set, r.Stream, text, x, []int{0, 1}, days, valid, first, last)
	}, moved: n + int64(rows)*columns*(8+4), items: n}
}

// longestGap prepares 16 million spans.
func longestGap(r *kerneltest.Rig) measurement {
	const spans = 16 << 20
	starts, longest := kerneltest.Poisoned[int64](r, spans), kerneltest.Poisoned[int64](r, 1)
	r.OK(gpu.Fill(r.Stream, starts, 0))
	return measurement{launch: func() error {
		return klist.LongestGap(r.Set, r.Stream, starts, 1, longest)
	}, moved: 8 * spans, items: spans}
}

var csvDialect = ktable.Dialect{Delimiter: ',', Quote: '"'}
