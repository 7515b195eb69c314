// Package fields finds where the fields of delimited text begin, many records at a time.
//
// What 64 bytes are is known as masks, a bit a byte: delimiters, line ends, quotes. Quoted text
// is between the first and the second of two quotes, which a prefix sum without carry tells for
// all bytes at once (after Langdale and Lemire 2019, section 3.1.1). That is right as long as every
// quote is one of those that open or close a field, or one of two in a quoted field: what breaks
// that rule, text after a closing quote or a quote inside of a field that does not begin with one,
// ends what is found, and so does a record of another number of fields. The parser reads such a
// record itself, and has what follows it found again.
//
// Geoff Langdale and Daniel Lemire, Parsing Gigabytes of JSON per Second, VLDB Journal 28(6), 2019.
package fields
