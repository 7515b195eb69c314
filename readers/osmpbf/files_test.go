package osmpbf_test

import (
	"bytes"
	"math"
)

// files returns the files of testdata, by their names.
func files() map[string][]byte {
	text := block(table("name", "a\xffb", "ref", "1"),
		message{}.
			bytes(1, message{}.signed(1, 1).signed(8, 2e6).signed(9, 3e6).numbers(2, 1, 3).numbers(3, 4, 4)).
			bytes(1, message{}.signed(1, 2).signed(8, 2e6).signed(9, 3e6).
				numbers(2, 1, 3).numbers(3, 2, 4)))
	position := block(table("name", "a"),
		message{}.
			bytes(1, message{}.signed(1, 1).signed(8, 900000001).signed(9, 3e6).numbers(2, 1).numbers(3, 2)).
			bytes(1, message{}.signed(1, 2).signed(8, 2e6).signed(9, math.MaxInt64)).
			bytes(1, message{}.signed(1, 3).signed(8, -9e8).signed(9, 18e8).numbers(2, 1).numbers(3, 2)))
	point := func(key, value uint64) []byte {
		m := message{}.signed(1, 1).signed(8, 2e6).signed(9, 3e6)
		return message{}.bytes(1, m.numbers(2, key).numbers(3, value))
	}
	named := block(table("name", "a"), point(1, 2))
	whole := osmFile(named)
	blob := func(b []byte) []byte { return append(bytes.Clone(osmFile()), framed("OSMData", b)...) }
	granular := append(block(table("name", "a"), point(1, 2)), message{}.number(17, 1000).
		number(19, 500).number(20, uint64(1<<64-7))...)
	return map[string][]byte{
		"square":      square(),
		"packed":      blob(packed(named)),
		"granularity": osmFile(granular),
		"nodes": osmFile(block(table(),
			message{}.bytes(2, message{}.deltas(1, 1, 2).deltas(8, 1, 2).deltas(9, 1, 2)))),
		"empty":         osmFile(),
		"unknown":       append(osmFile(), append(framed("Other", []byte("any")), framed("OSMData", raw(named))...)...),
		"bad-text":      osmFile(text),
		"skip-text":     osmFile(text),
		"null-text":     osmFile(text),
		"bad-position":  osmFile(position),
		"skip-position": osmFile(position),
		"null-position": osmFile(position),
		"bad-string":    osmFile(block(table("name"), point(1, 2))),
		"bad-values": osmFile(block(table("name"),
			message{}.bytes(1, message{}.signed(1, 1).signed(8, 2).signed(9, 3).numbers(2, 1)))),
		"bad-node": osmFile(block(table("name"), message{}.bytes(1, message{}.signed(1, 1).signed(9, 3)))),
		"bad-dense": osmFile(block(table("name"),
			message{}.bytes(2, message{}.deltas(1, 1, 2).deltas(8, 1).deltas(9, 1, 2)))),
		"bad-cut":     whole[:len(whole)-3],
		"bad-nothing": {},
		"bad-first":   framed("OSMData", raw(named)),
		"bad-header":  {0, 1, 0, 0, 'x'},
		"bad-feature": framed("OSMHeader", raw(message{}.text(4, "HistoricalInformation"))),
		"bad-lzma":    blob(message{}.number(2, 3).bytes(4, []byte("abc"))),
		"bad-size":    blob(message{}.number(2, uint64(len(named)+1)).bytes(3, deflated(named))),
		"bad-larger":  blob(message{}.number(2, uint64(len(named)-1)).bytes(3, deflated(named))),
		"bad-bomb":    blob(message{}.number(2, 1<<40).bytes(3, deflated(named))),
		"bad-zlib":    blob(message{}.number(2, 5).bytes(3, []byte("not zlib"))),
		"columns":     whole,
		"hstore":      square(),
	}
}
