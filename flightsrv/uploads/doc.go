// Package uploads reads the Arrow messages that clients send with DoPut and DoExchange (Arrow
// columnar format 1.4, "Serialization and Interprocess Communication").
//
// A client may send anything, and Arrow's reader allocates what a message says and follows it
// wherever it points. So each message is checked before that one gets it, and each array before
// somebody uses it. Compressed buffers are unpacked once to see that they are what they say.
// Run-end encoded arrays are refused, and views of texts are copied: Arrow 17 for Go writes or
// reads them wrongly, or can be made to take any memory for them.
package uploads
