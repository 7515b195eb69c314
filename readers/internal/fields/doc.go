// Package fields finds where the fields of delimited text begin, many records at a time.
//
// Delimiters, line ends and quotes among 64 bytes are masks of one bit per byte. Quoted text
// is between the first and the second of two quotes, which a prefix sum without carry tells for
// all bytes at once (after Langdale and Lemire 2019, section 3.1.1). That is right as long as every
// quote opens or closes a field, or is one of two in a quoted field. Text after a closing quote, a
// quote inside of an unquoted field, and a record of another number of fields end the search. The
// parser reads such a record itself, and then searches again.
//
// Geoff Langdale and Daniel Lemire, Parsing Gigabytes of JSON per Second, VLDB Journal 28(6), 2019.
package fields
