package xmltext_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// feed is a scanner over a text that comes n bytes at a time.
type feed struct {
	x    xmltext.Scanner
	text string
	step int
	end  int // bytes given so far
	keep [][]byte
}

func newFeed(text string, step, depth int) *feed {
	f := &feed{text: text, step: step}
	f.x.MaxDepth = depth
	f.more(0)
	return f
}

// more gives the window that begins at index keep of the last one, in memory of its own, so that
// slices of the last one are found out.
func (f *feed) more(keep int) {
	base := int(f.x.Base) + keep
	f.end = min(len(f.text), f.end+max(f.step, f.end-base))
	buf := make([]byte, f.end-base+xmltext.Padding)
	copy(buf, f.text[base:f.end])
	f.keep = append(f.keep, buf)
	f.x.Window(unsafe.Pointer(&buf[0]), f.end-base, int64(base), f.end == len(f.text))
}

// do calls a method until the window is long enough.
func (f *feed) do(method func() bool) bool {
	for !method() {
		if !f.x.Cut() {
			return false
		}
		f.more(f.x.P)
	}
	return true
}

// events lists what a scanner finds in a text: tags, attributes, character data, and the fault that
// ends it.
func events(text string, step int) string {
	f := newFeed(text, step, 10)
	var b strings.Builder
	fault := func() string {
		at := min(f.x.Fault.Pos, f.x.N)
		return fmt.Sprintf("%sfault at %d: %s (%s)", b.String(), int(f.x.Base)+at, f.x.Fault.Want, f.x.Fault.Rule)
	}
	if !f.do(f.x.Prolog) {
		return fault()
	}
	for {
		var t xmltext.Token
		if !f.do(func() bool { t = f.x.Next(); return t != xmltext.Fault }) {
			return fault()
		}
		switch t {
		case xmltext.EOF:
			b.WriteString("end\n")
			return b.String()
		case xmltext.End:
			fmt.Fprintf(&b, "/ %d\n", f.x.Depth())
		case xmltext.Start:
			fmt.Fprintf(&b, "<%s>%s|%s", f.x.Name(), f.x.Prefix(), f.x.Local())
			for i := range f.x.Attrs() {
				name, local := f.x.AttrName(i)
				fmt.Fprintf(&b, " %s(%s)=%q", name, local, f.x.AttrValue(i))
			}
			fmt.Fprintf(&b, " @%d\n", f.x.Offset())
		}
		if f.x.Depth() == 0 {
			continue
		}
		var data []byte
		if !f.do(func() (ok bool) { data, ok = f.x.Text(); return ok }) {
			return fault()
		}
		if len(data) > 0 {
			fmt.Fprintf(&b, "%q\n", data)
		}
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"root", "<a/>", "<a>|a @0\n/ 0\nend\n"},
		{"open and closed", "<a></a >\n", "<a>|a @0\n/ 0\nend\n"},
		{"byte order mark", "\uFEFF<a/>", "<a>|a @3\n/ 0\nend\n"},
		{"declaration", `<?xml version="1.0" encoding='UTF-8' standalone="no" ?><a/>`, "<a>|a @55\n/ 0\nend\n"},
		{"prefix and attributes", "<k:a b='1' c:d = \"'\"\n/>", "<k:a>k|a b(b)=\"1\" c:d(d)=\"'\" @0\n/ 0\nend\n"},
		{
			"references", "<a b='&lt;&#65;&#x42;&quot;'>&amp;&gt;&apos;&#x1F600;</a>",
			"<a>|a b(b)=\"<AB\\\"\" @0\n\"&>'😀\"\n/ 0\nend\n",
		},
		{"white space in values", "<a b=' 1\n\t2\r\n3&#10;'/>", "<a>|a b(b)=\" 1  2 3\\n\" @0\n/ 0\nend\n"},
		{
			"line ends", "<a>1\r\n2\r3\n<![CDATA[4\r\n5\r]]>\r\n</a>",
			"<a>|a @0\n\"1\\n2\\n3\\n4\\n5\\n\\n\"\n/ 0\nend\n",
		},
		{"CDATA", "<a><![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>", "<a>|a @0\n\"<b>&amp;]]>\"\n/ 0\nend\n"},
		{"CDATA alone", "<a><![CDATA[x]]></a>", "<a>|a @0\n\"x\"\n/ 0\nend\n"},
		{"comments", "<!-- < - > --><a>1<!--&-->2<!----></a><!--x-->", "<a>|a @14\n\"12\"\n/ 0\nend\n"},
		{"instructions", "<?a b?><a>1<?b ? ??>2</a><?c?>", "<a>|a @7\n\"12\"\n/ 0\nend\n"},
		{
			"nested", "<a>1<b>2</b>3<b/>4</a>",
			"<a>|a @0\n\"1\"\n<b>|b @4\n\"2\"\n/ 1\n\"3\"\n<b>|b @13\n/ 1\n\"4\"\n/ 0\nend\n",
		},
		{"brackets", "<a>]] > ]>a]]</a>", "<a>|a @0\n\"]] > ]>a]]\"\n/ 0\nend\n"},
		{"names beyond ASCII", "<é·/>", "<é·>|é· @0\n/ 0\nend\n"},
		{
			"Latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xE9'>\xFC&amp;\x80</a>",
			"<a>|a b(b)=\"é\" @43\n\"ü&\\u0080\"\n/ 0\nend\n",
		},
		{
			"windows-1252", "<?xml version='1.0' encoding='Windows-1252'?><\xE9>\x80<![CDATA[\x96]]></\xE9>",
			"<é>|é @45\n\"€–\"\n/ 0\nend\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for step := range len(c.text) + 1 {
				if got := events(c.text, step+1); got != c.want {
					t.Fatalf("%q, %d bytes at a time\ngot:\n%s\nwant:\n%s", c.text, step+1, got, c.want)
				}
			}
		})
	}
}

