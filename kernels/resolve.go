package kernels

import "github.com/vibeflight/vibeflight/gpu"

// resolveBatch is how many undecided items the host reads at a time: what it holds of them is
// bounded by that and by the longest.
const resolveBatch = 1 << 16

// undecided lists the set bits of a mask. It waits for the device.
func undecided(w *work, mask Mask) gpu.Buffer[int64] {
	total := take[int64](w, 1)
	before := countTiles(w, mask, total)
	index := take[int64](w, int(only(w, total)))
	positions(w, mask, before, 0, index)
	return index
}

// upload copies src to dst, on the stream.
func upload[T any](w *work, dst gpu.Buffer[T], src []T) {
	if w.err == nil {
		w.err = gpu.Upload(w.s, dst, src)
	}
}

// download copies the first elements of src and waits for them.
func download[T any](w *work, dst []T, src gpu.Buffer[T]) {
	if w.err == nil {
		w.err = gpu.Download(w.s, dst, src)
	}
	if w.err == nil {
		w.err = w.s.Synchronize()
	}
}

// resolving brings the text of undecided items to the host, a batch at a time. Short ones are
// copied to one place on the device first, so that a batch is two downloads and not one for each.
type resolving struct {
	w    *work
	text gpu.Buffer[byte]

	token gpu.Buffer[int64] // start and length of each
	at    gpu.Buffer[int64] // where the item's copy begins; -1: it is none of the short ones
	copy  gpu.Buffer[byte]
}

// newResolving takes the memory for batches of up to count items.
func newResolving(w *work, text gpu.Buffer[byte], count int) *resolving {
	most := min(count, resolveBatch)
	return &resolving{
		w: w, text: text, token: take[int64](w, 2*most), at: take[int64](w, most),
		copy: take[byte](w, most*longestNumber),
	}
}

// item is an undecided item's text, from its byte start of the text on.
type item struct {
	start int
	text  []byte
}

// load brings the items that index names to the host. Without ends an item is the first
// longestNumber bytes from its start on.
func (b *resolving) load(starts, ends, index gpu.Buffer[int64]) []item {
	w, n := b.w, index.Len()
	w.launch("settle_tokens", blocks(int64(n), block), block, starts.Arg(), ends.Arg(), index.Arg(),
		gpu.Int(n), gpu.Int(b.text.Len()), gpu.Int(longestNumber), b.token.Arg())
	token, at := make([]int64, 2*n), make([]int64, n)
	download(w, token, b.token)
	short := 0
	for i := range n {
		start, length := token[2*i], token[2*i+1]
		w.need(start >= 0 && length >= 0 && length <= int64(b.text.Len())-start,
			"an undecided item of %d bytes at byte %d of %d", length, start, b.text.Len())
		at[i] = -1
		if length <= longestNumber {
			at[i] = int64(short)
			short += int(length)
		}
	}
	if w.err != nil {
		return nil
	}
	upload(w, b.at, at)
	w.launch("settle_copy", blocks(int64(n)*32, block), block, b.text.Arg(), b.token.Arg(), b.at.Arg(),
		gpu.Int(n), b.copy.Arg())
	text := make([]byte, short)
	download(w, text, b.copy)
	items := make([]item, n)
	for i := range items {
		start, length := int(token[2*i]), int(token[2*i+1])
		items[i].start = start
		if at[i] >= 0 {
			items[i].text = text[at[i]:][:length]
		} else {
			items[i].text = b.fetch(start, start+length)
		}
	}
	return items
}

// fetch downloads the bytes [from, to) of the text.
func (b *resolving) fetch(from, to int) []byte {
	text := make([]byte, to-from)
	download(b.w, text, b.text.Slice(from, to))
	return text
}
