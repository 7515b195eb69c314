package dbf

import (
	"slices"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// textShare is how many bytes of records a device needs for each text that it makes at a time: a
// text in progress takes some 45 bytes of memory.
const textShare = 16

// textGroup is columns of text that are made together, stored one after the other.
type textGroup struct {
	columns []*deviceColumn
	// of all of them, with capacity: texts are padded with blanks, so even texts that become longer
	// need little more than their fields
	text    gpu.Buffer[byte]
	total   []int64               // one element: bytes of it
	summary []ktext.StringSummary // of texts that are not recoded
}

// textRoom is memory for a group, which later groups reuse.
type textRoom struct {
	starts, ends, offsets gpu.Buffer[int64]
	valid                 gpu.Buffer[uint64]
	narrow                gpu.Buffer[int32]
	page                  gpu.Buffer[uint32] // single-byte
}

// texts makes columns of texts. Their bytes stay on the device until the host knows their number.
func (d *deviceRecords) texts(list []*deviceColumn) {
	if len(list) == 0 {
		return
	}
	n, words := d.records.Records, kernels.Words(d.records.Records)
	most := min(len(list), max(1, d.text.Len()/textShare/n))
	room := textRoom{
		starts: device.Alloc[int64](d.Work, most*n), ends: device.Alloc[int64](d.Work, most*n),
		offsets: device.Alloc[int64](d.Work, most*n+1),
		valid:   device.Alloc[uint64](d.Work, most*words), narrow: device.Alloc[int32](d.Work, most*(n+1)),
	}
	if d.h.page.upper != nil {
		page := d.h.page.onDevice()
		if room.page = device.Alloc[uint32](d.Work, len(page)); !d.Stopped() {
			d.Try(gpu.Upload(d.S, room.page, page[:]))
		}
	}
	for columns := range slices.Chunk(list, most) {
		if d.Stopped() {
			return
		}
		d.groups = append(d.groups, textGroup{columns: columns})
		d.gather(&d.groups[len(d.groups)-1], &room)
	}
}

// gather makes the columns of a group.
func (d *deviceRecords) gather(g *textGroup, room *textRoom) {
	n, count := d.records.Records, len(g.columns)
	all, width := n*count, 0
	var fields []kfixed.FixedColumn
	for _, c := range g.columns {
		fields, width = append(fields, c.field), width+c.field.Width
	}
	starts, ends, offsets := room.starts.Slice(0, all), room.ends.Slice(0, all), room.offsets.Slice(0, all+1)
	valid, narrow := room.valid.Slice(0, count*kernels.Words(n)), room.narrow.Slice(0, count*(n+1))
	if d.h.page.upper != nil {
		width += (width + 1) / 2
	}
	g.text = device.Alloc[byte](d.Work, n*width)
	if d.Stopped() {
		return
	}
	d.Try(kfixed.FixedTexts(d.K, d.S, d.text, &d.records, fields, d.h.page.wide != nil, starts, ends, valid, d.odd))
	if d.h.page.upper != nil {
		d.Try(ktext.MeasureRecoded(d.K, d.S, d.text, starts, ends, room.page, offsets, d.odd))
		d.Try(ktext.GatherRecoded(d.K, d.S, d.text, starts, ends, room.page, offsets, g.text))
	} else {
		d.copied(g, starts, ends, offsets)
	}
	d.Try(ktable.TableOffsets(d.K, d.S, offsets, n, narrow))
	g.total = device.Result(d.Work, offsets.Slice(all, all+1))
	bits, each := device.Result(d.Work, valid), device.Result(d.Work, narrow)
	d.Bring()
	if d.Stopped() {
		return
	}
	for _, c := range g.columns {
		c.mask, bits = bits[:kernels.Words(n)], bits[kernels.Words(n):]
		c.offsets, each = each[:n+1], each[n+1:]
	}
}

// copied copies texts that are UTF-8; ASCII texts are, whatever their code page.
func (d *deviceRecords) copied(g *textGroup, starts, ends, offsets gpu.Buffer[int64]) {
	strings, err := ktext.MeasureShortStrings(d.K, d.S, d.text, starts, ends, ktext.StringsRaw, offsets)
	if d.Try(err); err != nil {
		return
	}
	d.Try(ktext.GatherStrings(d.K, d.S, strings, g.text, gpu.Buffer[int32]{}))
	g.summary = device.Result(d.Work, strings.Summary)
	d.Bring()
	d.Try(strings.Free(d.S))
}

// onDevice returns the page in the form of package kernels.
func (p *codePage) onDevice() ktext.CodePage {
	var out ktext.CodePage
	for i, c := range p.upper {
		if string(c.text[:c.n]) == replacement {
			continue
		}
		out[i] = uint32(c.n) << 24
		for k, b := range c.text[:c.n] {
			out[i] |= uint32(b) << (8 * k)
		}
	}
	return out
}

// finishTexts queues the copies of the texts' bytes.
func (d *deviceRecords) finishTexts(rows int) {
	for i := range d.groups {
		g := &d.groups[i]
		d.Accept(g.summary == nil || g.summary[0].Flags&ktext.StringNotUTF8 == 0, "text that is not UTF-8")
		if d.Accept(g.total[0] <= int64(g.text.Len()), "texts that are far longer as UTF-8"); d.Stopped() {
			return
		}
		text := device.Result(d.Work, g.text.Slice(0, int(g.total[0])))
		for _, c := range g.columns {
			c.nulls(rows)
			c.Offsets = c.offsets[:rows+1]
			c.Values, text = text[:c.Offsets[rows]], text[c.Offsets[rows]:]
		}
	}
}
