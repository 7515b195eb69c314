package kerneltest

import (
	"golang.org/x/text/encoding/charmap"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// JSONBrackets are the brackets of JSON.
var JSONBrackets = ktext.Brackets{Open: "{[", Close: "}]"}

// DepthOf runs BracketDepth; the memory is freed at the end of the test.
func DepthOf(r *Rig, text []byte, inside []uint64, b ktext.Brackets,
	carry gpu.Buffer[ktext.DepthCarry],
) *ktext.Depth {
	r.Helper()
	d, err := ktext.AllocDepth(r.Stream, len(text), b)
	r.OK(err)
	r.Cleanup(func() { r.OK(d.Free(r.Stream)) })
	var mask kernels.Mask
	if inside != nil {
		mask = Upload(r, inside)
	}
	r.OK(ktext.BracketDepth(r.Set, r.Stream, Upload(r, text), mask, d, carry))
	return d
}

// QuoteParity is QuoteParity, byte by byte.
func QuoteParity(text []byte, quote byte, style ktext.QuoteStyle, c *ktext.QuoteCarry) []uint64 {
	return Bitmap(len(text), func(i int) bool {
		switch escaped := c.Escaped != 0; {
		case escaped:
			c.Escaped = 0
		case style == ktext.QuoteEscaped && text[i] == '\\':
			c.Escaped = 1
		case text[i] == quote:
			c.Inside ^= 1
		}
		return c.Inside != 0
	})
}

// CodePage is a page as devices have it. What is U+FFFD is no character.
func CodePage(page *charmap.Charmap) (out ktext.CodePage) {
	for i := range out {
		text := string(page.DecodeByte(byte(0x80 + i)))
		if text == "\uFFFD" {
			continue
		}
		out[i] = uint32(len(text)) << 24
		for k := range len(text) {
			out[i] |= uint32(text[k]) << (8 * k)
		}
	}
	return out
}
