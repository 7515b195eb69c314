// Package uploads reads the Arrow messages that clients send with DoPut and DoExchange (Arrow
// columnar format 1.4, "Serialization and Interprocess Communication").
//
// A client may send anything. Arrow's reader allocates what a message states, and follows its
// offsets anywhere. So each message is checked before Arrow's reader gets it, and each array before
// it is used. Compressed buffers are decompressed once to check their lengths. Run-end encoded
// arrays are refused, and views of texts are copied: Arrow 17 for Go writes or reads them
// incorrectly, or can be made to allocate any amount of memory for them.
package uploads
