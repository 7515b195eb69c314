package xlsx

import "testing"

func TestFormatOf(t *testing.T) {
	for _, test := range []struct {
		code string
		want format
	}{
		{"General", formatNumber},
		{"0.00", formatNumber},
		{"0.00E+00", formatNumber},
		{`"day" 0`, formatNumber},
		{`\d0`, formatNumber},
		{"[Red]0;[Blue]-0", formatNumber},
		{"[h]:mm", formatNumber},
		{"[mm]:ss", formatNumber},
		{"0;yyyy", formatNumber},
		{"yyyy-mm-dd", formatDate},
		{`[$-409]d\-mmm\-yy;@`, formatDate},
		{"mmmm", formatDate},
		{"h:mm AM/PM", formatTime},
		{"mm:ss.0", formatTime},
		{"dd/mm/yyyy hh:mm", formatDate | formatTime},
		{`"open`, formatNumber},
		{"[open", formatNumber},
		{`\`, formatNumber},
		{"", formatNumber},
	} {
		if got := formatOf(test.code); got != test.want {
			t.Errorf("formatOf(%q): got %d, want %d", test.code, got, test.want)
		}
	}
}

func TestAppendSerial(t *testing.T) {
	for _, test := range []struct {
		v    float64
		f    format
		e    epoch
		want string // "": no date
	}{
		{0, formatDate, epoch1900, "1899-12-31"},
		{1, formatDate, epoch1900, "1900-01-01"},
		{59, formatDate, epoch1900, "1900-02-28"},
		{60, formatDate, epoch1900, ""},
		{61, formatDate, epoch1900, "1900-03-01"},
		{2_958_465, formatDate, epoch1900, "9999-12-31"},
		{2_958_465.9999999999, formatDate, epoch1900, ""},
		{2_958_466, formatDate, epoch1900, ""},
		{-1, formatDate, epoch1900, ""},
		{0, formatDate, epoch1904, "1904-01-01"},
		{43831, formatDate | formatTime, epoch1900, "2020-01-01T00:00:00"},
		{43831.5, formatDate, epoch1900, "2020-01-01T12:00:00"},
		{43830.9999999999, formatDate, epoch1900, "2020-01-01"}, // less than half a millisecond
		{43831.00000578704, formatDate, epoch1900, "2020-01-01T00:00:00.500"},
		{0.75, formatTime, epoch1904, "18:00:00"},
		{0.9999999999, formatTime, epoch1900, "00:00:00"},
		{1, formatTime, epoch1900, ""},
	} {
		got, ok := appendSerial(nil, test.v, test.f, test.e)
		if ok != (test.want != "") || ok && string(got) != test.want {
			t.Errorf("appendSerial(%v, %d, %d): got %q, %t, want %q", test.v, test.f, test.e, got, ok, test.want)
		}
	}
}

func TestReferences(t *testing.T) {
	for _, test := range []struct {
		column int32
		name   string
	}{{0, "A"}, {25, "Z"}, {26, "AA"}, {701, "ZZ"}, {702, "AAA"}, {16383, "XFD"}} {
		if got := columnName(test.column); got != test.name {
			t.Errorf("columnName(%d): got %s, want %s", test.column, got, test.name)
		}
		if got, ok := parseReference([]byte(test.name+"7"), 7); got != test.column || !ok {
			t.Errorf("parseReference(%s7): got %d, %t", test.name, got, ok)
		}
	}
	for _, bad := range []string{"", "7", "A", "A8", "A+7", "A7x", "7A", "ABCDE7"} {
		if _, ok := parseReference([]byte(bad), 7); ok {
			t.Errorf("parseReference(%q) is accepted in row 7", bad)
		}
	}
}

func TestAppendUnescaped(t *testing.T) {
	for text, want := range map[string]string{
		"a_x000D_b": "a\rb", "_x0041__x0042_": "AB", "_x005F_x0041_": "_x0041_", "_xD800_": "_xD800_",
		"_x0000_": "_x0000_", "_x41_": "_x41_", "_x004": "_x004", "__x0041_": "_A", "_x004G_": "_x004G_",
	} {
		if got := string(appendUnescaped(nil, []byte(text))); got != want {
			t.Errorf("appendUnescaped(%q): got %q, want %q", text, got, want)
		}
	}
}
