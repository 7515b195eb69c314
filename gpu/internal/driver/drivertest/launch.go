package drivertest

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

func words32(b []byte) []uint32 {
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func words64(b []byte) []uint64 {
	out := make([]uint64, len(b)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return out
}

func testShapes(b *bench) {
	ordinal := b.kernel("ordinal")
	for _, d := range []driver.Dim{
		{Grid: 1, Block: 1},
		{Grid: 1, Block: 31},
		{Grid: 1, Block: 33},
		{Grid: 7, Block: 32},
		{Grid: 3, Block: 1000},
		{Grid: 5, Block: 1024},
		{Grid: 70000, Block: 1}, // more blocks than fit a grid's y or z
	} {
		threads := d.Grid * d.Block
		for _, n := range []int{1, threads - threads/3, threads} {
			out := b.alloc(4 * threads)
			b.launch(ordinal, d, uint64(out), uint64(n))
			for i, got := range words32(b.download(out, 4*threads)) {
				want := uint32(i) + 1
				if i >= n {
					want = untouched * 0x01010101
				}
				if got != want {
					b.Fatalf("grid %d, block %d, n %d: word %d is %#x, want %#x", d.Grid, d.Block, n, i, got, want)
				}
			}
		}
	}
}

// Each slot's upper bytes are dirty where the parameter is narrower.
func testArgumentWidths(b *bench) {
	letter := b.upload([]byte{'x'})
	tests := []struct {
		name string
		args [8]uint64
		want [8]uint64
	}{
		{"small", [8]uint64{1, 2, 3, 4, 5, 6, 7, 8}, [8]uint64{1, 2, 3, 4, 5, 6, 7, 8}},
		{"zero", [8]uint64{}, [8]uint64{}},
		{
			"largest",
			[8]uint64{^uint64(0), 0x7f, ^uint64(0), 0x7fff, ^uint64(0), 0x7fffffff, ^uint64(0), 1<<63 - 1},
			[8]uint64{0xff, 0x7f, 0xffff, 0x7fff, 0xffffffff, 0x7fffffff, ^uint64(0), 1<<63 - 1},
		},
		{
			"negative",
			[8]uint64{0x80, 0x80, 0x8000, 0x8000, 0x80000000, 0x80000000, 1 << 63, 1 << 63},
			[8]uint64{0x80, ^uint64(0x7f), 0x8000, ^uint64(0x7fff), 0x80000000, ^uint64(0x7fffffff), 1 << 63, 1 << 63},
		},
		{
			"dirty upper bytes",
			[8]uint64{
				0xabababababababff, 0xabababababababfe, 0xabababababab1234, 0xabababababab8000,
				0xababababfedcba98, 0xabababab12345678, 1, 2,
			},
			[8]uint64{0xff, ^uint64(1), 0x1234, ^uint64(0x7fff), 0xfedcba98, 0x12345678, 1, 2},
		},
	}
	f := b.kernel("widths")
	for _, tt := range tests {
		out := b.alloc(9 * 8)
		args := append([]uint64{uint64(out)}, tt.args[:]...)
		b.launch(f, driver.Dim{Grid: 1, Block: 1}, append(args, uint64(letter))...)
		got := words64(b.download(out, 9*8))
		for i, want := range append(tt.want[:], 'x') {
			if got[i] != want {
				b.Errorf("%s: parameter %d is %#x, want %#x", tt.name, i+1, got[i], want)
			}
		}
	}
}

func testManyArguments(b *bench) {
	out := b.alloc(8)
	args := []uint64{uint64(out)}
	want := uint64(0)
	for i := range uint64(19) {
		v := i*0x9e3779b97f4a7c15 + 1
		args = append(args, v)
		want += (i + 1) * v
	}
	b.launch(b.kernel("many"), driver.Dim{Grid: 1, Block: 1}, args...)
	if got := words64(b.download(out, 8))[0]; got != want {
		b.Errorf("sum of 19 weighted arguments is %#x, want %#x", got, want)
	}
}

// A struct of more than a word, one that no register takes, and what is between them.
func testStructArguments(b *bench) {
	const threads = 2
	out := b.alloc(threads * 8 * 8)
	var args driver.Args
	args.Add(7<<32|0xfe, 1<<40) // the bytes after a are padding
	args.Add(uint64(0xffff_8000))
	args.Add(9<<32|1, 2, 30, 31, 32, 33)
	args.Add(uint64(out))
	b.must("Launch", b.Launch(b.stream, b.kernel("structs"), driver.Dim{Grid: 1, Block: threads}, args))
	clear(args.Words)
	got := words64(b.download(out, threads*8*8))
	for t := range uint64(threads) {
		want := []uint64{0xfe + t, 7, 1 << 40, 0xffff_ffff_ffff_8000, 9, 2, 30 + t, 33}
		if !slices.Equal(got[8*t:8*t+8], want) {
			b.Errorf("thread %d wrote %#x, want %#x", t, got[8*t:8*t+8], want)
		}
	}
}

// Arguments that are not as many or as long as the parameters are refused. Drivers before CUDA 12.4
// do not know the parameters.
func testWrongArguments(b *bench) {
	f := b.kernel("ordinal")
	out := uint64(b.alloc(4))
	long := driver.Words(out)
	long.Add(1, 0)
	for _, args := range []driver.Args{{}, driver.Words(out), driver.Words(out, 1, 0), long} {
		err := b.Launch(b.stream, f, driver.Dim{Grid: 1, Block: 1}, args)
		if err == nil {
			b.Errorf("arguments of %d bytes for parameters of [8 8]: not refused", args.Bytes())
		}
		if err != nil && !strings.Contains(err.Error(), "ordinal") {
			b.Errorf("the error does not name the kernel: %v", err)
		}
	}
}

func testStaticShared(b *bench) {
	const blocks = 5
	data := pattern(blocks*256*4, 3)
	p := b.upload(data)
	b.launch(b.kernel("reverse256"), driver.Dim{Grid: blocks, Block: 256}, uint64(p))
	got, from := words32(b.download(p, len(data))), words32(data)
	for i := range got {
		if want := from[i|255-i&255]; got[i] != want {
			b.Fatalf("word %d is %#x, want %#x", i, got[i], want)
		}
	}
}

// A block gets 48 KiB without asking, more after SharedMemory, and never more than the device has.
func testDynamicShared(b *bench) {
	const asked = 64 << 10
	f := b.kernel("dynamic_sum")
	sum := func(bytes int) {
		b.Helper()
		const blocks = 3
		n := uint64(bytes / 4)
		out := b.alloc(blocks * 8)
		b.launch(f, driver.Dim{Grid: blocks, Block: 96, SharedBytes: bytes}, uint64(out), n)
		for i, got := range words64(b.download(out, blocks*8)) {
			if want := n*(n-1)/2 + n*uint64(i); got != want {
				b.Errorf("block %d: sum over %d bytes is %d, want %d", i, bytes, got, want)
			}
		}
	}
	sum(4)
	sum(48 << 10)
	out := b.alloc(8)
	d := driver.Dim{Grid: 1, Block: 96, SharedBytes: asked}
	if err := b.Launch(b.stream, f, d, driver.Words(uint64(out), 1)); err == nil {
		b.Errorf("a launch with %d bytes of shared memory that were not asked for is not refused", asked)
	}
	if b.Info().SharedBytes < asked {
		b.Skipf("the device gives a block %d bytes of shared memory", b.Info().SharedBytes)
	}
	b.must("SharedMemory", b.SharedMemory(f, asked))
	sum(asked)
	sum(4)
	if err := b.SharedMemory(f, b.Info().SharedBytes+1<<20); err == nil {
		b.Errorf("SharedMemory gives more than the device has")
	}
	sum(asked)
}

func testLaunchOrder(b *bench) {
	p := b.upload(make([]byte, 8))
	step := b.kernel("step")
	want := uint64(0)
	for i := range uint64(200) {
		b.launch(step, driver.Dim{Grid: 1, Block: 1}, uint64(p), 3, i)
		want = want*3 + i
	}
	if got := words64(b.download(p, 8))[0]; got != want {
		b.Errorf("200 launches give %#x, want %#x", got, want)
	}
}

// A launch that cannot be is refused by Launch or by the next Synchronize, does nothing, and harms
// no later one.
func testLaunchRefused(b *bench) {
	f := b.kernel("ordinal")
	out := b.alloc(4)
	for _, d := range []driver.Dim{
		{Grid: 0, Block: 32},
		{Grid: 1, Block: 0},
		{Grid: -1, Block: 32},
		{Grid: 1, Block: 1 << 20},
		{Grid: 1 << 40, Block: 32},
		{Grid: 1<<32 + 1, Block: 1<<32 + 1}, // 1 and 1 in 32 bits
		{Grid: 1, Block: 32, SharedBytes: -1},
		{Grid: 1, Block: 32, SharedBytes: 1<<32 + 4},
	} {
		err := b.Launch(b.stream, f, d, driver.Words(uint64(out), 1))
		if err == nil {
			b.Errorf("grid %d, block %d, shared %d: not refused", d.Grid, d.Block, d.SharedBytes)
		}
		if err != nil && !strings.Contains(err.Error(), "ordinal") {
			b.Errorf("the error does not name the kernel: %v", err)
		}
	}
	b.launch(f, driver.Dim{Grid: 1, Block: 1}, uint64(out), 1)
	if got := words32(b.download(out, 4))[0]; got != 1 {
		b.Errorf("a launch after refused ones wrote %#x, want 1", got)
	}
}
