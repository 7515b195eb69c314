package osmpbf

// zOrder returns the z_order of a line, by the formula of GDAL's osmconf.ini: which of two lines
// that cross is drawn above the other.
func (k *sink) zOrder(t *texts, tags []tag) int32 {
	const keys = keyHighway | keyBridge | keyTunnel | keyRailway | keyLayer
	var z int32
	var seen class
	for i := range tags {
		c := k.layer.class(t, tags[i].key)
		if c&keys == 0 {
			continue
		}
		value := tags[i].value
		if n := c.column(); n >= 0 {
			if k.values[n] == 0 { // a text that was left out
				continue
			}
			value = k.values[n] - 1
		}
		if seen&c&keys != 0 { // the first one counts, of a column the last
			continue
		}
		seen |= c & keys
		v := t.bytes(value)
		switch {
		case c&keyHighway != 0:
			z += highwayOrder[string(v)]
		case c&keyBridge != 0 && isTrue(v):
			z += 10
		case c&keyTunnel != 0 && isTrue(v):
			z -= 10
		case c&keyRailway != 0:
			z += 5
		case c&keyLayer != 0:
			z += 10 * leadingInteger(v)
		}
	}
	return z
}

var highwayOrder = map[string]int32{
	"minor": 3, "road": 3, "unclassified": 3, "residential": 3, "tertiary_link": 4, "tertiary": 4,
	"secondary_link": 6, "secondary": 6, "primary_link": 7, "primary": 7, "trunk_link": 8, "trunk": 8,
	"motorway_link": 9, "motorway": 9,
}

func isTrue(v []byte) bool {
	switch string(v) {
	case "yes", "true", "1":
		return true
	}
	return false
}

// leadingInteger returns the integer that a text begins with, as C's atoi does: 0 if there is none.
func leadingInteger(v []byte) int32 {
	i := 0
	for i < len(v) && (v[i] == ' ' || v[i] >= '\t' && v[i] <= '\r') {
		i++
	}
	negative := i < len(v) && v[i] == '-'
	if i < len(v) && (v[i] == '-' || v[i] == '+') {
		i++
	}
	const most = 1<<63 - 1
	n := uint64(0)
	for ; i < len(v) && v[i] >= '0' && v[i] <= '9'; i++ {
		if n > (most-9)/10 {
			n = most
			break
		}
		n = 10*n + uint64(v[i]-'0')
	}
	if negative {
		return int32(-int64(n))
	}
	return int32(n)
}
