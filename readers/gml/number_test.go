package gml_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestNumbers compares ordinates and attributes with strconv.ParseFloat, bit for bit.
func TestNumbers(t *testing.T) {
	texts := []string{
		"90.81246689931749", "4.9e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "-0.0",
		"-0", "1e-400", "123456789012345678901234567890",
		"9007199254740993", "0.1000000000000000055511151231257827021181583404541015625",
		"2.22507385850720113605740979670913197593481954635164564e-308",
		"1.00000000000000011102230246251565404236316680908203125",
		"1.00000000000000011102230246251565404236316680908203124",
		"1.00000000000000011102230246251565404236316680908203126",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		if v := math.Float64frombits(random.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
			texts = append(texts, strconv.FormatFloat(v, "eg"[random.IntN(2)], -1, 64))
		}
		texts = append(texts, strconv.FormatFloat(random.Float64()*360-180, 'f', -1, 64))
	}
	if len(texts)%2 != 0 {
		texts = texts[1:]
	}
	var tuples, halves []string
	for i := 0; i < len(texts); i += 2 {
		tuples = append(tuples, texts[i]+","+texts[i+1])
		halves = append(halves, texts[i])
	}
	list := strings.Join(texts, " ")
	for _, c := range []struct{ name, text string }{
		{"posList", geom("<LineString><posList>" + list + "</posList></LineString>")},
		{"posList that is decoded", geom("<LineString><posList><![CDATA[" + list +
			"]]>\n<!-- --></posList></LineString>")},
		{"coordinates", geom("<LineString><coordinates>" + strings.Join(tuples, " ") + "</coordinates></LineString>")},
	} {
		table, err := readertest.Parse(t, gml.Format(), readertest.Input{Name: "a.gml", Text: []byte(c.text)})
		if err != nil {
			t.Fatal(c.name, err)
		}
		g := table.Batches[0].Geometry
		for i, text := range texts {
			got := g.X[i/2]
			if i%2 == 1 {
				got = g.Y[i/2]
			}
			if want, _ := strconv.ParseFloat(text, 64); math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s: %s: got %v, want %v", c.name, text, got, want)
			}
		}
	}
	in := readertest.Input{Name: "a.gml", Siblings: map[string][]byte{".xsd": []byte(typed("xs:double"))}}
	in.Text = []byte("<c><members><f>" + "<a>" + strings.Join(halves, "</a></f><f><a>") + "</a></f></members></c>")
	table, err := readertest.Parse(t, gml.Format(), in)
	if err != nil {
		t.Fatal(err)
	}
	column := table.Batches[0].Attributes[0].Values
	for i, text := range halves {
		got := binary.LittleEndian.Uint64(column[8*i:])
		if want, _ := strconv.ParseFloat(text, 64); got != math.Float64bits(want) {
			t.Fatalf("attribute %s: got %v, want %v", text, math.Float64frombits(got), want)
		}
	}
}
