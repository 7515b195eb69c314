package xlsx_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/xlsx"
)

// FuzzParts reads workbooks of any sheet, shared strings and styles. Damage of an archive is found by
// its checksums, and would not come so far.
func FuzzParts(f *testing.F) {
	f.Add(texts("lat", "lon")+"<row><c><v>1</v></c><c><v>2</v></c></row>", "<sst><si><t>a</t></si></sst>",
		"m/d/yy", byte(1))
	f.Add(texts("wkt")+texts("POINT (1 2)")+texts("POINT"), "<sst/>", "[h]:mm", byte(2))
	f.Add(`<row r="3"><c r="B3" t="s" s="1"><v>0</v></c></row>`+
		`<row><c s="0"><v>60</v></c><c t="e"><v>#N/A</v></c></row>`,
		"<sst><si><r><t>_x0041_</t></r><rPh/></si></sst>", `"x"yy`, byte(3))
	f.Add(texts("a", "a", "")+`<row r="9"><c t="b"><v>1</v></c><c t="d"><v>2020-01-01</v></c>`+
		`<c t="inlineStr"><is><t> </t></is></c></row>`, "<sst/>", "General", byte(0))
	f.Fuzz(func(t *testing.T, rows, strings, code string, how byte) {
		parts := map[string]string{
			"xl/strings.xml": strings,
			"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="` + code +
				`"/></numFmts><cellXfs><xf numFmtId="200"/><xf numFmtId="22"/></cellXfs></styleSheet>`,
		}
		in := readertest.Input{
			Name: "a.xlsx", Text: book(t, rows, parts), Limits: readers.Limits{Memory: 1 << 24},
			Options: map[string]any{"on_error": []string{"fail", "skip", "null", "repair"}[how&3]},
		}
		if how&4 != 0 {
			in.Limits.BatchRows = int(how>>3) + 1
		}
		if _, err := readertest.Check(t, xlsx.Format(), in); err != nil {
			if _, wrong := readertest.Place(err); wrong != nil {
				t.Fatal(wrong)
			}
		}
	})
}
