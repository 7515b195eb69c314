package kernels

import "github.com/vibeflight/vibeflight/gpu"

// CheckArrays finds the first byte that shows that the brackets of JSON text, from a depth on, are not arrays of arrays or of numbers with commas between
// them, as the coordinates of GeoJSON are.
//
//	text   n bytes
//	d      of text, with StructureBrackets
//	from   the depth of the outermost of these brackets, each of which counts itself: 3 for {"geometry":{"coordinates":[
//	fault  one element, overwritten: the byte's offset, or -1; n where the text is cut off
//
//	text   [ [ 1 , 2 ] , [ ] ]
//	       a a           a        a  next comes a bracket or the first byte of a number, or the closing bracket
//	                 b     b      b  next comes a closing bracket, or a comma and then an opening one
//
// A curly bracket there is a fault, and so is a quote. So are more than 4 KiB of blanks at one of these places, whatever is behind them. What follows a
// bracket that closes one of the outermost is not looked at, nor is an array from the first byte of a number on, up to the next bracket, except for
// quotes: ParsePositions reads it. Whether brackets match is for CheckBrackets to say.
//
// One launch that reads the masks and depths, 5/16 byte for each byte of text, and the text where it is that deep.
func (k *Set) CheckArrays(s *gpu.Stream, text gpu.Buffer[byte], d *Depth, from int, fault gpu.Buffer[int64]) error {
	return k.checkArrays(s, text, d, from, Mask{}, fault)
}

// CheckArraysWithin is CheckArrays of some arrays, for texts that have other brackets at their depth.
//
//	within  Words(n) words: the bytes of the arrays, from the first bracket of each to behind its last one, as MarkSpans marks them. One that is marked begins and ends
//	        with brackets, and between two of them lies a byte that is not
//
// Reads another 1/8 byte for each byte of text.
func (k *Set) CheckArraysWithin(s *gpu.Stream, text gpu.Buffer[byte], d *Depth, within Mask, fault gpu.Buffer[int64]) error {
	return k.checkArrays(s, text, d, 0, within, fault)
}

func (k *Set) checkArrays(s *gpu.Stream, text gpu.Buffer[byte], d *Depth, from int, within Mask, fault gpu.Buffer[int64]) error {
	w := k.begin(s, "check arrays")
	n := w.text(text)
	w.need(d.n == n, "%d bytes of text, and the depth of %d", n, d.n)
	w.need(d.brackets == StructureBrackets(), "the depth of %s %s instead of [{ ]}", d.brackets.Open, d.brackets.Close)
	if within.Len() > 0 {
		w.mask("within", within, n)
	}
	w.noFault(fault)
	w.launch("check_arrays", blocks(n, tileBytes), block, text.Arg(), gpu.Int(n), d.Open.Arg(), d.Close.Arg(), d.Base.Arg(), gpu.Int(from), within.Arg(), fault.Arg())
	return w.done()
}
