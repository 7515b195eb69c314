package all_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// BenchmarkColumns reads files of 1,000 to 16,000 columns, half of which change their type after
// the first batch: ns/column should stay what it is.
func BenchmarkColumns(b *testing.B) {
	for _, w := range wides {
		for _, columns := range []int{1000, 4000, 16000} {
			b.Run(fmt.Sprintf("%s/%d", w.name, columns), func(b *testing.B) {
				f, in := w.changing(columns)
				b.SetBytes(int64(len(in.Text)))
				for b.Loop() {
					if _, err := readertest.Parse(b, f, in); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(columns), "ns/column")
			})
		}
	}
}

// changing returns a file whose first record has all columns, the second the even ones as text, the
// third none.
func (w wide) changing(columns int) (readers.Format, readertest.Input) {
	in := readertest.Input{Name: w.name, Options: w.options, Limits: readers.Limits{BatchRows: 1, Workers: 1}}
	f, _ := all.Formats().ByExtension(w.name)
	if f.Name == "csv" {
		header, ints, texts := make([]string, columns), make([]string, columns), make([]string, columns)
		for i := range columns {
			header[i], ints[i], texts[i] = fmt.Sprintf("n%d", i), "7", strings.Repeat("x", 1-i%2)
		}
		in.Text = []byte(strings.Join(header, ",") + "\n" + strings.Join(ints, ",") + "\n" +
			strings.Join(texts, ",") + "\n7\n")
		return f, in
	}
	var all, even strings.Builder
	for i := range columns {
		fmt.Fprintf(&all, w.field, i, i)
		if i%2 == 0 {
			field := fmt.Sprintf(w.field, i, i)
			for _, old := range []string{fmt.Sprintf(">%d<", i), fmt.Sprintf(":%d,", i)} {
				field = strings.Replace(field, old, old[:1]+w.text+old[len(old)-1:], 1)
			}
			even.WriteString(field)
		}
	}
	second := w.opening + even.String() + w.behind
	in.Text = []byte(w.head + all.String() + w.behind + second + w.short + w.tail)
	return f, in
}

// BenchmarkLayers reads the first layer of files of 1,000 to 16,000 layers: ns/layer should stay
// what it is.
func BenchmarkLayers(b *testing.B) {
	for _, w := range []struct{ name, head, layer, tail string }{
		{"a.kml", "<kml><Document>", "<Folder><name>n%d</name><Placemark/></Folder>", "</Document></kml>"},
		{
			"a.gml", `<c xmlns:gml="http://www.opengis.net/gml">`, "<gml:featureMember><n%d/></gml:featureMember>",
			"</c>",
		},
	} {
		for _, layers := range []int{1000, 4000, 16000} {
			b.Run(fmt.Sprintf("%s/%d", w.name, layers), func(b *testing.B) {
				var text strings.Builder
				text.WriteString(w.head)
				for i := range layers {
					fmt.Fprintf(&text, w.layer, i)
				}
				text.WriteString(w.tail)
				f, _ := all.Formats().ByExtension(w.name)
				b.SetBytes(int64(text.Len()))
				for b.Loop() {
					table, err := readertest.Parse(b, f, readertest.Input{Name: w.name, Text: []byte(text.String())})
					if err != nil || len(table.Summary.Layers) != layers {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(layers), "ns/layer")
			})
		}
	}
}
