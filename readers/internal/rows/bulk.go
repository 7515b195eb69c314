package rows

import "math/bits"

// FilledMany counts n appended values, at most 64. A value is null if its bit in valid, the first
// one lowest, is not set.
func (c *Column) FilledMany(n int, valid uint64) {
	nulls := n - bits.OnesCount64(valid)
	if nulls > 0 && c.nulls == 0 {
		c.allValid()
	}
	if c.nulls += nulls; c.nulls > 0 {
		shift := c.N & 7
		if shift > 0 {
			c.valid[len(c.valid)-1] |= byte(valid << shift)
			valid >>= 8 - shift
		}
		for size := (c.N + n + 7) / 8; len(c.valid) < size; valid >>= 8 {
			c.valid = append(c.valid, byte(valid))
		}
	}
	c.N += n
}

// allValid begins the validity of rows without nulls so far.
func (c *Column) allValid() {
	c.valid = c.valid[:0]
	for k := 0; k < c.N; k += 8 {
		c.valid = append(c.valid, 0xFF)
	}
	if c.N&7 != 0 {
		c.valid[len(c.valid)-1] = 1<<(c.N&7) - 1
	}
}
