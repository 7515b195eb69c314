package filegdb

import "github.com/vibeflight/vibeflight/readers"

// ParserReading returns the CPU engine with windows of a size.
func ParserReading(l readers.Layout, readBytes int) readers.Parser {
	return parser{layout: l, readBytes: readBytes}
}
