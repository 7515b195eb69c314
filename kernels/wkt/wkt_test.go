package wkt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kwkt "github.com/vibeflight/vibeflight/kernels/wkt"
)

// checkWKT compares ParseWKT with the plain reading, and gives what it found.
func checkWKT(r *kerneltest.Rig, name string, text []byte, style kwkt.WKTStyle) (found kwkt.WKTFound, rows int) {
	r.Helper()
	b := kerneltest.Upload(r, text)
	x, err := kwkt.ParseWKT(r.Set, r.Stream, b, style)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	want := kerneltest.ReadWKT(text, style == kwkt.WKTMembers)
	all, ok := want.Rows()
	found.Fault = x.Fault
	if x.Found.Len() > 0 && x.Fault < 0 {
		found = kerneltest.Read(r, x.Found)[0]
	}
	if (found.Fault < 0) != ok {
		r.Fatalf("%s: a fault at %d, want none: %v; %s", name, found.Fault, ok, kerneltest.Around(text,
			max(0, int(found.Fault))))
	}
	if !ok {
		return found, 0
	}
	if x.Rows != len(all) {
		r.Fatalf("%s: %d rows, want %d in %.300q", name, x.Rows, len(all), text)
	}
	if len(text) > 0 {
		kerneltest.SameMask(r, name+": open", text, kerneltest.Read(r, x.Brackets.Open),
			kerneltest.Bitmap(len(text), func(i int) bool {
				return want.Open[i]
			}))
		kerneltest.SameMask(r, name+": close", text, kerneltest.Read(r, x.Brackets.Close),
			kerneltest.Bitmap(len(text), func(i int) bool {
				return want.Close[i]
			}))
		kerneltest.SameMask(r, name+": commas", text, kerneltest.Read(r, x.Commas), kerneltest.CommasOf(text))
	}
	starts, tags, from, to, valid, body := kerneltest.Read(r, x.Starts), kerneltest.Read(r, x.Tags),
		kerneltest.Read(r, x.From), kerneltest.Read(r, x.To),
		kerneltest.Read(r, x.Valid), kerneltest.Read(r, x.Body)
	for i, w := range all {
		got := kerneltest.WKTRow{
			Start: int(starts[i]), Tag: int(tags[i]), From: int(from[i]), To: int(to[i]),
			Valid: kerneltest.Bit(valid, i), Body: kerneltest.Bit(body, i),
		}
		if got != w {
			r.Fatalf("%s: row %d is %+v, want %+v; %s", name, i, got, w, kerneltest.Around(text, w.Start))
		}
	}
	for i := len(all); i < 64*len(valid); i++ {
		if kerneltest.Bit(valid, i) || kerneltest.Bit(body, i) {
			r.Fatalf("%s: bit %d is set behind %d rows", name, i, len(all))
		}
	}
	return found, len(all)
}

// randomWKT is a text of rows, most of them right.
func randomWKT(rng *rand.Rand, rows, most int, members bool) []byte {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	blank := func() string {
		return strings.Repeat(" ", rng.IntN(3)*rng.IntN(2)) + strings.Repeat("\n", rng.IntN(2)*rng.IntN(2))
	}
	var list func(depth int) string
	list = func(depth int) string {
		if rng.IntN(9) == 0 {
			return pick("EMPTY", "empty", "Empty")
		}
		all := make([]string, 1+rng.IntN(most))
		for i := range all {
			if all[i] = fmt.Sprintf("%d %d.5", rng.IntN(1000), rng.IntN(1000)); depth > 0 {
				all[i] = list(depth - 1)
			}
		}
		return "(" + blank() + strings.Join(all, blank()+","+blank()) + blank() + ")"
	}
	var b bytes.Buffer
	for range rows {
		switch {
		case members:
			b.WriteString(blank() + pick("POINT ", "LineString Z ") + list(rng.IntN(4)) + blank() + ",")
			continue
		case rng.IntN(9) == 0:
			b.WriteString(pick("NULL", "null", " Null\t"))
		default:
			b.WriteString(strings.Repeat(" ", rng.IntN(3)*rng.IntN(2)) + pick("", "", "SRID=4326;", "srid = 0031 ; ") +
				pick("POINT", "POLYGON ", "multipoint z") + " " + list(rng.IntN(4)))
		}
		b.WriteString(pick("\n", "\n", "\r\n", ";", " ;; ", "\r", "\n\n \n"))
	}
	return b.Bytes()
}

