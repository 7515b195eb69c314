package temporal

// UTC is Parse for a date and time in UTC, in the forms that GeoPackages have, with or without the
// zone. It returns microseconds since 1970-01-01T00:00:00Z.
//
//	2006-01-02T15:04:05Z
//	2006-01-02T15:04:05.678Z
func UTC(text []byte) (micros int64, ok bool) {
	n := len(text)
	if n > 0 && text[n-1] == 'Z' {
		n--
	}
	if n != 19 && n != 23 || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return 0, false
	}
	days, ok := date(text)
	hour, minute, second := pair(text, 11), pair(text, 14), pair(text, 17)
	if !ok || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	if n == 23 {
		tens, ones := pair(text, 20), uint(text[22]-'0')
		if text[19] != '.' || tens > 99 || ones > 9 {
			return 0, false
		}
		micros = int64(10*tens+ones) * 1000
	}
	return (days*secondsPerDay+int64(60*(60*hour+minute)+second))*1_000_000 + micros, true
}
