// Package lru simulates the cache of a replica: a folder of tables with a budget, and the part of it
// that is in memory. Of both, what was used longest ago is evicted first.
package lru

// Level says where the regions of a table are that were fetched.
type Level uint8

// The levels of a table.
const (
	Absent Level = iota
	OnDisk       // in the folder, not in memory
	Mapped       // in the folder and in memory
)

// Cache has one list by the time of the last use. As each use counts for the folder and for the
// memory alike, the tables in memory are the first ones of that list.
//
// A table may be there in part: its share is the expected share of its bytes that was fetched.
type Cache struct {
	disk, memory         float64 // budgets in bytes
	diskUsed, memoryUsed float64
	size                 func(file int32) float64
	entries              []entry // the first is the head of the list
	free                 int32   // list of unused entries, by next
	memoryLast           int32   // the last entry of the list that is in memory, or 0
	index                []int32 // hash table: number of the entry, or 0
	count                int
	evicted              func(file int32, share float64)
}

type entry struct {
	file       int32
	prev, next int32
	share      float32 // negative while the entry is on disk only
}

// New returns an empty cache with budgets in bytes. size returns the bytes of a whole table. evicted is
// called for each table that is removed; it may be nil.
func New(disk, memory float64, size func(file int32) float64, evicted func(file int32, share float64)) *Cache {
	return &Cache{
		disk: disk, memory: min(memory, disk), size: size, evicted: evicted,
		entries: make([]entry, 1, 8), index: make([]int32, 16),
	}
}

// Len returns the number of tables.
func (c *Cache) Len() int { return c.count }

// Bytes returns the bytes in the folder and in memory.
func (c *Cache) Bytes() (disk, memory float64) { return c.diskUsed, c.memoryUsed }

// Find returns the level of a table and the share of it that was fetched. It is not a use.
func (c *Cache) Find(file int32) (Level, float64) {
	e := c.index[c.slot(file)]
	switch {
	case e == 0:
		return Absent, 0
	case c.entries[e].share < 0:
		return OnDisk, float64(-c.entries[e].share)
	default:
		return Mapped, float64(c.entries[e].share)
	}
}

// Use puts a table at the front of the list, in memory, with at least the given share, and evicts
// others until both budgets hold. A table larger than a budget is evicted at once.
func (c *Cache) Use(file int32, share float64) {
	s := c.slot(file)
	e := c.index[s]
	if e == 0 {
		e = c.insert(s, file)
	} else {
		bytes := c.bytes(e)
		c.diskUsed -= bytes
		if c.entries[e].share > 0 {
			c.memoryUsed -= bytes
		}
		if e == c.memoryLast {
			c.memoryLast = c.entries[e].prev
		}
		c.unlink(e)
		share = max(share, float64(max(c.entries[e].share, -c.entries[e].share)))
	}
	c.entries[e].share = float32(share)
	c.front(e)
	if c.memoryLast == 0 {
		c.memoryLast = e
	}
	c.diskUsed += c.bytes(e)
	c.memoryUsed += c.bytes(e)
	for c.memoryUsed > c.memory && c.memoryLast != 0 {
		c.unmap()
	}
	for c.diskUsed > c.disk && c.entries[0].prev != 0 {
		c.evict(c.entries[0].prev)
	}
}

// Clear removes all tables.
func (c *Cache) Clear() {
	for c.count > 0 {
		c.evict(c.entries[0].prev)
	}
	c.diskUsed, c.memoryUsed = 0, 0
}

// Unmap removes all tables from memory, not from the folder.
func (c *Cache) Unmap() {
	for c.memoryLast != 0 {
		c.unmap()
	}
	c.memoryUsed = 0
}

func (c *Cache) bytes(e int32) float64 {
	share := c.entries[e].share
	return float64(max(share, -share)) * c.size(c.entries[e].file)
}

// unmap removes the table that was used longest ago from memory.
func (c *Cache) unmap() {
	e := c.memoryLast
	c.memoryUsed -= c.bytes(e)
	c.entries[e].share = -c.entries[e].share
	c.memoryLast = c.entries[e].prev
}

// evict removes a table from the folder.
func (c *Cache) evict(e int32) {
	if c.entries[e].share > 0 {
		c.memoryUsed -= c.bytes(e)
	}
	if e == c.memoryLast {
		c.memoryLast = c.entries[e].prev
	}
	c.diskUsed -= c.bytes(e)
	c.remove(c.slot(c.entries[e].file))
	c.unlink(e)
	c.entries[e].next = c.free
	c.free = e
	c.count--
	if c.evicted != nil {
		share := c.entries[e].share
		c.evicted(c.entries[e].file, float64(max(share, -share)))
	}
}

// insert makes an entry that is not in the list.
func (c *Cache) insert(slot int, file int32) int32 {
	e := c.free
	if e != 0 {
		c.free = c.entries[e].next
	} else {
		e = int32(len(c.entries))
		c.entries = append(c.entries, entry{})
	}
	c.entries[e].file = file
	c.index[slot] = e
	c.count++
	if 4*c.count > 3*len(c.index) {
		c.index = make([]int32, 2*len(c.index))
		c.index[c.slot(file)] = e
		for i := c.entries[0].next; i != 0; i = c.entries[i].next {
			c.index[c.slot(c.entries[i].file)] = i
		}
	}
	return e
}

func (c *Cache) front(e int32) {
	first := c.entries[0].next
	c.entries[e].prev, c.entries[e].next = 0, first
	c.entries[first].prev = e // of the head, if the list is empty
	c.entries[0].next = e
}

func (c *Cache) unlink(e int32) {
	prev, next := c.entries[e].prev, c.entries[e].next
	c.entries[prev].next = next
	c.entries[next].prev = prev
}

// home is the slot at which the search for a file begins.
func (c *Cache) home(file int32) int {
	return int(uint32(file)*2654435769>>7) & (len(c.index) - 1)
}

// slot returns the slot of a file, or the free one that it would have.
func (c *Cache) slot(file int32) int {
	i := c.home(file)
	for c.index[i] != 0 && c.entries[c.index[i]].file != file {
		i = (i + 1) & (len(c.index) - 1)
	}
	return i
}

// remove empties a slot and moves the entries that follow it to where a search finds them.
func (c *Cache) remove(i int) {
	mask := len(c.index) - 1
	for j := (i + 1) & mask; c.index[j] != 0; j = (j + 1) & mask {
		if (j-c.home(c.entries[c.index[j]].file))&mask >= (j-i)&mask {
			c.index[i] = c.index[j]
			i = j
		}
	}
	c.index[i] = 0
}