func TestParseWKT(t *testing.T) {
	r := kerneltest.Open(t)
	long := strings.Repeat(" ", 250)
	for _, tt := range []struct{ name, text string }{
		{"nothing", ""},
		{"a blank", " "},
		{"blanks", " \n\t\r\n;"},
		{"a point", "POINT(1 2)"},
		{"points", "POINT(1 2)\nPOINT(3 4)\r\nPOINT(5 6)\rPOINT(7 8);POINT(9 0) ; "},
		{"empty", "POINT EMPTY\nPOLYGON((1 2,3 4),EMPTY , empty)\nMULTIPOINT(EMPTY)"},
		{"no EMPTY", "POINT EMPTYX\n"},
		{"EMPTY behind a letter", "POINTEMPTY\n"},
		{"null", "NULL\nnull;NULL ;Null"},
		{"no null", "NULLS\n"},
		{"more behind null", "NULL x\n"},
		{"a bracket behind null", "NULL(1 2)\n"},
		{"an SRID", "SRID=4326;POINT(1 2)\nsrid = 007 ; POINT EMPTY"},
		{"an SRID over lines", "SRID=5;\nPOINT(1 2)"},
		{"no SRID", "SRIDS=1;POINT(1 2)"},
		{"an SRID without number", "SRID=;POINT(1 2)"},
		{"an SRID alone", "SRID=5;"},
		{"an SRID behind a blank line", "\n SRID=1;POINT(1 2);"},
		{"the greatest SRID", "SRID=2147483647;POINT(1 2)"},
		{"beyond it", "SRID=2147483648;POINT(1 2)"},
		{"far beyond", "SRID=99999999999999999999999999;POINT(1 2)"},
		{"a NULL behind an SRID", "SRID=1;NULL"},
		{"lines inside", "POLYGON(\n(0 0,\r\n1 1)\n,\n(2 2)\n)\nPOINT(1 2)"},
		{"not closed", "POINT(1 2\nPOINT(3 4)"},
		{"closed twice", "POINT(1 2))\n"},
		{"two bodies", "POINT(1 2)(3 4)\n"},
		{"two geometries", "POINT(1 2) POINT(3 4)\n"},
		{"no body", "POINT\nPOINT(1 2)"},
		{"a number behind a bracket", "POLYGON((1 2) 3)\n"},
		{"a letter behind a bracket", "POLYGON((1 2)x)\n"},
		{"brackets side by side", "POLYGON((1 2)(3 4))\n"},
		{"a letter behind", "POINT(1 2)x\n"},
		{"a comma behind", "POINT(1 2),\n"},
		{"a comma behind blanks", "POINT(1 2)  \t ,POINT(1 2)"},
		{"a zero", "POINT(1 2)\n\x00"},
		{"not ASCII", "POINT(1 2)\xc3\xa9"},
		{"a form feed", "POINT(1\f2)"},
		{"blanks that are near", "POINT" + "(1 2)" + long + "\n" + long + "POINT(1 2)\nPOLYGON((1 2)" +
			long + ",(3 4)" + long + ")"},
		{"a collection", "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING EMPTY,\nPOLYGON((1 2)))\n"},
		{"nothing in brackets", "POINT()"},
		{"nothing in inner brackets", "POLYGON((1 2),( \n))"},
		{"nothing but blanks", "POLYGON(" + long + ")"},
		{"commas side by side", "POINT(1 2),,POINT(1 2)"},
		{"a comma first", " ,POINT(1 2)"},
		{"commas and blanks", "POINT(1 2), \n ,POINT(1 2)"},
		{"a digit before a semicolon", "POINT(1 2)5;POINT(3 4)"},
	} {
		for _, style := range []kwkt.WKTStyle{kwkt.WKTLines, kwkt.WKTMembers} {
			for _, pad := range []int{0, 50, 64, 16384 - 7} { // over bounds of words and tiles
				text := append(bytes.Repeat([]byte("POINT(1 2)\n      "), pad/17+1)[:pad], tt.text...)
				if style == kwkt.WKTMembers {
					text = append(bytes.Repeat([]byte("POINT(1 2),      "), pad/17+1)[:pad],
						strings.ReplaceAll(tt.text, ";", ",")...)
				}
				if pad%17 != 0 {
					text = append(bytes.Repeat([]byte(" "), pad%200), tt.text...)
				}
				checkWKT(r, fmt.Sprintf("%s, style %d behind %d", tt.name, style, pad), text, style)
			}
		}
	}
}

