package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// packedCase is a packed file and its content.
type packedCase struct {
	name   string
	packed []byte
	want   []byte // nil: an error
}

// frame is a zstd frame that says how long its content is, or does not.
func frame(t testing.TB, content []byte, sized bool, options ...zstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, append(options, zstd.WithZeroFrames(true), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	if sized {
		return w.EncodeAll(content, nil)
	}
	// a flush hides the length
	_, err = w.Write(content)
	if err = errors.Join(err, w.Flush(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stored is a gzip member whose content is not compressed: what is in it is in the file.
func stored(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func skippable(n int) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{0x5a, 0x2a, 0x4d, 0x18}, uint32(n))
	return append(b, make([]byte, n)...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// largeCases are files of several segments.
func largeCases(t *testing.T) []packedCase {
	text, noise := prose(7_000_000), random(3_000_000)
	var many, manyText, tiny, tinyText []byte
	for i := range 4 {
		part := text[i*1_000_000 : (i+1)*1_000_000]
		many, manyText = append(many, gzipped(t, part)...), append(manyText, part...)
	}
	one := gzipped(t, []byte("x"))
	for range 100_000 {
		tiny, tinyText = append(tiny, one...), append(tinyText, 'x')
	}
	decoy := gzipped(t, prose(100))
	decoys := stored(t, join(noise[:2_000_000], decoy, noise[2_000_000:], decoy))
	misleading := stored(t, bytes.Repeat(decoy, 40_000))
	a, b, c := text[:3_000_000], noise, text[3_000_000:]
	dictionary := zstd.WithEncoderDictRaw(7, prose(1000))
	window := zstd.WithWindowSize(64 << 20)
	cases := []packedCase{
		{"four.gz", many, manyText},
		{"noise.gz", gzipped(t, noise[:2_000_000], nil, noise[2_000_000:]), noise},
		{"tiny.gz", tiny, tinyText},
		{"empty-between.gz", join(gzipped(t, nil, nil), many, gzipped(t, nil, nil, nil)), manyText},
		{"blocks.gz", bgzipped(t, text, 65280), text},
		{"blocks-and-members.gz", join(bgzipped(t, text, 65280), many), join(text, manyText)},
		{"members-and-blocks.gz", join(many, bgzipped(t, text, 65280)), join(manyText, text)},
		{"decoys.gz", join(decoys, many), join(noise[:2_000_000], decoy, noise[2_000_000:], decoy, manyText)},
		{"misleading.gz", join(misleading, many), join(bytes.Repeat(decoy, 40_000), manyText)},
		{"garbage-between.gz", join(many, []byte("garbage"), many), nil},
		{"zeros-behind.gz", join(many, make([]byte, 1000)), nil},
		{"cut.gz", many[:len(many)-5], nil},
		{"sized.zst", join(frame(t, a, true), frame(t, b, true), frame(t, c, true)), join(a, b, c)},
		{"unsized.zst", join(frame(t, a, false), frame(t, b, false), frame(t, c, false)), join(a, b, c)},
		{
			"mixed.zst", join(frame(t, b, true), frame(t, c, false), frame(t, a, true), frame(t, b, false)),
			join(b, c, a, b),
		},
		{
			"skipped.zst", join(skippable(12), frame(t, b, true), skippable(1<<20), frame(t, a, true), skippable(0)),
			join(b, a),
		},
		{
			"empty.zst", join(frame(t, nil, true), frame(t, b, true), frame(t, nil, false), frame(t, a, true)),
			join(b, a),
		},
		{
			"windows.zst", join(frame(t, b, false, window), frame(t, a, false, window), frame(t, c, true, window)),
			join(b, a, c),
		},
		{"tiny.zst", bytes.Repeat(frame(t, []byte("x"), true), 100_000), tinyText},
		{"ones.zst", endless(100, nil), make([]byte, 100*128<<10)},
		{"dictionary.zst", join(frame(t, b, true), frame(t, a, true, dictionary)), nil},
		{"garbage.zst", join(frame(t, b, true), []byte("garbage"), frame(t, a, true)), nil},
		{"cut.zst", join(frame(t, b, true), frame(t, a, true)[:100_000]), nil},
	}
	flip := func(name string, packed []byte, at int) {
		packed = bytes.Clone(packed)
		packed[at] ^= 0x10
		cases = append(cases, packedCase{name, packed, nil})
	}
	flip("checksum.gz", many, len(many)/2)
	flip("length.gz", gzipped(t, noise, noise, noise), len(gzipped(t, noise))-2)
	flip("end.gz", many, len(many)-2)
	flip("content.zst", join(frame(t, a, true), frame(t, c, true), frame(t, a, true)), len(frame(t, a, true))+100_000)
	flip("end.zst", join(frame(t, b, true), frame(t, a, true)), len(frame(t, b, true))+len(frame(t, a, true))-2)
	return cases
}

// alone is what one worker makes of a packed file from its first byte on.
func alone(t *testing.T, f *File) ([]byte, error) {
	t.Helper()
	var b bytes.Buffer
	write := func(p []byte) error {
		b.Write(p)
		return nil
	}
	var err error
	if packing, _ := PackingOf(f.Name); packing == Gzip {
		err = f.gunzip(t.Context(), write)
	} else {
		err = f.unzstd(t.Context(), write)
	}
	return b.Bytes(), err
}

// aheadOf unpacks a file ahead, reads it from several places while that lasts, and gives the whole.
func aheadOf(t *testing.T, f *File, workers int) (content []byte, err error) {
	t.Helper()
	dir := t.TempDir()
	g, err := f.Unpack(t.Context(), UnpackOptions{Dir: dir, Workers: workers, Ahead: true})
	if err != nil {
		return nil, err
	}
	defer g.Close()
	size := g.Size
	done := make(chan []byte)
	const pieces = 4
	for k := range int64(pieces) {
		go func() {
			p := make([]byte, size*(k+1)/pieces-size*k/pieces)
			if _, err := g.ReadAt(p, size*k/pieces); err != nil {
				p = nil
			}
			done <- p
		}()
	}
	early := 0
	for range pieces {
		if p := <-done; p != nil {
			early += len(p)
		}
	}
	whole, err := g.Whole()
	if err != nil {
		if int64(early) == size && size > 0 {
			t.Error("the last byte was there, of a malformed file")
		}
		return nil, err
	}
	if whole == g && int64(early) != size {
		t.Errorf("%d of %d bytes were read ahead", early, size)
	}
	if whole.Name != g.Name || !whole.Packed() || whole.Unchanged() != nil || whole.Coming() && whole != g {
		t.Errorf("whole: %s, packed %v, %v", whole.Name, whole.Packed(), whole.Unchanged())
	}
	wantNothingLeft(t, dir)
	return contentOf(t, whole), nil
}

// TestSegments unpacks members and frames side by side. The content, or the error, is that of one
// worker, also for a reader of the content meanwhile.
func TestSegments(t *testing.T) {
	for _, tt := range largeCases(t) {
		t.Run(tt.name, func(t *testing.T) {
			f := packed(t, tt.name, tt.packed)
			want, wrong := alone(t, f)
			if (wrong == nil) != (tt.want != nil) || wrong == nil && !bytes.Equal(want, tt.want) {
				t.Fatalf("one worker: %d bytes, %v, want %d", len(want), wrong, len(tt.want))
			}
			for _, workers := range []int{1, 4} {
				got, err := aheadOf(t, f, workers)
				if fmt.Sprint(err) != fmt.Sprint(wrong) || err == nil && !bytes.Equal(got, want) {
					t.Errorf("%d workers: %d bytes, %v, want %d, %v", workers, len(got), err, len(want), wrong)
				}
			}
		})
	}
}

// Several workers unpack what several may: segments were found where they are.
func TestSegmentsAreFound(t *testing.T) {
	text := prose(12_000_000)
	var members, frames, unsized []byte
	for i := range 12 {
		part := text[i*1_000_000 : (i+1)*1_000_000]
		members = append(members, stored(t, part)...)
		frames = append(frames, frame(t, part, true, zstd.WithEncoderLevel(zstd.SpeedFastest))...)
		unsized = append(unsized, frame(t, part, false)...)
	}
	for name, tt := range map[string]struct {
		packed []byte
		sized  bool
		least  int
	}{
		"members.gz": {members, true, 5}, "blocks.gz": {bgzipped(t, text, 65280), true, 2},
		"one.gz": {gzipped(t, text), true, 1}, "frames.zst": {frames, true, 2}, "unsized.zst": {unsized, false, 2},
		"one.zst": {frame(t, text, true), true, 1},
	} {
		f := packed(t, name, tt.packed)
		temp, err := NewTemp(f.Name, UnpackOptions{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		s := newSpread(&unpacking{f: f, t: temp, in: newArrivals(), workers: 2, promised: make(chan int64, 1)})
		if err := s.scan(); err != nil {
			t.Fatal(err)
		}
		n, at := 0, int64(0)
		for seg := s.front; seg != nil; seg = seg.next {
			if seg.from != at || !seg.closed {
				t.Errorf("%s: segment %d begins at %d, want %d", name, n, seg.from, at)
			}
			n, at = n+1, seg.to
		}
		if n < tt.least || tt.least == 1 && n != 1 || at != f.Size {
			t.Errorf("%s: %d segments, want %d or more; they end at %d, want %d", name, n, tt.least, at, f.Size)
		}
		select {
		case size := <-s.promised:
			if !tt.sized || size != int64(len(text)) {
				t.Errorf("%s: promises %d bytes, want %d", name, size, len(text))
			}
		default:
			if tt.sized {
				t.Errorf("%s: promises nothing", name)
			}
		}
		_ = temp.Close()
	}
}

// What a packed file says of its size and is not so is no error: its content is another file then.
func TestContentOfAnotherSize(t *testing.T) {
	text := prose(300_000)
	// a member that the scan takes for one with the next, which it does not see: of an unknown system
	hidden := gzipped(t, text[200_000:])
	hidden[9] = 200
	f := packed(t, "a.csv.gz", join(gzipped(t, text[:200_000]), hidden))
	g, err := f.Unpack(t.Context(), UnpackOptions{Workers: 2, Ahead: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	whole, err := g.Whole()
	if err != nil || whole.Coming() && whole.Size != g.Size || !bytes.Equal(contentOf(t, whole), text) {
		t.Fatalf("%v, %v", whole, err)
	}
	if whole != g {
		if _, err := g.ReadAt(make([]byte, 10), g.Size-10); !errors.Is(err, errSize) {
			t.Errorf("the last bytes of another size: %v", err)
		}
	}
	if err := errors.Join(g.Close(), whole.Close()); err != nil {
		t.Error(err)
	}
}

// A reader waits for its bytes, and for nothing else: the first ones are there while the last ones
// have not come.
func TestAheadOfTheRest(t *testing.T) {
	text := prose(3_000_000)
	for _, name := range []string{"a.csv.gz", "a.csv.zst"} {
		content := gzipped(t, text)
		if strings.HasSuffix(name, "zst") {
			content = frame(t, text, true)
		}
		up, err := NewUpload(name, int64(len(content)), UnpackOptions{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := up.Write(content[:len(content)*3/4]); err != nil {
			t.Fatal(err)
		}
		f, err := up.Open()
		if err != nil {
			t.Fatal(err)
		}
		temp, err := NewTemp(name, UnpackOptions{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		a := &ahead{unpacking: f.start(t.Context(), temp, 2), size: int64(len(text))}
		p := make([]byte, 1_000_000)
		if n, err := a.ReadAt(p, 0); n != len(p) || err != nil || !bytes.Equal(p, text[:len(p)]) {
			t.Fatalf("%s: %d bytes, %v", name, n, err)
		}
		up.Fail(errors.New("the cable is cut"))
		if n, err := a.ReadAt(p, int64(len(text)-10)); n > 0 || err == nil || !strings.Contains(err.Error(), "cable") {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		if err := errors.Join(a.Close(), a.Close(), up.Close()); err != nil {
			t.Error(err)
		}
	}
}

// An abandoned content is not unpacked any further.
func TestAheadIsClosed(t *testing.T) {
	f := packed(t, "a.csv.zst", frame(t, make([]byte, 1<<28), true))
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	g, err := f.Unpack(t.Context(), UnpackOptions{Dir: dir, Workers: 2, Ahead: true})
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error)
	go func() {
		_, err := g.ReadAt(make([]byte, 1), g.Size-1)
		waits <- err
	}()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waits; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			break
		}
		runtime.Gosched()
	}
	wantNothingLeft(t, dir)
}

// The limit on what a file unpacks to is the same for segments.
func TestLimitOfSegments(t *testing.T) {
	text := prose(6_000_000)
	for name, content := range map[string][]byte{
		"a.gz":  join(gzipped(t, text), gzipped(t, text), gzipped(t, text)),
		"a.zst": join(frame(t, text, false), frame(t, text, true), frame(t, text, true)),
	} {
		f := packed(t, name, content)
		for _, most := range []int64{1000, 6_000_000, 17_999_999} {
			var room *RoomError
			_, err := f.Unpack(t.Context(), UnpackOptions{Workers: 4, Ahead: true, MaxBytes: most})
			if !errors.As(err, &room) || room.Limit != most {
				t.Errorf("%s: %v, want *RoomError of %d", name, err, most)
			}
		}
	}
}

// A length modulo 2^32 is made the one that fits: five GiB of zeros, of which the file says one.
func TestLengthsBeyond4GiB(t *testing.T) {
	var block bytes.Buffer
	w, err := flate.NewWriter(&block, 1)
	if err == nil {
		_, err = w.Write(make([]byte, 16<<20))
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	member := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, bytes.Repeat(block.Bytes(), 5<<30>>24)...)
	member = append(member, 3, 0) // the last block, of nothing
	member = append(member, 1, 2, 3, 4)
	f := packed(t, "a.gz", binary.LittleEndian.AppendUint32(member, 1<<30))
	s := newSpread(&unpacking{f: f, t: &Temp{limit: 1 << 40}, in: newArrivals(), promised: make(chan int64, 1)})
	if err := s.scan(); err != nil {
		t.Fatal(err)
	}
	if got := <-s.promised; got != 5<<30 {
		t.Errorf("promises %d bytes, want %d", got, int64(5<<30))
	}
}

// Files that the programs write whose formats they are.
func TestFilesOfPrograms(t *testing.T) {
	text := prose(9_000_000)
	plain := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(plain, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"gzip.gz": {"gzip", "-c", plain}, "pigz.gz": {"pigz", "-c", plain}, "bgzip.gz": {"bgzip", "-c", plain},
		"zstd.zst": {"zstd", "-qc", plain}, "stream.zst": {"sh", "-c", "zstd -qc < " + plain},
		"pzstd.zst": {"pzstd", "-qc", "-p", "2", plain}, "adapt.zst": {"zstd", "-qc", "-T0", "--adapt", plain},
		"long.zst": {"zstd", "-qc", "--long=27", plain},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skip(command[0], "is not installed")
			}
			content, err := exec.Command(command[0], command[1:]...).Output()
			if err != nil {
				t.Fatal(err)
			}
			got, err := aheadOf(t, packed(t, name, content), 4)
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// Changed bytes of a file of several segments give what one worker finds.
func TestSweepOfSegments(t *testing.T) {
	text, noise := prose(1_500_000), random(1_200_000)
	files := map[string][]byte{
		"a.csv.gz": join(gzipped(t, text), gzipped(t, noise), stored(t, text), bgzipped(t, noise, 65280)),
		"a.csv.zst": join(frame(t, noise, true), frame(t, text, false), skippable(9), frame(t, noise, true),
			frame(t, text, true)),
	}
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for n := range rounds {
		seed := uint64(sweepSeed + n)
		r := rand.New(rand.NewPCG(seed, 1))
		for name, content := range files {
			content = bytes.Clone(content)
			switch i, k := r.IntN(len(content)), r.IntN(len(content)); r.IntN(4) {
			case 0:
				content[i] ^= 1 << r.IntN(8)
			case 1:
				content = content[:i]
			case 2:
				content = join(content[:i], []byte{byte(k)}, content[i:])
			default:
				content = join(content[:i], gzipped(t, text[:k%1000]), content[i:])
			}
			f := packed(t, name, content)
			want, wrong := alone(t, f)
			got, err := aheadOf(t, f, 1+r.IntN(4))
			if fmt.Sprint(err) != fmt.Sprint(wrong) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("seed %d, %s: %d bytes, %v, want %d, %v", seed, name, len(got), err, len(want), wrong)
			}
		}
	}
}

func FuzzSegments(f *testing.F) {
	text := prose(3000)
	f.Add(true, join(gzipped(f, text, nil, text), bgzipped(f, text, 500)))
	f.Add(true, stored(f, gzipped(f, text)))
	f.Add(false, join(frame(f, text, true), skippable(3), frame(f, text, false)))
	f.Fuzz(func(t *testing.T, gz bool, content []byte) {
		name := "a.zst"
		if gz {
			name = "a.gz"
		}
		file := packed(t, name, content)
		u := UnpackOptions{Dir: t.TempDir(), MaxBytes: 1 << 24, Workers: 3, Ahead: true}
		var all []byte
		write := func(p []byte) error {
			if all = append(all, p...); len(all) > 1<<24 {
				return &RoomError{Name: file.Name, Limit: 1 << 24}
			}
			return nil
		}
		var wrong error
		if gz {
			wrong = file.gunzip(t.Context(), write)
		} else {
			wrong = file.unzstd(t.Context(), write)
		}
		g, err := file.Unpack(t.Context(), u)
		if err == nil {
			defer g.Close()
			g, err = g.Whole()
		}
		if fmt.Sprint(err) != fmt.Sprint(wrong) {
			t.Fatalf("%v, want %v", err, wrong)
		}
		if err == nil && !bytes.Equal(contentOf(t, g), all) {
			t.Fatalf("%d bytes, want %d, of checksum %x", g.Size, len(all), crc32.ChecksumIEEE(all))
		}
	})
}
