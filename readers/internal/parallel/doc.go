// Package parallel reads one file with several workers. It is the skeleton that the engines of all
// row formats share.
//
// A file is cut into parts. Each worker guesses where the first row of its part begins and parses
// from there; a part counts only if it begins where the previous part ended (readers.Parts). The
// parts that count become batches (readers.Batcher).
//
//	     head scanner      workers              one goroutine at a time
//	file ─> first rows ─> Scanner or GPU ─> Commit of the format ─> batches ─> emit
//
// A format implements a Scanner, which parses one part, and the hook Commit, which is called with
// the committed parts in file order. With a GPU engine it also implements device.Chunks. A format
// whose parts do not use a rows.Sink implements a readers.PartReader instead of a Scanner, and uses
// only Run.
package parallel
