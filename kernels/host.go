package kernels

import "github.com/vibeflight/vibeflight/gpu"

// HostBatch is how many undecided items the host reads at a time: what it holds of them is
// bounded by that and by the longest.
const HostBatch = 1 << 16

// Undecided lists the set bits of a mask. It waits for the device.
func Undecided(w *Call, mask Mask) gpu.Buffer[int64] {
	total := Scratch[int64](w, 1)
	before := CountTiles(w, mask, total)
	index := Scratch[int64](w, int(ReadOne(w, total)))
	Positions(w, mask, before, 0, index)
	return index
}

// Upload copies src to dst, on the stream.
func Upload[T any](w *Call, dst gpu.Buffer[T], src []T) {
	if w.Err == nil {
		w.Err = gpu.Upload(w.Stream, dst, src)
	}
}

// download copies the first elements of src and waits for them.
func download[T any](w *Call, dst []T, src gpu.Buffer[T]) {
	if w.Err == nil {
		w.Err = gpu.Download(w.Stream, dst, src)
	}
	if w.Err == nil {
		w.Err = w.Stream.Synchronize()
	}
}

// HostReader brings the text of undecided items to the host, a batch at a time. Short ones are
// copied to one place on the device first, so that a batch is two downloads and not one for each.
type HostReader struct {
	W    *Call
	Text gpu.Buffer[byte]

	token gpu.Buffer[int64] // start and length of each
	at    gpu.Buffer[int64] // where the item's copy begins; -1: it is not one of the short ones
	copy  gpu.Buffer[byte]
}

// NewHostReader takes the memory for batches of up to count items.
func NewHostReader(w *Call, text gpu.Buffer[byte], count int) *HostReader {
	most := min(count, HostBatch)
	return &HostReader{
		W: w, Text: text, token: Scratch[int64](w, 2*most), at: Scratch[int64](w, most),
		copy: Scratch[byte](w, most*MaxNumberBytes),
	}
}

// HostItem is an undecided item's text, from its byte start of the text on.
type HostItem struct {
	Start int
	Text  []byte
}

// Load brings the items that index names to the host. Without ends an item is the first
// longestNumber bytes from its start on.
func (b *HostReader) Load(starts, ends, index gpu.Buffer[int64]) []HostItem {
	w, n := b.W, index.Len()
	w.Launch("host_spans", Blocks(int64(n), Block), Block, starts.Arg(), ends.Arg(), index.Arg(),
		gpu.Int(n), gpu.Int(b.Text.Len()), gpu.Int(MaxNumberBytes), b.token.Arg())
	token, at := make([]int64, 2*n), make([]int64, n)
	download(w, token, b.token)
	short := 0
	for i := range n {
		start, length := token[2*i], token[2*i+1]
		w.Need(start >= 0 && length >= 0 && length <= int64(b.Text.Len())-start,
			"an undecided item of %d bytes at byte %d of %d", length, start, b.Text.Len())
		at[i] = -1
		if length <= MaxNumberBytes {
			at[i] = int64(short)
			short += int(length)
		}
	}
	if w.Err != nil {
		return nil
	}
	Upload(w, b.at, at)
	w.Launch("host_copy", Blocks(int64(n)*32, Block), Block, b.Text.Arg(), b.token.Arg(), b.at.Arg(),
		gpu.Int(n), b.copy.Arg())
	text := make([]byte, short)
	download(w, text, b.copy)
	items := make([]HostItem, n)
	for i := range items {
		start, length := int(token[2*i]), int(token[2*i+1])
		items[i].Start = start
		if at[i] >= 0 {
			items[i].Text = text[at[i]:][:length]
		} else {
			items[i].Text = b.Fetch(start, start+length)
		}
	}
	return items
}

// Fetch downloads the bytes [from, to) of the text.
func (b *HostReader) Fetch(from, to int) []byte {
	text := make([]byte, to-from)
	download(b.W, text, b.Text.Slice(from, to))
	return text
}
