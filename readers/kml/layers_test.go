package kml_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// named returns a Placemark with a name.
func named(name string) string { return pm("<name>" + name + "</name>") }

// folder returns a Folder, without a name if that is empty.
func folder(name string, content ...string) string {
	if name != "" {
		name = "<name>" + name + "</name>"
	}
	return "<Folder>" + name + strings.Join(content, "") + "</Folder>"
}

// manyLayers has features before, between and after those of inner folders, equal names and none.
var manyLayers = doc(named("d1"), folder("A", folder("B", named("b1")), named("a1"), named("a2")),
	folder("empty"), folder("A", named("x1")), named("d2"),
	folder("", named("n1")), folder("A_2", named("y1")), "<Document>"+named("i1")+"</Document>", named("d3"))

func TestLayers(t *testing.T) {
	names := []string{"d", "B", "A", "A_2", "Layer4", "A_2_2", "a"}
	for layer, want := range map[string]string{
		"": `"d1" | "d2" | "d3"`, "d": `"d1" | "d2" | "d3"`, "B": `"b1"`, "A": `"a1" | "a2"`, "A_2": `"x1"`,
		"Layer4": `"n1"`, "A_2_2": `"y1"`, "a": `"i1"`,
	} {
		check(t, readCase{layer: layer}, []textCase{{"layer " + layer, manyLayers, "Name: string: " + want}})
		in := readertest.Input{Name: "a.kml", Text: []byte(manyLayers), Layer: layer}
		for _, bytes := range []int{0, 1, 7, 50, 200} {
			in.Parser = func(l readers.Layout) readers.Parser { return parallel.Parser(l, bytes) }
			table, err := readertest.Check(t, kml.Format(), in)
			if err != nil || !slices.Equal(table.Summary.Layers, names) {
				t.Errorf("layer %q in parts of %d bytes: got the layers %q, %v, want %q", layer, bytes,
					table.Summary.Layers, err, names)
			}
		}
	}
}

// TestOtherLayers: what is malformed anywhere in the file is an error of every layer, if it is XML.
func TestOtherLayers(t *testing.T) {
	check(t, readCase{layer: "B"}, []textCase{
		{
			"other values", doc(folder("A", pm(point("x"))), folder("B", named("b")), folder("C", pm(point("y")))),
			`Name: string: "b"`,
		},
		{"XML before", doc(folder("A", pm("<name>¦</nam>")), folder("B", named("b"))), `"</name>"`},
		{"XML after", doc(folder("B", named("b")), folder("A", pm("<name>¦</nam>"))), `"</name>"`},
		{"XML inside", doc(folder("B", named("b"), folder("A", pm("<name>¦</nam>")), named("c"))), `"</name>"`},
	})
}

func TestNoLayer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.kml")
	if err := os.WriteFile(path, []byte(manyLayers), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a.kml", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	_, err = readers.Read(context.Background(), kml.Format(), kml.Format().CPU(readers.Layout{Layer: "Stop"}),
		src, readers.Limits{}, nil)
	var missing *readers.NoLayerError
	if !errors.As(err, &missing) || missing.Layer != "Stop" || len(missing.Layers) != 7 {
		t.Errorf("got %v", err)
	}
}

// TestLateSchema: a Schema counts if it is before the first feature of the layer, though
// features of others are before it; rows that are read again know it too.
func TestLateSchema(t *testing.T) {
	value := func(v string) string {
		return pm(`<ExtendedData><SchemaData schemaUrl="#s"><SimpleData name="f">` + v +
			`</SimpleData></SchemaData></ExtendedData>`)
	}
	schema := `<Schema id="s"><SimpleField name="f" type="int"/></Schema>`
	text := func(tail ...string) string {
		return doc(folder("A", value("1")), schema, folder("B", append([]string{value("1"), value("02")}, tail...)...))
	}
	check(t, readCase{layer: "A"}, []textCase{{"after the rows", text(), `f: string: "1"`}})
	check(t, readCase{layer: "B"}, []textCase{
		{"before the rows", text(), "f: int32: 1 | 2"},
		{
			"read again", text(pm(`<ExtendedData><Data name="f"><value>x</value></Data></ExtendedData>`)),
			`f: string mixed: "1" | "02" | "x"`,
		},
	})
}

// decoys look like features, or ends of them, where there are none.
var decoys = []string{
	"<!-- <Placemark><name>no</name></Placemark> -->",
	"<description><![CDATA[</Placemark><Placemark><name>no</name></Placemark>]]></description>",
	"<Style><Placemark/></Style>", "<?php <Placemark> ?>", "<Placemarks>1</Placemarks>", "",
}

// TestDecoys reads files in which much of what looks like a row is none, in parts of many sizes.
func TestDecoys(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	feature := func(i int) string {
		return pm(fmt.Sprintf("<name>%d</name>", i), decoys[r.IntN(len(decoys))],
			point(fmt.Sprintf("%d,%g", i, r.NormFloat64())))
	}
	for range 10 {
		var b strings.Builder
		for i := range 1 + r.IntN(40) {
			b.WriteString(feature(i))
			switch r.IntN(6) {
			case 0:
				b.WriteString(folder("F", feature(-1), decoys[r.IntN(len(decoys))], folder("", feature(-2))))
			case 1:
				b.WriteString(decoys[r.IntN(len(decoys))])
			}
		}
		in := readertest.Input{Name: "decoys.kml", Text: []byte(doc(b.String()))}
		in.Limits.BatchRows = 1 + r.IntN(40)
		if r.IntN(2) == 0 {
			in.Limits.BatchBytes = 1 + r.Int64N(3000)
		}
		var sizes []int
		for range 15 {
			sizes = append(sizes, 1+r.IntN(len(in.Text)/2))
		}
		readertest.Same(t, kml.Format(), in, sizes, windows, parallel)
	}
}
