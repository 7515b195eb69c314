package xml_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
)

// plainTags reads text byte by byte, as AllocXML does.
func plainTags(text []byte) (starts, ends []int64, ok bool) {
	for i, r := range string(text) {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff || r == utf8.RuneError &&
			!bytes.HasPrefix(text[i:], []byte("\xef\xbf\xbd")) {
			return nil, nil, false
		}
	}
	if len(text) > 0 && text[len(text)-1] >= 0x80 { // which a tag is to follow
		return nil, nil, false
	}
	inTag, sections := false, 1
	for p := 0; p < len(text); p++ {
		switch c := text[p]; {
		case bytes.HasPrefix(text[p:], []byte("<![CDATA[")):
			end := bytes.Index(text[p:], []byte("]]>"))
			if end < 0 || bytes.Contains(text[p+9:p+end], []byte("<![CDATA[")) {
				return nil, nil, false
			}
			if p += end + 2; inTag || sections > 0 {
				return nil, nil, false
			}
			sections++
		case bytes.HasPrefix(text[p:], []byte("]]>")):
			return nil, nil, false
		case c == '<' || c == '>':
			if inTag == (c == '<') {
				return nil, nil, false
			}
			sections = 0
			if inTag = c == '<'; inTag {
				starts = append(starts, int64(p))
			} else {
				ends = append(ends, int64(p))
			}
		case c == '&':
			if !slices.ContainsFunc([]string{"lt;", "gt;", "amp;", "quot;", "apos;"}, func(s string) bool {
				return bytes.HasPrefix(text[p+1:], []byte(s))
			}) {
				return nil, nil, false
			}
		}
	}
	return starts, ends, !inTag
}

// checkTags compares the tags of text on the device with the plain reading.
func checkTags(r *kerneltest.Rig, text []byte) {
	r.Helper()
	x, err := kxml.AllocXML(r.Set, r.Stream, kerneltest.Upload(r, text))
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	starts, ends, ok := plainTags(text)
	if fault := x.Fault >= 0 || len(text) > 0 && kerneltest.Read(r, x.Found)[0].Fault >= 0; fault == ok {
		r.Fatalf("fault at %d, want one: %v; text %.400q", x.Fault, !ok, text)
	}
	if !ok {
		return
	}
	if got, to := kerneltest.Read(r, x.Starts), kerneltest.Read(r, x.Ends); !slices.Equal(got, starts) ||
		!slices.Equal(to, ends) {
		r.Fatalf("tags begin at %v and end at %v, want %v and %v; text %.400q", got, to, starts, ends, text)
	}
	if coded := bytes.ContainsAny(text, "&\r"); x.Coded != coded {
		r.Fatalf("coded %v; text %.400q", x.Coded, text)
	}
}

func TestXMLTags(t *testing.T) {
	r := kerneltest.Open(t)
	for _, text := range []string{
		"", "x", "<", ">", "<>", "><", "<a>", "<a><b/></a>", "<a>>", "<a<b>", "<![CDATA[]]>", "<![CDATA[]>",
		"<![CDATA[<x>]]>", "<![CDATA[<![CDATA[]]>", "]]>", "<a>]]></a>",
		"<![CDATA[", "<a>&amp;&lt;&gt;&quot;&apos;</a>", "&", "&amp", "&#65;", "&nbsp;", "<![CDATA[&]]>",
		"\r", "\x00", "\x1f", "\x7f", "é", "\xc3", "\xc3<a>", "\xef\xbf\xbf", "\xef\xbf\xbd", "\xef\xbf",
		"\xed\xa0\x80", "😀", "<!-- x -->", "<?x?>",
	} {
		checkTags(r, []byte(text))
		for _, before := range []int{55, 62, 63, 16380} {
			checkTags(r, slices.Concat(bytes.Repeat([]byte("y"), before), []byte(text)))
			checkTags(r, slices.Concat(bytes.Repeat([]byte("y"), before), []byte(text), bytes.Repeat([]byte("z"), 70)))
		}
	}
	rng := rand.New(rand.NewPCG(7, 2))
	pieces := []string{
		"<a>", "</a>", "<b c=\"1\"/>", "<![CDATA[", "]]>", "x", "&amp;", "\r\n", "é", "日本",
		"long text without anything, which takes a word or two of the mask", "<", ">", "&", "\xff",
	}
	for range 150 {
		var text []byte
		kinds := len(pieces)
		if rng.IntN(3) > 0 {
			kinds = 11 - 8*rng.IntN(2)
		}
		for range rng.IntN(400) {
			text = append(text, pieces[rng.IntN(kinds)]...)
		}
		checkTags(r, text)
	}
	text := bytes.Repeat([]byte("<a>x</a>"), 9000)
	for _, n := range kerneltest.Sizes {
		checkTags(r, text[:n])
	}
	checkTags(r, slices.Concat([]byte("<![CDATA["), text, []byte("]]><b/>")))
}
