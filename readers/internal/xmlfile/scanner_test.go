package xmlfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// list reads the file <list><a>text</a>…</list>, n bytes at a time, and gives what is in
// each <a>, and the final error. skip skips an <a> without text, or with another
// element.
func list(t *testing.T, text string, step int, most int64, skip bool) (found []string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list.xml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("list.xml", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	limits := readers.Limits{MaxFeatureBytes: most}.WithDefaults()
	s := &Scanner{}
	if !s.Begin(t.Context(), src, 0, src.Size, src.Size, &limits, step) || s.Token() != xmltext.Start {
		return nil, s.Error("XML", -1)
	}
	for {
		switch s.Token() {
		case xmltext.Fault:
			return found, s.Error("XML", -1)
		case xmltext.End:
			return found, nil
		}
		m, off := s.X.TagMark(), s.Base+int64(s.X.At)
		value := ""
		read := func() bool {
			v, markup, ok := s.X.Value()
			value = string(v)
			if ok && (value == "" || markup) {
				return s.Wrong(s.X.At, "a", "ours", "no text stands in it")
			}
			return ok
		}
		switch {
		case s.Unit(read):
			found = append(found, value)
		case skip && s.Failed == nil && s.Skip(m, off):
			found = append(found, "-")
		default:
			return found, s.Error("XML", int64(len(found)))
		}
	}
}

// TestScanner: what is read, and what is wrong where, does not depend on where windows end.
func TestScanner(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, text string
		skip       bool
		want       []string
		limit      bool   // the error is one of --max-feature-bytes
		err        string // what the error holds; "": there is none
	}{
		{
			"one after the other", "<list> <a>1</a>\n<a>&lt;2</a><!-- > --><a>" + long[:200] + "</a></list>",
			false,
			[]string{"1", "<2", long[:200]},
			false, "",
		},
		{
			"an empty one", "<list><a>1</a><a></a><a>3</a></list>", false,
			[]string{"1"},
			false,
			"list.xml: XML: byte 17, line 1, feature 1, a: no text stands in it (ours)",
		},
		{"an empty one, passed", "<list><a>1</a><a></a><a>3</a></list>", true, []string{"1", "-", "3"}, false, ""},
		{
			"an element inside, passed", "<list><a>1</a><a>2<b>" + long[:100] + "</b></a><a>3</a></list>",
			true,
			[]string{"1", "-", "3"},
			false, "",
		},
		{
			"a tag that does not match, nowhere to go on", "<list><a>1</a><a>2</b><a>3</a></list>", true,
			[]string{"1"},
			false, "byte 18",
		},
		{
			"one that is too long", "<list><a>1</a><a>" + long + "</a></list>", false,
			[]string{"1"},
			true,
			"the text at byte 14",
		},
		{
			"one that is too long, not to be passed either", "<list><a>1</a><a><b>" + long + "</b></a></list>",
			true,
			[]string{"1"},
			true, "the text at byte 14",
		},
		{"cut", "<list><a>1</a><a>2", false, []string{"1"}, false, "byte 18"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var first error
			for step := 1; step < len(c.text)+2; step++ {
				found, err := list(t, c.text, step, 250, c.skip)
				if fmt.Sprint(found) != fmt.Sprint(c.want) {
					t.Fatalf("%d bytes at a time: %q, want %q", step, found, c.want)
				}
				if (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) ||
					errors.As(err, new(*readers.LimitError)) != c.limit) {
					t.Fatalf("%d bytes at a time: %v, want %q", step, err, c.err)
				}
				if step == 1 {
					first = err
				} else if err != nil && err.Error() != first.Error() {
					t.Fatalf("%d bytes at a time: %v, one by one %v", step, err, first)
				}
			}
		})
	}
}

// TestFind finds beginnings of elements in windows of every size, before every place.
func TestFind(t *testing.T) {
	const text = `<ab>no</ab><!--<a >--><a>one</a><a/><a` + "\n" + `x=""></a><ba><aa></aa><a`
	path := filepath.Join(t.TempDir(), "find.xml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("find.xml", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	limits := readers.Limits{}.WithDefaults()
	for step := 1; step <= len(text); step++ {
		for from := range len(text) {
			want := -1
			for _, begin := range []int{15, 22, 32, 36} {
				if begin >= from {
					want = begin
					break
				}
			}
			for _, stop := range []int{want, want + 1, len(text)} {
				s := &Scanner{}
				if !s.Begin(t.Context(), src, int64(from), src.Size, src.Size, &limits, step) {
					t.Fatal(s.Failed)
				}
				got := -1
				if s.Find([]byte("<a"), int64(stop)) {
					got = int(s.Base) + s.X.P
				}
				if s.Failed != nil || got != want && stop > want || got != -1 && stop <= want {
					t.Fatalf("%d bytes at a time, from %d to %d: %d, want %d (%v)", step, from, stop, got,
						want, s.Failed)
				}
			}
		}
	}
}
