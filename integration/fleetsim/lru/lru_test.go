package lru

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plain is the same cache in the simplest way: a slice, the last used table first.
type plain struct {
	disk, memory float64
	size         func(int32) float64
	tables       []table
	evicted      map[int32]int
}

type table struct {
	file   int32
	share  float64
	mapped bool
}

func (p *plain) use(file int32, share float64) {
	i := slices.IndexFunc(p.tables, func(t table) bool { return t.file == file })
	if i >= 0 {
		share = max(share, p.tables[i].share)
		p.tables = slices.Delete(p.tables, i, i+1)
	}
	p.tables = slices.Insert(p.tables, 0, table{file, share, true})
	for {
		_, memory := p.bytes()
		if memory <= p.memory {
			break
		}
		for i := len(p.tables) - 1; i >= 0; i-- {
			if p.tables[i].mapped {
				p.tables[i].mapped = false
				break
			}
		}
	}
	for {
		disk, _ := p.bytes()
		if disk <= p.disk {
			return
		}
		last := len(p.tables) - 1
		p.evicted[p.tables[last].file]++
		p.tables = p.tables[:last]
	}
}

func (p *plain) bytes() (disk, memory float64) {
	for _, t := range p.tables {
		b := t.share * p.size(t.file)
		disk += b
		if t.mapped {
			memory += b
		}
	}
	return disk, memory
}

func (p *plain) find(file int32) (Level, float64) {
	for _, t := range p.tables {
		if t.file == file && t.mapped {
			return Mapped, t.share
		}
		if t.file == file {
			return OnDisk, t.share
		}
	}
	return Absent, 0
}

func TestCacheIsTheSameAsASimpleOne(t *testing.T) {
	size := func(file int32) float64 { return float64(1 + file*file%97) }
	for _, budget := range []struct{ disk, memory float64 }{
		{1000, 100}, {1000, 1000}, {50, 20}, {1e9, 30}, {1e9, 1e9}, {97, 200},
	} {
		evicted := map[int32]int{}
		c := New(budget.disk, budget.memory, size, func(file int32, _ float64) { evicted[file]++ })
		p := &plain{disk: budget.disk, memory: min(budget.disk, budget.memory), size: size, evicted: map[int32]int{}}
		r := rand.New(rand.NewPCG(3, uint64(budget.disk)))
		for n := range 20000 {
			file := int32(min(r.ExpFloat64()*60, 400))
			share := []float64{1, 1, 0.25, 0.5}[r.IntN(4)]
			c.Use(file, share)
			p.use(file, share)
			other := int32(r.IntN(400))
			gotLevel, gotShare := c.Find(other)
			wantLevel, wantShare := p.find(other)
			if gotLevel != wantLevel || gotShare != wantShare || c.Len() != len(p.tables) {
				t.Fatalf("%+v, after %d uses: file %d is %d, %v of %d tables, want %d, %v of %d", budget, n, other,
					gotLevel, gotShare, c.Len(), wantLevel, wantShare, len(p.tables))
			}
			if n%5000 == 4999 {
				c.Unmap()
				for i := range p.tables {
					p.tables[i].mapped = false
				}
			}
		}
		gotDisk, gotMemory := c.Bytes()
		wantDisk, wantMemory := p.bytes()
		if math.Abs(gotDisk-wantDisk) > 1e-6 || math.Abs(gotMemory-wantMemory) > 1e-6 {
			t.Errorf("%+v: %v and %v bytes, want %v and %v", budget, gotDisk, gotMemory, wantDisk, wantMemory)
		}
		for file, n := range p.evicted {
			if evicted[file] != n {
				t.Errorf("%+v: file %d was evicted %d times, want %d", budget, file, evicted[file], n)
			}
		}
		c.Clear()
		if level, _ := c.Find(1); c.Len() != 0 || level != Absent {
			t.Errorf("%+v: %d tables after Clear", budget, c.Len())
		}
	}
}
