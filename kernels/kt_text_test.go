package kernels_test

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"golang.org/x/text/encoding/charmap"
)

// jsonBrackets are the brackets of JSON.
var jsonBrackets = kernels.Brackets{Open: "{[", Close: "}]"}

// depthOf runs BracketDepth; the memory is freed at the end of the test.
func depthOf(r *rig, text []byte, inside []uint64, b kernels.Brackets,
	carry gpu.Buffer[kernels.DepthCarry],
) *kernels.Depth {
	r.Helper()
	d, err := kernels.AllocDepth(r.s, len(text), b)
	r.ok(err)
	r.Cleanup(func() { r.ok(d.Free(r.s)) })
	var mask kernels.Mask
	if inside != nil {
		mask = upload(r, inside)
	}
	r.ok(r.k.BracketDepth(r.s, upload(r, text), mask, d, carry))
	return d
}

// quoteParity is QuoteParity, byte by byte.
func quoteParity(text []byte, quote byte, style kernels.QuoteStyle, c *kernels.QuoteCarry) []uint64 {
	return bitmap(len(text), func(i int) bool {
		switch escaped := c.Escaped != 0; {
		case escaped:
			c.Escaped = 0
		case style == kernels.QuoteEscaped && text[i] == '\\':
			c.Escaped = 1
		case text[i] == quote:
			c.Inside ^= 1
		}
		return c.Inside != 0
	})
}

// codePage is a page as cards have it. What is U+FFFD is no character.
func codePage(page *charmap.Charmap) (out kernels.CodePage) {
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
