package xmltext_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// TestResumeLoose reads text from the middle of a document: of the elements around it nothing is
// known but that their end tags are right.
func TestResumeLoose(t *testing.T) {
	const text = "<b>1</b></a ><a><b/></x:c></c>"
	var x xmltext.Scanner
	x.MaxDepth = 10
	x.ResumeLoose()
	buf := []byte(text + strings.Repeat("\x00", xmltext.Padding))
	x.Window(unsafe.Pointer(&buf[0]), len(text), 0, true)
	var got []string
	for token := x.Next(); token != xmltext.Fault; token = x.Next() {
		switch token {
		case xmltext.Start:
			got = append(got, "<"+string(x.Local()))
		case xmltext.End:
			got = append(got, ">")
		default:
			t.Fatal("the end of a document that goes on")
		}
	}
	// </x:c> ends the <a> that began in the text, which is no end of it.
	if got := strings.Join(got, " "); got != "<b > > <a <b >" || x.Fault.Pos != strings.Index(text, "</x:c") {
		t.Errorf("got %s, then %+v", got, x.Fault)
	}
}

// TestSameElements compares the elements around two places.
func TestSameElements(t *testing.T) {
	at := func(text string) *xmltext.Scanner {
		f := newFeed(text, len(text), 10)
		for f.x.Next() == xmltext.Start {
		}
		return &f.x
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"<a><b>", "<a ><b c='d'>", true},
		{"<a><b>", "<a><bc>", false},
		{"<a><b>", "<ab>", false},
		{"<a><b>", "<a>", false},
		{"<a><x:b>", "<a><y:b>", false},
	} {
		if got := at(c.a).SameElements(at(c.b)); got != c.want {
			t.Errorf("%s, %s: got %t", c.a, c.b, got)
		}
	}
}
