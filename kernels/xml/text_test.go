package xml_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
)

// TestPlainXML holds text against what a replacer makes of it, with references over the bounds of
// words.
func TestPlainXML(t *testing.T) {
	r := kerneltest.Open(t)
	meant := strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'",
		"\r\n", "\n", "\r", "\n")
	section := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	rng := rand.New(rand.NewPCG(7, 3))
	pieces := []string{
		"a", "b", "&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "\r\n", "\r", "\n", "amp;",
		"é", "eight by",
	}
	for range 60 {
		var text, want bytes.Buffer
		for range rng.IntN(60) {
			var run strings.Builder
			for range rng.IntN(20) {
				run.WriteString(pieces[rng.IntN(len(pieces))])
			}
			text.WriteString("<a>" + run.String() + "</a><b><![CDATA[" + run.String() + "]]></b>")
			want.WriteString("<a>" + meant.Replace(run.String()) + "</a><b><![CDATA[" +
				section.Replace(run.String()) + "]]></b>")
		}
		if text.Len() == 0 {
			continue
		}
		b := kerneltest.Upload(r, text.Bytes())
		x, err := kxml.AllocXML(r.Set, r.Stream, b)
		r.OK(err)
		p, err := kxml.AllocPlainXML(r.Set, r.Stream, b, x)
		r.OK(err)
		if got := kerneltest.Read(r, p.Text)[:want.Len()]; x.Fault >= 0 || !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("fault %d, text %q\ngot  %q\nwant %q", x.Fault, text.Bytes(), got, want.Bytes())
		}
		from, to := kerneltest.Upload(r, []int64{0, int64(text.Len()) - 4, -1}),
			kerneltest.Upload(r, []int64{3, int64(text.Len()), -1})
		r.OK(p.Spans(r.Set, r.Stream, from, to))
		if starts, ends := kerneltest.Read(r, from), kerneltest.Read(r, to); starts[1] != int64(want.Len())-4 ||
			ends[1] != int64(want.Len()) || starts[2] != ends[2] || ends[0] != 3 {
			t.Fatalf("spans %v %v of %d bytes", starts, ends, want.Len())
		}
		r.OK(p.Free(r.Stream))
		r.OK(x.Free(r.Stream))
	}
}
