package gpu_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
)

// TestArena allocates and frees at random: every buffer keeps what was written to it, memory comes
// back, and what does not fit comes from the device.
func TestArena(t *testing.T) {
	const size = 1 << 16
	d := gputest.Open(t)
	s := gputest.Stream(t, d)
	a, err := d.NewArena(size - 100)
	must(t, err)
	before, _, _ := d.MemoryBytes()
	if before != size {
		t.Errorf("an arena of %d bytes takes %d", size-100, before)
	}
	s.Use(a)
	type held struct {
		b gpu.Buffer[byte]
		v byte
	}
	var live []held
	r := rand.New(rand.NewPCG(5, 5))
	outside := 0
	for step := range 2000 {
		if len(live) > 0 && r.IntN(2) == 0 {
			i := r.IntN(len(live))
			got, err := gpu.Read(s, live[i].b)
			must(t, err)
			for _, v := range got {
				if v != live[i].v {
					t.Fatalf("step %d: %d in a buffer of %d", step, v, live[i].v)
				}
			}
			must(t, live[i].b.Free(s))
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		b, err := gpu.Alloc[byte](s, 1+r.IntN(size/8))
		must(t, err)
		if b.Address()%16 != 0 {
			t.Fatalf("a buffer at %#x", b.Address())
		}
		v := byte(step)
		must(t, gpu.Fill(s, b, v))
		live = append(live, held{b, v})
		if used, _, _ := d.MemoryBytes(); used > size {
			outside++
		}
	}
	for _, h := range live {
		must(t, h.b.Free(s))
	}
	if used, _, _ := d.MemoryBytes(); used != size {
		t.Errorf("%d bytes in use, want the arena's %d", used, size)
	}
	if outside == 0 || a.Peak() > size || a.Peak() < size/2 {
		t.Errorf("peak %d of %d, %d times beyond it", a.Peak(), size, outside)
	}
	whole, err := gpu.Alloc[byte](s, size) // all holes have become one again
	must(t, err)
	if used, _, _ := d.MemoryBytes(); used != size {
		t.Error("the whole arena is not free")
	}
	must(t, whole.Free(s))
	s.Use(nil)
	must(t, a.Close())
}

func TestArenaWithoutRoom(t *testing.T) {
	d := gputest.OpenWith(t, gpu.Options{MemoryBytes: 1 << 20})
	if _, err := d.NewArena(2 << 20); !errors.Is(err, gpu.ErrMemory) {
		t.Errorf("%v, want ErrMemory", err)
	}
	if used, _, _ := d.MemoryBytes(); used != 0 {
		t.Errorf("%d bytes in use", used)
	}
}
