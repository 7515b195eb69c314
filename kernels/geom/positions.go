package geom

import (
	"math"
	"strings"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// PositionStyle is how positions are written.
type PositionStyle uint32

const (
	// PositionJSON is `[ x , y ]`, with numbers of GrammarJSON: GeoJSON (RFC 7946 section 3.1.1). A
	// position begins with its bracket.
	PositionJSON PositionStyle = iota
	// PositionWKT is `x y` up to a comma or a closing bracket, with numbers of GrammarLenient, or
	// EMPTY in any case, whatever follows but a letter. A position begins with its first byte, or
	// with blanks.
	PositionWKT
)

// Ordinates are where ParsePositions puts what it reads: each of X and Y has one element a
// position, and so have Z and M or they are left out. An ordinate that a position does not have is
// the NaN 0x7ff8000000000000, as are those of an empty, a malformed or an undecided one.
type Ordinates struct {
	X, Y, Z, M gpu.Buffer[float64]
	Undecided  kernels.Mask               // bit i says that ResolvePositions is to read position i
	Found      gpu.Buffer[PositionsFound] // one element
	Begun      bool                       // ListRings has begun it
}

// PositionsFound is what there is to know of all positions.
type PositionsFound struct {
	Malformed int64  // the first byte of the text at which a position can't go on, or -1
	Empty     int64  // positions of no ordinate: "[]", EMPTY
	More      int64  // ordinates after the third, in Z and M or not
	Dims      uint32 // bit k is set if some position has k ordinates; those of more than four count as four
	Undecided uint32 // positions that ResolvePositions is to read; 0 after it
}

// ParsePositions reads the positions that begin at the bytes at of text, with two to four ordinates
// each, or none.
//
//	text    n bytes
//	blanks  of the same text; or nil: what has more than 256 blanks between two tokens may be undecided
//	at      ascending or not; one that does not point to a position is malformed
//	to      overwritten
//
//	text    [ [ - 1 . 5 , 2 ] , [ 3 , 4 , 5 ] ]
//	at        1               10
//	x         -1.5            3
//	y         2               4
//	z         NaN             5               Dims 1<<2 | 1<<3
//
// Numbers are as ParseFloat64 reads them. One beyond float64 is malformed, and so is a position of
// one ordinate, or one that does not end in the text. Undecided are positions with a number that
// ParseFloat64 leaves undecided, and such of more than four ordinates. Most files have no long runs
// of blanks, and finding them costs a third of what ParsePositions does.
//
// One launch, two unless Found is begun; reads 8 bytes a position and the text under it, and writes
// 8 bytes for each column and an eighth.
func ParsePositions(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], blanks *Blanks, at gpu.Buffer[int64],
	style PositionStyle, to Ordinates,
) error {
	w := k.Begin(s, "parse positions")
	n := w.CheckText(text)
	w.Need(blanks == nil || blanks.n == n, "blanks of another text than the %d bytes", n)
	count := to.check(w, at, style)
	level, words := blanks.args()
	const each = kernels.Block / 2 // warps of a smaller block wait less for each other
	if !to.Begun {
		w.Launch("positions_begin", 1, 32, to.Found.Arg())
	}
	args := positionsArgs{
		n: n, words: words, count: count, style: int64(style),
		to:        ordinateColumns{x: to.X.Pointer(), y: to.Y.Pointer(), z: to.Z.Pointer(), m: to.M.Pointer()},
		undecided: to.Undecided.Pointer(), found: to.Found.Pointer(),
	}
	w.Launch("positions", kernels.Blocks(count, each), each, text.Arg(), level, at.Arg(), gpu.Struct(&args))
	return w.Done()
}

// The structs of positions.cu.
type (
	ordinateColumns struct{ x, y, z, m gpu.Pointer[float64] }
	positionsArgs   struct {
		n, words, count, style int64
		to                     ordinateColumns
		undecided              gpu.Pointer[uint64]
		found                  gpu.Pointer[PositionsFound]
	}
)

// check refuses buffers of other lengths than the positions need, and gives their number.
func (to Ordinates) check(w *kernels.Call, at gpu.Buffer[int64], style PositionStyle) int64 {
	count := at.Len()
	w.Need(style <= PositionWKT, "position style %d", style)
	w.Need(to.X.Len() == count && to.Y.Len() == count, "%d and %d ordinates for %d positions", to.X.Len(),
		to.Y.Len(), count)
	for _, more := range []gpu.Buffer[float64]{to.Z, to.M} {
		w.Need(more.Len() == count || more.Len() == 0, "%d ordinates for %d positions", more.Len(), count)
	}
	w.CheckBits("undecided", to.Undecided, int64(count))
	w.Need(to.Found.Len() == 1, "%d elements for what is found", to.Found.Len())
	return int64(count)
}

