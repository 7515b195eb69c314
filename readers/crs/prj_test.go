package crs

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/prj.want again")

// TestPRJ is what the .prj files of public packages are. integration/crs/collect.py found them;
// integration/test_crs.py compares the answers in prj.want with GDAL's by pyproj's equality.
func TestPRJ(t *testing.T) {
	type answer struct {
		Name string `json:"name"`
		CRS  string `json:"crs"`  // the code, "" where the text goes out
		Read bool   `json:"read"` // PROJ can read it
	}
	var cases []struct{ Name, Text, Want string }
	text, err := os.ReadFile("testdata/prj.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	for _, c := range cases {
		a := answer{Name: c.Name, Read: Readable(c.Text)}
		if id, ok := Identify(c.Text); ok {
			a.CRS, a.Read = id.String(), true
		}
		answers = append(answers, a)
	}
	got, err := json.MarshalIndent(answers, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/prj.want", append(got, '\n'),
			0o644); err != nil { //nolint:gosec // as other test data
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/prj.want")
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got)+"\n" {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
