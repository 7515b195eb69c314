package kml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// repeated returns what f gives for 0 to n-1.
func repeated(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// TestHostile reads files made to be slow: time that grows with the square of their size would be
// minutes.
func TestHostile(t *testing.T) {
	n := 30_000
	data := func(name string) string { return `<Data name="` + name + `"><value>1</value></Data>` }
	for _, c := range []struct{ name, text string }{
		{"one line", doc(pm(line(repeated(n, func(i int) string { return fmt.Sprintf("%d,%d\n", i%90, i%45) }))))},
		{"blanks", doc(pm(line("1,2" + strings.Repeat(" ", 10*n) + "3,4")))},
		{"references", doc(pm("<name>" + strings.Repeat("&#x0000041;", n) + "</name>"))},
		{"sections", doc(pm("<name>" + strings.Repeat("<![CDATA[]]]>x", n) + "</name>"))},
		{"comment", doc("<!--"+strings.Repeat("- ", 10*n)+"-->", pm())},
		{"style", doc("<Style>"+strings.Repeat("<a/>x", n)+"</Style>", pm())},
		{"attributes", doc(pm("<Point " + repeated(n, func(i int) string {
			return fmt.Sprintf("a%d='' ", i)
		}) + "/>"))},
		{"foreign", doc(pm(repeated(n/10, func(i int) string { return fmt.Sprintf("<a%d/>", i) })))},
		{"one name", doc(pm("<ExtendedData>" + strings.Repeat(data("a"), n) + "</ExtendedData>"))},
		{"names", doc(pm("<ExtendedData>" + repeated(n/50, func(i int) string {
			return data(fmt.Sprint("a", i))
		}) + "</ExtendedData>"))},
		{"members", doc(pm("<MultiGeometry>" + line("1,2") + strings.Repeat(point("1,2"), n) + "</MultiGeometry>"))},
		{"collections", doc(pm(strings.Repeat("<MultiGeometry>"+point("1,2"), 900) +
			strings.Repeat("</MultiGeometry>", 900)))},
		{"layers", doc(strings.Repeat(folder("A", pm()), n/2))},
		{"tiny", doc(strings.Repeat("<Placemark/>", n))},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := readertest.Input{Name: "a.kml", Text: []byte(c.text)}
			if _, err := readertest.Check(t, kml.Format(), in); err != nil {
				t.Fatal(err)
			}
			in.Limits = readers.Limits{Workers: 2, PartBytes: 100_000}
			in.Parser = kml.Format().CPU
			if _, err := readertest.Check(t, kml.Format(), in); err != nil {
				t.Error(err)
			}
		})
	}
}
