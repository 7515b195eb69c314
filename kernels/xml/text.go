package xml

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
	ktable "github.com/vibeflight/vibeflight/kernels/table"
)

// FieldOdd is what XMLValues says of a value that a host is to look at: a number without digits on
// one side of its point, one so long or so near to another that a host is to say, more than 1 KiB
// of blanks around it.
const FieldOdd = ktable.FieldWrong

// PlainXML is a text of XML as it is meant. Free gives its memory back.
type PlainXML struct {
	Text  gpu.Buffer[byte] // as long as the text of XML; what is after the plain one is anything
	keep  kernels.Mask
	ranks *klist.Ranks
}

// AllocPlainXML makes references to entities the characters that they mean, and line ends line
// feeds (XML 1.0 section 2.11): in all of the text, whatever it is, but that "&" means itself in
// CDATA sections. Needed only where x is Coded.
//
//	text  of x
//
//	text    A &lt;B\r\nC
//	Text    A <B\nC
//
// Eight launches; reads the text two times and writes it twice, and 3/8 of it.
func AllocPlainXML(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *XML) (*PlainXML, error) {
	w := k.Begin(s, "plain XML")
	w.Need(w.CheckText(text) == x.n && x.n > 0, "%d bytes of text for tags of %d", text.Len(), x.n)
	p := &PlainXML{ranks: &klist.Ranks{}}
	p.Text, p.keep = kernels.Result[byte](w, x.n), kernels.Result[uint64](w, int64(kernels.Words(text.Len())))
	plain := kernels.Scratch[byte](w, text.Len())
	w.Launch("xml_plain", kernels.Blocks(int64(p.keep.Len()), kernels.Block), kernels.Block, text.Arg(),
		gpu.Int(x.n), x.within.Arg(),
		p.keep.Arg(), plain.Arg())
	if w.Err == nil {
		w.Err = kernels.Compact(k, s, plain, p.keep, p.Text, gpu.Buffer[int64]{})
	}
	if w.Err == nil {
		if r, err := klist.Rank(k, s, p.keep); err == nil {
			p.ranks = r
		} else {
			w.Err = err
		}
	}
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, p.Free(s))
	}
	return p, nil
}

// Spans makes spans of the text of XML spans of the plain one. One that begins before the text
// becomes empty.
func (p *PlainXML) Spans(k *kernels.Set, s *gpu.Stream, from, to gpu.Buffer[int64]) error {
	return klist.RankSpans(k, s, p.ranks, from, to)
}

// Free gives the memory back once the work that s was given before is done.
func (p *PlainXML) Free(s *gpu.Stream) error {
	return errors.Join(p.Text.Free(s), p.keep.Free(s), p.ranks.Free(s))
}

// XMLValues takes the blanks from around values and says which kinds of values columns have.
//
//	text  as it is meant
//	to    Starts and Ends are From and To of XMLRows, and become those of Scalars; the others are overwritten.
//	      Kinds has FieldText, FieldBool and FieldOdd too, and NumberInt32,
//	      NumberInt64 with NumberNegative and NumberInexact, and NumberReal of numbers
//
//	value   12     -3               1.5    true   007    +5     NaN    "   "   .5
//	kinds   Int32  Int32 Negative   Real   Bool   Text   Text   Text   0       Odd
//
// A number is one of GrammarJSON. One beyond int64 or float64 is text.
//
// One launch; reads 16 bytes a value and its text, and writes 16 and three bits.
func XMLValues(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], rows int, to knumber.Scalars) error {
	w := k.Begin(s, "XML values")
	n, columns, words := w.CheckText(text), to.Kinds.Len(), kernels.Words(rows)
	w.Need(rows > 0 && kernels.CountSpans(w, to.Starts, to.Ends) == int64(columns)*int64(rows),
		"%d values in %d columns of %d rows", to.Starts.Len(), columns, rows)
	for _, mask := range []kernels.Mask{to.Valid, to.Numbers, to.Trues} {
		w.Need(mask.Len() == columns*words, "a mask of %d words for %d columns of %d rows", mask.Len(), columns, rows)
	}
	if w.Err == nil && columns > 0 {
		w.Err = gpu.Fill(s, to.Kinds, 0)
		w.Launch("xml_values", kernels.Blocks(int64(rows), kernels.Block)*int64(columns), kernels.Block,
			text.Arg(), gpu.Int(n),
			gpu.Int(rows), gpu.Int(columns),
			to.Starts.Arg(), to.Ends.Arg(), to.Valid.Arg(), to.Numbers.Arg(), to.Trues.Arg(), to.Kinds.Arg())
	}
	return w.Done()
}
