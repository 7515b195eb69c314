package parallel

// PackState returns the State of a part of a text format, for Config.Commit: the SRID of the rows, 0
// if they have none, and whether more than the end of the file ends the last one.
func PackState(srid int32, closed bool) uint64 {
	state := uint64(uint32(srid)) << 1
	if closed {
		state |= 1
	}
	return state
}

// UnpackState returns what PackState was given.
func UnpackState(state uint64) (srid int32, closed bool) {
	return int32(uint32(state >> 1)), state&1 != 0
}
