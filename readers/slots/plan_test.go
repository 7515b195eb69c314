package slots

import "testing"

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory int64
		want   Plan
	}{
		{"the default", 1 << 30, Plan{ChunkBytes: 40 << 20, Slots: 7, Work: 3, ArenaBytes: 230 << 20}},
		{"a little less", 3 << 28, Plan{ChunkBytes: 32 << 20, Slots: 6, Work: 3, ArenaBytes: 184 << 20}},
		{"as much as there is", 1 << 37, Plan{ChunkBytes: 40 << 20, Slots: 8, Work: 4, ArenaBytes: 230 << 20}},
		{"half of it", 512 << 20, Plan{ChunkBytes: 32 << 20, Slots: 4, Work: 2, ArenaBytes: 184 << 20}},
		{"little", 64 << 20, Plan{ChunkBytes: 4 << 20, Slots: 3, Work: 2, ArenaBytes: 23 << 20}},
		{"next to nothing", 10 << 20, Plan{ChunkBytes: 1 << 20, Slots: 2, Work: 1, ArenaBytes: 23 << 18}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := planFor(c.memory)
			if err != nil || got != c.want {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
			if takes := int64(got.Slots)*got.text() + int64(got.Work)*got.ArenaBytes; takes > c.memory-spareBytes {
				t.Errorf("%d bytes of %d", takes, c.memory)
			}
		})
	}
	if _, err := planFor(9 << 20); err == nil {
		t.Error("no error for memory that no chunk fits")
	}
}

// TestBufferBytes divides the memory of rings among devices; a short text has short buffers.
func TestBufferBytes(t *testing.T) {
	large, small := Plan{ChunkBytes: largeChunkBytes}, Plan{ChunkBytes: minChunkBytes}
	for _, c := range []struct {
		plan    Plan
		devices int
		want    int
	}{
		{large, 1, 2 << 20},
		{large, 2, 2 << 20},
		{large, 3, (80 << 20) / 60 &^ 63},
		{large, 8, 1 << 20},
		{small, 1, 1 << 20},
		{Plan{ChunkBytes: 64}, 1, 1<<19 + 64},
	} {
		if got := bufferBytes(c.plan, c.devices); got != c.want {
			t.Errorf("%+v, %d devices: %d, want %d", c.plan, c.devices, got, c.want)
		}
	}
}