// ResolvePositions reads what ParsePositions left undecided on the host, sets its ordinates, and
// gives what was found of all positions and how many were undecided. The arguments are those of
// ParsePositions; the bits of Undecided stay. It waits for the device; without undecided positions
// that is all it does.
//
// The host reads the text of these positions and some 1 KiB after each.
func ResolvePositions(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], at gpu.Buffer[int64], style PositionStyle,
	to Ordinates,
) (found PositionsFound, resolved int, err error) {
	w := k.Begin(s, "resolve positions")
	w.CheckText(text)
	to.check(w, at, style)
	found = kernels.ReadOne(w, to.Found)
	if found.Undecided == 0 {
		return found, 0, w.Done()
	}
	found.Undecided = 0
	index := kernels.Undecided(w, to.Undecided)
	resolved = index.Len()
	batch := kernels.NewHostReader(w, text, resolved)
	for from := 0; from < resolved && w.Err == nil; from += kernels.HostBatch {
		some := index.Slice(from, min(from+kernels.HostBatch, resolved))
		var ordinates []float64
		for _, item := range batch.Load(at, gpu.Buffer[int64]{}, some) {
			p := readItem(batch, item, style)
			found.add(item.Start, p)
			ordinates = append(ordinates, p.ordinates[:]...)
		}
		values := kernels.Scratch[float64](w, len(ordinates))
		kernels.Upload(w, values, ordinates)
		w.Launch("positions_resolve", kernels.Blocks(int64(some.Len()), kernels.Block), kernels.Block,
			some.Arg(), values.Arg(),
			gpu.Int(some.Len()), to.X.Arg(), to.Y.Arg(), to.Z.Arg(), to.M.Arg())
	}
	kernels.Upload(w, to.Found, []PositionsFound{found})
	return found, resolved, w.Done()
}

// add counts a position that starts at byte start of the text.
func (f *PositionsFound) add(start int, p position) {
	if p.malformed {
		if at := int64(start + p.end); f.Malformed < 0 || at < f.Malformed {
			f.Malformed = at
		}
		return
	}
	f.Dims |= 1 << min(p.count, 4)
	f.More += int64(max(p.count-3, 0))
	if p.count == 0 {
		f.Empty++
	}
}

// readItem reads the position that an item's text begins with, bringing as much more of the text as
// it takes.
func readItem(b *kernels.HostReader, x kernels.HostItem, style PositionStyle) position {
	for {
		p, whole := readPosition(x.Text, style)
		end := x.Start + len(x.Text)
		if whole || end == b.Text.Len() || b.W.Err != nil {
			return p
		}
		x.Text = b.Fetch(x.Start, min(end+15*len(x.Text), b.Text.Len()))
	}
}

// position is one position as the host reads it.
type position struct {
	ordinates [4]float64 // the first four; NaN where there is none
	count     int
	malformed bool
	end       int // the first byte that can't go on, if it is malformed
}

// noOrdinate is NO_ORDINATE of positions.cu: the NaN for an ordinate that there is not. Go's own is
// another one.
const noOrdinate = 0x7ff8000000000000

// readPosition reads the position that b begins with. whole says that nothing after b can change
// it.
func readPosition(b []byte, style PositionStyle) (p position, whole bool) {
	json, g := style == PositionJSON, knumber.GrammarLenient
	if json {
		g = knumber.GrammarJSON
	}
	at := func(i int) byte {
		if i < len(b) {
			return b[i]
		}
		return 0
	}
	skip := func(i int) int {
		for at(i) == ' ' || at(i) == '\t' || at(i) == '\n' || at(i) == '\r' {
			i++
		}
		return i
	}
	nan := math.Float64frombits(noOrdinate)
	p.ordinates = [4]float64{nan, nan, nan, nan}
	fail := func(i int) (position, bool) {
		return position{ordinates: [4]float64{nan, nan, nan, nan}, malformed: true, end: i}, i < len(b)
	}
	if json && at(0) != '[' {
		return fail(0)
	}
	i := 0
	if json {
		i = 1
	}
	i = skip(i)
	if json && at(i) == ']' {
		return p, true
	}
	if behind := i + len("EMPTY"); !json && len(b) >= behind && strings.EqualFold(string(b[i:behind]), "EMPTY") &&
		!knumber.IsLetter(at(behind)) {
		return p, behind < len(b)
	}
	for {
		v, length, ok := knumber.ReadNumber(b[min(i, len(b)):], g)
		behind := i + length
		switch {
		case !ok:
			return fail(behind)
		case math.IsInf(v, 0):
			p, whole = fail(i)
			return p, whole && behind < len(b)
		case p.count < 4:
			p.ordinates[p.count] = v
		}
		p.count++
		i = skip(behind)
		c := at(i)
		if json && c == ',' {
			i = skip(i + 1)
			continue
		}
		if closes := c == ']' && json || (c == ',' || c == ')') && !json; closes && p.count > 1 {
			return p, true
		} else if closes || json || i == behind {
			return fail(i)
		}
	}
}
