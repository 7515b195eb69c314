package gen

// turn is the full circle in the unit of directions.
const turn = 256

// unit is the length of the vectors of directions.
const unit = 1_000_000

// quarter holds the sines of the first quarter of a turn, 90 degrees included.
var quarter = [turn/4 + 1]int32{
	0, 24541, 49068, 73565, 98017, 122411, 146730, 170962, 195090, 219101, 242980, 266713, 290285,
	313682, 336890, 359895, 382683, 405241, 427555, 449611, 471397, 492898, 514103, 534998, 555570, 575808,
	595699, 615232, 634393, 653173, 671559, 689541, 707107, 724247, 740951, 757209, 773010, 788346, 803208,
	817585, 831470, 844854, 857729, 870087, 881921, 893224, 903989, 914210, 923880, 932993, 941544, 949528,
	956940, 963776, 970031, 975702, 980785, 985278, 989177, 992480, 995185, 997290, 998795, 999699, 1000000,
}

// sine of a direction, times unit.
func sine(direction int64) int64 {
	d := direction & (turn/4 - 1)
	switch direction / (turn / 4) & 3 {
	case 0:
		return int64(quarter[d])
	case 1:
		return int64(quarter[turn/4-d])
	case 2:
		return -int64(quarter[d])
	}
	return -int64(quarter[turn/4-d])
}

func cosine(direction int64) int64 { return sine(direction + turn/4) }

// position in units of 1e-7 degree.
type position struct{ x, y int64 }

// outline returns a closed ring with a number of different positions around x and y,
// counterclockwise, or clockwise as a hole. Its positions are multiples of step, and between 0.6
// times and once the radius away. They stay until the next call.
func (c *chunk) outline(x, y, radius, step, positions int64, hole bool) []position {
	c.ringAtHand = c.ringAtHand[:0]
	for k := range positions {
		at := k
		if hole {
			at = positions - 1 - k
		}
		direction := (10*1024*at + 7*c.below(1024)) * turn / (10 * 1024 * positions)
		r := radius*3/5 + c.below(radius*2/5)
		c.ringAtHand = append(c.ringAtHand, position{
			(x + r*cosine(direction)/unit) / step * step,
			(y + r*sine(direction)/unit) / step * step,
		})
	}
	c.ringAtHand = append(c.ringAtHand, c.ringAtHand[0])
	return c.ringAtHand
}

// ring writes an outline as GeoJSON.
func (c *chunk) ring(x, y, radius, step, positions int64, hole bool) {
	for i, p := range c.outline(x, y, radius, step, positions, hole) {
		if i == 0 {
			c.string("[[")
		} else {
			c.string(",[")
		}
		c.shortest(p.x)
		c.byte(',')
		c.shortest(p.y)
		c.byte(']')
	}
	c.byte(']')
}

// plot returns the outline of a parcel of land somewhere in Florida: 6 decimals, 4 to 24 corners, 8
// in the mean, each one more four in five as frequent.
func (c *chunk) plot(hole bool) []position {
	n := int64(4)
	for n < 24 && c.below(5) != 0 {
		n++
	}
	x, y := c.florida()
	return c.outline(x, y, 2000, 10, n, hole)
}

// pairs writes positions: what is between x and y, and what between two of them.
func (c *chunk) pairs(positions []position, within, between string) {
	for i, p := range positions {
		if i > 0 {
			c.string(between)
		}
		c.shortest(p.x)
		c.string(within)
		c.shortest(p.y)
	}
}
