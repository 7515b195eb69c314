package number

// HexDigits are the values of hexadecimal digits, 255 for other bytes.
var HexDigits = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i := range byte(16) {
		t["0123456789abcdef"[i]], t["0123456789ABCDEF"[i]] = i, i
	}
	return t
}()
