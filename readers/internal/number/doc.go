// Package number turns the decimal text of JSON numbers into float64 and integers, exactly: every
// float64 is the correctly rounded value of its text, bit for bit what strconv.ParseFloat gives.
//
// Accepted is the grammar of RFC 8259 section 6 and nothing else:
//
//	number = ["-"] int [frac] [exp]
//	int    = "0" / digit1-9 *digit
//	frac   = "." 1*digit
//	exp    = ("e" / "E") ["-" / "+"] 1*digit
//
// A number ends at the first byte that cannot continue it; whether that byte may follow a number is
// the caller's to say. "01" is an error at the "1", since the digit belongs to no number. Where the
// standard is silent: a number beyond the range of float64 is an error, one below it is rounded to
// a subnormal or to zero, and the exponent may be of any length.
//
// Text is read in place, eight bytes at a time and past its end: see [Padding].
//
// How the value is found, from the usual to the rare:
//
//	digits  value                                                                      decided by
//	<= 19   mantissa < 2^53, power of ten within +-22: one division, multiplication    Clinger 1990
//	<= 19   any other: 128-bit product with a power of five                            Lemire 2021; Mushtak
//	        and Lemire 2022
//	> 19    as above for the first 19 digits and for these plus one, where both agree  Lemire 2021, section 11
//	> 19    they do not agree                                                          strconv.ParseFloat
//
// William D. Clinger, How to Read Floating Point Numbers Accurately, PLDI 1990. Daniel Lemire,
// Number Parsing at a Gigabyte per Second, Software: Practice and Experience 51(8), 2021. Noble
// Mushtak and Daniel Lemire, Fast Number Parsing Without Fallback, Software: Practice and
// Experience 53(7), 2023 (arXiv:2212.06644).
package number