func TestParseRandomWKT(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(31, 1))
	right := 0
	for run := range 250 {
		style := kwkt.WKTStyle(rng.IntN(2))
		text := randomWKT(rng, rng.IntN(1+run), 1+rng.IntN(9), style == kwkt.WKTMembers)
		if run%3 == 0 && len(text) > 0 { // one mistake, which may be none
			text[rng.IntN(len(text))] = "()(),;\n x5EY\x01"[rng.IntN(13)]
		}
		found, rows := checkWKT(r, fmt.Sprintf("run %d, style %d", run, style), text, style)
		if run%3 > 0 && found.Fault >= 0 {
			t.Errorf("run %d: fault at %s", run, kerneltest.Around(text, int(found.Fault)))
		}
		if rows > 0 {
			right++
		}
	}
	if right < 150 {
		t.Errorf("%d texts of 250 have rows", right)
	}
}

// What is long or comes in great numbers.
func TestParseLongWKT(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range []struct{ name, text string }{
		{"a long line", "LINESTRING(" + strings.Repeat("1 2,", 30000) + "1 2)\nPOINT(1 2)\n"},
		{"many rings", "POLYGON(" + strings.Repeat("(1 2),", 9000) + "(1 2))\nPOINT(1 2)\n"},
		{"small rows", strings.Repeat("A(1)\n", 20000)},
		{"smaller rows", strings.Repeat("A(1);", 20000)},
		{"nulls", strings.Repeat("NULL\n", 9000)},
		{"opening brackets", "POINT" + strings.Repeat("(", 40000) + "\n"},
		{"closing brackets", "POINT" + strings.Repeat(")", 40000) + "\n"},
		{"deep", "POINT" + strings.Repeat("(", 40000) + strings.Repeat(")", 40000) + "\nPOINT(1 2)"},
		{"semicolons", strings.Repeat(";", 50000) + "POINT(1 2)"},
		{"empties", "MULTIPOINT(" + strings.Repeat("EMPTY,", 9000) + "EMPTY)\n" +
			strings.Repeat("POINT EMPTY\n", 3000)},
		{"lines without rows", strings.Repeat("\n", 50000)},
	} {
		checkWKT(r, tt.name, []byte(tt.text), kwkt.WKTLines)
	}
	// A run of blanks that is too long to be looked over is a fault, although there is none.
	for _, text := range []string{
		"POINT(1 2)" + strings.Repeat(" ", 500) + "\n", "POINT(1 2)\n" + strings.Repeat(" ", 500) + "POINT(1 2)",
		"POLYGON((1 2)" + strings.Repeat(" ", 500) + ",(1 2))",
		"SRID" + strings.Repeat(" ", 500) + "=1;POINT(1 2)",
	} {
		x, err := kwkt.ParseWKT(r.Set, r.Stream, kerneltest.Upload(r, []byte(text)), kwkt.WKTLines)
		r.OK(err)
		fault := x.Fault
		if fault < 0 {
			fault = kerneltest.Read(r, x.Found)[0].Fault
		}
		if fault < 0 {
			t.Errorf("%.20q and blanks: no fault", text)
		}
		r.OK(x.Free(r.Stream))
	}
}

func TestWKTFound(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range []struct {
		name, text  string
		least, most int64
	}{
		{"none", "POINT(1 2)\nSRID=0;POINT(1 2)", -1, 0},
		{"one", "POINT(1 2)\nSRID=5;POINT(1 2)\nSRID=0;POINT(1 2)", 5, 5},
		{
			"several", strings.Repeat("SRID=7;POINT(1 2)\n", 1000) + "SRID=2147483647;POINT(1 2);SRID=3;POINT(1 2)",
			3, 2147483647,
		},
	} {
		if found, _ := checkWKT(r, tt.name, []byte(tt.text), kwkt.WKTLines); found.Least != tt.least ||
			found.Most() != tt.most {
			t.Errorf("%s: SRIDs from %d to %d, want %d to %d", tt.name, found.Least, found.Most(), tt.least, tt.most)
		}
	}
}