// TestDecodeAtEveryPlace has every kind of text that must be decoded at each place of the words
// that are looked at, with text of every length after it.
func TestDecodeAtEveryPlace(t *testing.T) {
	for _, c := range []struct{ coded, text, value, section string }{
		{"&amp;", "&", "&", "&amp;"},
		{"&lt;", "<", "<", "&lt;"},
		{"&gt;", ">", ">", "&gt;"},
		{"&quot;", `"`, `"`, "&quot;"},
		{"&apos;", "'", "'", "&apos;"},
		{"&#x1F600;", "😀", "😀", "&#x1F600;"},
		{"&lt;&#62;", "<>", "<>", "&lt;&#62;"},
		{"\r\n", "\n", " ", "\n"},
		{"\r", "\n", " ", "\n"},
		{"\r\r\n", "\n\n", "  ", "\n\n"},
		{"\n\t", "\n\t", "  ", "\n\t"},
		{"\n\r", "\n\n", "  ", "\n\n"},
	} {
		for before := range 18 {
			for after := range 18 {
				in := func(mark string) string {
					return strings.Repeat("a", before) + mark + strings.Repeat("é", after)
				}
				text := "<a b='" + in(c.coded) + "'>" + in(c.coded) + "<c/><![CDATA[" + in(c.coded) + "]]></a>"
				want := fmt.Sprintf("<a>|a b(b)=%q\n%q\n<c>|c\n/ 1\n%q\n/ 0\nend\n", in(c.value), in(c.text),
					in(c.section))
				if got := withoutOffsets(events(text, len(text))); got != want {
					t.Fatalf("%q\ngot:\n%s\nwant:\n%s", text, got, want)
				}
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "¦", "root element"},
		{"blanks", " \n¦", "root element"},
		{"no XML", "¦x", "root element"},
		{"cut tag", "<a¦", "end of a tag"},
		{"cut content", "<a>x¦", "end tag"},
		{"cut reference", "<a>&am¦", "reference"},
		{"cut comment", "<a><!-- ¦", "-->"},
		{"cut CDATA", "<a><![CDATA[ ]¦", "]]>"},
		{"mismatch", "<a><b>¦</a></b>", `end tag "</b>"`},
		{"mismatch, longer", "<a><b>¦</bc></a>", `end tag "</b>"`},
		{"mismatch, case", "<a>¦</A>", `end tag "</a>"`},
		{"end first", "¦</a>", "no element is open"},
		{"two roots", "<a/>¦<b/>", "second root"},
		{"text after", "<a/>¦x", "after the root"},
		{"CDATA after", "<a/>¦<![CDATA[]]>", "outside of the root"},
		{"no quotes", "<a b=¦1/>", "in quotes"},
		{"no value", "<a b¦/>", `"="`},
		{"no blank", "<a b='1'¦c='2'/>", "a blank"},
		{"twice", "<a b='1' ¦b='2'/>", "already"},
		{"angle in value", "<a b='¦<'/>", "&lt;"},
		{"ampersand in value", "<a b='¦& '/>", "&amp;"},
		{"ampersand", "<a>¦& </a>", "&amp;"},
		{"unknown entity", "<a>¦&nbsp;</a>", "predefine"},
		{"reference to nothing", "<a>¦&#0;</a>", "does not have"},
		{"reference to a surrogate", "<a>¦&#xD800;</a>", "does not have"},
		{"huge reference", "<a>¦&#99999999999999999999;</a>", "does not have"},
		{"no digit", "<a>&#¦;</a>", "a digit"},
		{"no hexadecimal digit", "<a>&#x¦g;</a>", "a digit"},
		{"section end", "<a>x¦]]></a>", "]]>"},
		{"control character", "<a>¦\x01</a>", "control"},
		{"NUL", "<a>¦\x00</a>", "control"},
		{"control character in a comment", "<a><!--¦\x01--></a>", "control"},
		{"no UTF-8", "<a>é¦\xff</a>", "UTF-8"},
		{"no UTF-8, before an ampersand", "<a>¦\xff&x</a>", "UTF-8"},
		{"no UTF-8 in a value", "<a b='¦\xff'/>", "UTF-8"},
		{"noncharacter", "<a>\uFFFD¦\uFFFE</a>", "does not have"},
		{"undefined", "<?xml version='1.0' encoding='cp1252'?><a>\x80¦\x81</a>", "windows-1252"},
		{"two hyphens", "<a><!-- --¦ --></a>", `">"`},
		{"document type", "¦<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "document type"},
		{"element declaration", "<!¦ELEMENT a><a/>", "comment"},
		{"late declaration", " ¦<?xml version='1.0'?><a/>", "does not begin"},
		{"declaration inside", "<a>¦<?XML x?></a>", "does not begin"},
		{"instruction", "<a><?b?¦?></a>", "\"?>\""},
		{"version", "<?xml version='¦2.0'?><a/>", "1.0"},
		{"no version", "<?xml ¦encoding='UTF-8'?><a/>", "version"},
		{"other encoding", "<?xml version='1.0' encoding='¦EBCDIC'?><a/>", "encoding"},
		{"two colons", "<a:b¦:c/>", "colon"},
		{"colon first", "<¦:c/>", "name of a tag"},
		{"name of a digit", "<a><¦1/></a>", "name of a tag"},
		{"character of a name", "<a¦×/>", "a name may not have"},
		{"slash", "<a/¦ >", `">"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after, _ := strings.Cut(c.text, "¦")
			text := before + after
			for step := range len(text) + 1 {
				got := events(text, step+1)
				_, fault, _ := strings.Cut(got, "fault at ")
				if !strings.HasPrefix(fault, fmt.Sprintf("%d: ", len(before))) || !strings.Contains(fault, c.want) {
					t.Fatalf("%q, %d bytes at a time\ngot:\n%s\nwant %q at %d", text, step+1, got, c.want, len(before))
				}
			}
		})
	}
}

func TestDepth(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }
	if got := events(deep(10), 7); !strings.HasSuffix(got, "end\n") {
		t.Error(got)
	}
	f := newFeed(deep(11), 5, 10)
	if f.do(func() bool {
		return f.x.Next() != xmltext.Fault && f.x.Pass(0)
	}) || !f.x.Fault.Depth || f.x.Base+int64(f.x.Fault.Pos) != 30 {
		t.Errorf("got %+v in the window at %d, want the depth at byte 30", f.x.Fault, f.x.Base)
	}
}

// TestValue reads the texts of elements, whole and again after the window was filled. TestMost
// reads pieces longer than Most: whatever the windows, the same tags come before the same fault.
func TestMost(t *testing.T) {
	for _, text := range []string{
		"<?xml version='1.0' encoding='UTF-8'?> <a>1</a>", "<?xml version='1.0' encoding='x'?><a/>",
		"<?xml version='2.0'?><a/>", "<?xml version='1.0' x='yes'?><a/>",
		"<a b='1' c='2'>text</a ><!-- c -->\n", "<a b='1' b='2'/>", "<abc></abd>", "<a></abc>",
		"<a>1 &nbsp; </a>", "<a>1 &amp </a>", "<a>&#x00000000;</a>", "<a>1]]>2</a>",
		"<a>1\xFF2\x01 </a>", "<a>1\xFF2</a>", "<a><!-- \xFF --></a>", "<a><![CDATA[1234]]></a>",
		"<!DOCTYPE a>", "<a><?xml x?></a>", "<a1\u00D7z/>", "<a1\xFFz/>", "<a b='1\xFF2'/>",
		"<?xml version='1.0' encoding='cp1252'?><a>1\x812</a>", "<a><b/></a><c/>", "<a>1</a>2", "<a><b><c>", "  ",
	} {
		for most := range len(text) {
			want := passed(text, len(text), most)
			for step := range len(text) {
				if got := passed(text, step, most); got != want {
					t.Fatalf("%q, %d bytes a piece, windows of %d bytes\ngot %s\nwant %s", text, most, step, got, want)
				}
			}
		}
	}
	if got, want := passed("<a>12345</a>", 1, 5), "1 2 end"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := passed("<a>12345</a>", 1, 4), "1 fault at 3, long true: a shorter text"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// passed returns the tokens of a text and the fault that ends it.
func passed(text string, step, most int) string {
	f := newFeed(text, max(1, step), 3)
	f.x.Most = most
	got := ""
	for more := f.x.Prolog; f.do(more); {
		more = func() bool {
			token := f.x.Next()
			switch token {
			case xmltext.Fault:
			case xmltext.EOF:
				got += "end"
			default:
				got += fmt.Sprintf("%d ", token)
			}
			return token != xmltext.Fault
		}
		if strings.HasSuffix(got, "end") {
			return got
		}
	}
	why := f.x.Fault
	return fmt.Sprintf("%sfault at %d, long %t: %s", got, int(f.x.Base)+min(why.Pos, f.x.N), why.Long, why.Want)
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		text, want string
		markup     bool
	}{
		{"<a/>", "", false},
		{"<a> x </a>", " x ", false},
		{"<a>x&amp;<![CDATA[<]]></a>", "x&<", false},
		{"<a>1<b c='d'>2</b> &lt;</a>", "1<b c='d'>2</b> &lt;", true},
	} {
		text := "<r>" + c.text + "<z/></r>"
		for step := range len(text) {
			f := newFeed(text, step+1, 10)
			f.do(func() bool { return f.x.Next() == xmltext.Start })
			f.do(func() bool { return f.x.Next() == xmltext.Start })
			m := f.x.TagMark()
			value, markup, ok := f.x.Value()
			for !ok && f.x.Cut() {
				f.more(m.Index(&f.x))
				if f.x.Rewind(m); f.x.Next() == xmltext.Start {
					value, markup, ok = f.x.Value()
				}
			}
			if string(value) != c.want || markup != c.markup || !ok {
				t.Errorf("%s: got %q %v %v", text, value, markup, ok)
			}
			if !f.do(func() bool { return f.x.Next() == xmltext.Start }) || string(f.x.Local()) != "z" {
				t.Errorf("%s: after the value stands %s", text, f.x.Local())
			}
		}
	}
}

func TestRoot(t *testing.T) {
	for text, want := range map[string]string{
		"<?xml version='1.0'?>\n<!-- x --><k:kml a='b'><x>": "kml", "<a": "", "": "", "x": "", "{}": "",
		"\xEF\xBB\xBF<a>": "a",
	} {
		if got := string(xmltext.Root([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestResume reads the content of elements whose start another scanner has read, or none.
func TestResume(t *testing.T) {
	const text = "<a><b>1</b><c/></a>"
	f := newFeed(text, len(text), 10)
	f.x.Next()
	var known, unknown xmltext.Scanner
	known.MaxDepth, unknown.MaxDepth = 10, 10
	known.ResumeIn(&f.x)
	unknown.Resume(1)
	for _, x := range []*xmltext.Scanner{&known, &unknown} {
		rest := []byte(text[3:] + strings.Repeat("\x00", xmltext.Padding))
		x.Window(unsafe.Pointer(&rest[0]), len(text)-3, 3, true)
		if x.Next() != xmltext.Start || string(x.Local()) != "b" || x.Offset() != 3 || x.Depth() != 2 ||
			!x.Skip() || x.Next() != xmltext.Start || !x.Skip() {
			t.Fatalf("%+v", x.Fault)
		}
	}
	if known.Next() != xmltext.End || known.Next() != xmltext.EOF {
		t.Errorf("the end of <a>: %+v", known.Fault)
	}
	if unknown.Next() != xmltext.Fault {
		t.Error("the end of an element of no name")
	}
}

// TestAllocations reads tags, attributes and text without any.
func TestAllocations(t *testing.T) {
	text := []byte("<a>" + strings.Repeat("<k:b id='1'>x &amp; y</k:b><c/>", 50) + "</a>" +
		strings.Repeat("\x00", xmltext.Padding))
	var x xmltext.Scanner
	read := func() {
		x.Resume(0)
		x.MaxDepth = 10
		x.Window(unsafe.Pointer(&text[0]), len(text)-xmltext.Padding, 0, true)
		for t := x.Next(); t != xmltext.EOF && t != xmltext.Fault; t = x.Next() {
			if t == xmltext.Start && x.Depth() > 1 {
				x.Attr("id")
				x.Value()
			}
		}
	}
	read()
	if n := testing.AllocsPerRun(10, read); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// oracle lists what encoding/xml finds, in the form of events, and its error, io.EOF where it
// accepts the text. It accepts more: it does not look for a root, nor at everything that is no
// element.
func oracle(text string) (string, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var b strings.Builder
	depth := 0
	data := ""
	flush := func() {
		if data != "" && depth > 0 {
			fmt.Fprintf(&b, "%q\n", data)
		}
		data = ""
	}
	join := func(n xml.Name) string {
		if n.Space == "" {
			return n.Local
		}
		return n.Space + ":" + n.Local
	}
	for {
		t, err := d.RawToken()
		if t == nil {
			b.WriteString("end\n")
			return b.String(), err
		}
		switch t := t.(type) {
		case xml.StartElement:
			flush()
			depth++
			fmt.Fprintf(&b, "<%s>%s|%s", join(t.Name), t.Name.Space, t.Name.Local)
			for _, a := range t.Attr {
				fmt.Fprintf(&b, " %s(%s)=%q", join(a.Name), a.Name.Local, a.Value)
			}
			b.WriteString("\n")
		case xml.EndElement:
			flush()
			depth--
			fmt.Fprintf(&b, "/ %d\n", depth)
		case xml.CharData:
			data += string(t)
		}
	}
}

// withoutOffsets takes the offsets of tags from events.
func withoutOffsets(events string) string {
	lines := strings.Split(events, "\n")
	for i, l := range lines {
		if at := strings.LastIndex(l, " @"); at >= 0 && strings.HasPrefix(l, "<") {
			lines[i] = l[:at]
		}
	}
	return strings.Join(lines, "\n")
}

func FuzzScanner(f *testing.F) {
	for _, text := range []string{
		`<?xml version="1.0" encoding="UTF-8"?><a b="c&lt;">d&#65;<e/><![CDATA[f]]><!-- g --></a>`,
		"<k:a><k:b>\r\n</k:b>]]</k:a>", "<a>\uFEFF\u00e9</a>",
		"<\uFEE9/>",
	} {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		got := events(text, len(text)+1)
		if again := events(text, 1+int(step)); again != got {
			t.Fatalf("%q\n%d bytes at a time:\n%s\nwhole:\n%s", text, 1+int(step), again, got)
		}
		if strings.Contains(got, "fault") || strings.Contains(text, "encoding") || strings.ContainsAny(text, "\r\t\n") {
			return // encoding/xml leaves white space in values as it is
		}
		want, err := oracle(text)
		if strings.Contains(err.Error(), "invalid XML name") && strings.ContainsFunc(err.Error(), func(c rune) bool {
			return c >= utf8.RuneSelf
		}) {
			return // encoding/xml knows the letters of the fourth edition; the fifth has more
		}
		if !errors.Is(err, io.EOF) || withoutOffsets(got) != want {
			t.Fatalf("%q\ngot:\n%s\nencoding/xml, which ends in %v:\n%s", text, got, err, want)
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	text := strings.Repeat(`<Placemark id="p0"><name>Palm Bay Blvd &amp; Co</name><description><![CDATA[<b>no. 0</b>]]></description><ExtendedData><Data name="code"><value>800360</value></Data></ExtendedData><LineString><coordinates>-81.543338,28.846972,0 -81.5435,28.847083,0 -81.543623,28.8469,0 -81.543473,28.846764,0</coordinates></LineString></Placemark>`+"\n", 700)
	size := len(text) + len("<a></a>")
	buf := []byte("<a>" + text + "</a>" + strings.Repeat("\x00", xmltext.Padding))
	b.SetBytes(int64(size))
	var x xmltext.Scanner
	x.MaxDepth = 10
	for b.Loop() {
		x.Resume(0)
		x.Window(unsafe.Pointer(&buf[0]), size, 0, true)
		if x.Next() != xmltext.Start || !x.Skip() {
			b.Fatal(x.Fault)
		}
	}
}
