package sqltext

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
		lines      []int
	}{
		{"one", "SELECT 1", []string{"SELECT 1"}, []int{1}},
		{"two", "SELECT 1;\nSELECT 2;", []string{"SELECT 1", "SELECT 2"}, []int{1, 2}},
		{"empty ones", ";; ; -- nothing\n", nil, nil},
		{
			"in a text", "SELECT ';', 'it''s;'; SELECT E'\\';'",
			[]string{"SELECT ';', 'it''s;'", "SELECT E'\\';'"},
			[]int{1, 1},
		},
		{"in a name", `SELECT "a;""b" FROM x;`, []string{`SELECT "a;""b" FROM x`}, []int{1}},
		{"in comments", "-- a;b\nSELECT /* ; /* ; */ ; */ 1; ", []string{"SELECT /* ; /* ; */ ; */ 1"}, []int{2}},
		{"between dollars", "SELECT $$;$$, $a$;$$;$a$, $1;", []string{"SELECT $$;$$, $a$;$$;$a$, $1"}, []int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole := Split(tt.text)
			var s Splitter
			var pieces []Statement
			for i := range len(tt.text) { // a byte at a time gives the same
				pieces = append(pieces, s.Add(tt.text[i:i+1])...)
			}
			if last, ok := s.Rest(); ok {
				pieces = append(pieces, last)
			}
			for _, got := range [][]Statement{whole, pieces} {
				var texts []string
				var lines []int
				for _, one := range got {
					texts, lines = append(texts, one.Text), append(lines, one.Line)
				}
				if !slices.Equal(texts, tt.want) || !slices.Equal(lines, tt.lines) {
					t.Errorf("Split(%q) = %q at lines %v, want %q at %v", tt.text, texts, lines, tt.want, tt.lines)
				}
			}
		})
	}
}

// The places are marked in the texts.
func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		name, text, message string
		want                string
		caret               string
	}{
		{"at the start", "¦SELEC 1", `syntax error at or near "SELEC"`, `line 1: syntax error at or near "SELEC"; did you mean SELECT?`, "^"},
		{"second line", "SELECT 1\n  FROM ¦x", "bad", "line 2: bad", "       ^"},
		{"the word before", "SELECT a FORM ¦t", `syntax error at or near "t"`, `line 1: syntax error at or near "t"; did you mean FROM?`, "              ^"},
		{"wide characters", "SELECT '東京', ¦x", "bad", "line 1: bad", "               ^"},
		{"the end", "SELECT 1 +¦", "syntax error at end of input", "line 1: syntax error at end of input; the statement is not complete", "          ^"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(tt.text, "¦", "", 1)
			err := Explain(&atByte{tt.message, strings.Index(tt.text, "¦")}, text, 1, "")
			var placed *Error
			if !errors.As(err, &placed) || err.Error() != tt.want {
				t.Fatalf("Explain(%q) = %v, want %q", text, err, tt.want)
			}
			if lines := placed.Lines(); len(lines) != 2 || lines[1] != "  "+tt.caret {
				t.Errorf("lines of %q: %q, want the caret %q", text, lines, tt.caret)
			}
		})
	}
	err := Explain(errors.New(`no entry "countris"; the closest is "countries.geojson"`), "SELECT * FROM countris", 1, "")
	var placed *Error
	if !errors.As(err, &placed) || placed.Byte != 14 {
		t.Errorf("an unknown table: %#v, want its place, 14", err)
	}
	err = Explain(errors.New("byte 7 of the query: bad"), "SELECT x", 3, "stdin")
	if err.Error() != "stdin: line 3: bad" {
		t.Errorf("a server's place: %v", err)
	}
}

type atByte struct {
	message string
	at      int
}

func (e *atByte) Error() string { return e.message }
func (e *atByte) Place() int    { return e.at }

func TestLongLine(t *testing.T) {
	text := "SELECT " + strings.Repeat("a, ", 200) + "b"
	lines := (&Error{Err: errors.New("bad"), Statement: text, Byte: 301, Line: 1}).Lines()
	at := strings.IndexByte(lines[1], '^')
	if shownLine := []rune(lines[0]); len(shownLine) > shown+2 || text[301] != byte(shownLine[at]) {
		t.Errorf("lines %q: want the place in at most %d characters", lines, shown)
	}
}

func TestTables(t *testing.T) {
	for text, want := range map[string][]string{
		`SELECT a FROM countries JOIN world."x.csv" USING (a)`: {"countries", `world."x.csv"`},
		"SELECT 'FROM x', -- FROM y\n 1":                       nil,
		`DESCRIBE "a/b.csv"`:                                   {`"a/b.csv"`},
	} {
		if got := Tables(text); !slices.Equal(got, want) {
			t.Errorf("Tables(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Cursor
	}{
		{"SELECT na", Cursor{Word: "na", Start: 7, Writing: true}},
		{"SELECT a FROM ", Cursor{Start: 14, Table: true, Writing: true}},
		{`SELECT a FROM "cou`, Cursor{Word: `"cou`, Start: 14, Table: true, Writing: true}},
		{"SELECT 'na", Cursor{Start: 10}},
		{"SELECT 1 -- na", Cursor{Start: 14}},
	} {
		if got := At(tt.text); got != tt.want {
			t.Errorf("At(%q) = %+v, want %+v", tt.text, got, tt.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	got, ok := OneLine("SELECT 1, -- one */\n  2 /* two */\nFROM x")
	want := "SELECT 1, /* one */ 2 /* two */ FROM x"
	if !ok || strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("OneLine = %q %v, want %q", got, ok, want)
	}
	if got, ok := OneLine("SELECT 'a\nb'"); ok {
		t.Errorf("OneLine of a text with a line end = %q, want none", got)
	}
}
