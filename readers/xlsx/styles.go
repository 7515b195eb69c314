package xlsx

import (
	"context"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// format is what the number format of a cell makes of a number.
type format uint8

const (
	formatNumber format = 0
	formatDate   format = 1 << iota >> 1
	formatTime
)

// readStyles reads the formats of cells: the number format of each element xf of cellXfs
// (section 18.8.10).
func (w *workbook) readStyles(ctx context.Context, src *source.File, name string) error {
	p, err := openPart(ctx, src, name, readers.Limits{})
	if err != nil {
		return err
	}
	custom := map[int]format{}
	inside := 0 // depth of cellXfs
	ok := p.root("styleSheet") && p.each(func(local []byte) bool {
		switch string(local) {
		case "numFmt":
			id, _ := p.X.Attr("numFmtId")
			n, err := strconv.Atoi(string(id))
			code, _ := p.X.Attr("formatCode")
			if _, known := custom[n]; err == nil && !known && len(custom) < maxFormats {
				custom[n] = formatOf(string(code))
			}
		case "cellXfs":
			inside = p.X.Depth()
		case "xf":
			if inside == 0 || p.X.Depth() != inside+1 || len(w.styles) == maxFormats {
				break
			}
			id, _ := p.X.Attr("numFmtId")
			n, _ := strconv.Atoi(string(id))
			f, known := custom[n]
			if !known {
				f = builtInFormat(n)
			}
			w.styles = append(w.styles, f)
		case "cellStyles", "dxfs", "cellStyleXfs":
			inside = 0
		}
		return true
	})
	if !ok {
		err = p.fault(-1)
	}
	return p.close(err)
}

// maxFormats is the number of formats that count; Excel has 65,490.
const maxFormats = 1 << 16

// builtInFormat returns the formats that a file does not define (section 18.8.30), with those of
// East Asian languages.
func builtInFormat(id int) format {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id >= 57 && id <= 58:
		return formatDate
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id >= 45 && id <= 47, id >= 55 && id <= 56:
		return formatTime
	case id == 22:
		return formatDate | formatTime
	}
	return formatNumber
}

// formatOf reads a format code (section 18.8.31). A letter of a date or a time in the first section
// makes it one, unless it is quoted, escaped or in brackets:
//
//	yyyy\-mm\-dd        date
//	[$-409]h:mm AM/PM   time
//	0.00E+00, "day" 0   number
//	[h]:mm              number: a duration may be longer than a day
func formatOf(code string) (f format) {
	months := false // m is a minute next to hours or seconds, otherwise a month
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case ';':
			i = len(code)
		case '\\', '_', '*':
			i++
		case '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				return formatNumber
			}
			i += end + 1
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return formatNumber
			}
			switch strings.ToLower(strings.Trim(code[i+1:i+end], "hHmMsS")) {
			case "":
				return formatNumber
			}
			i += end
		case 'A', 'a':
			for _, half := range []string{"am/pm", "a/p"} {
				if len(code) >= i+len(half) && strings.EqualFold(code[i:i+len(half)], half) {
					i += len(half) - 1
					f |= formatTime
				}
			}
		case 'y', 'Y', 'd', 'D':
			f |= formatDate
		case 'h', 'H', 's', 'S':
			f |= formatTime
		case 'm', 'M':
			months = true
		case 'G', 'g':
			if strings.HasPrefix(strings.ToLower(code[i:]), "general") {
				i += len("general") - 1
			}
		}
	}
	if months && f == formatNumber {
		f = formatDate
	}
	return f
}
