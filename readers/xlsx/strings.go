package xlsx

import (
	"context"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// stringTable is the shared strings (section 18.4.9), which are in memory as a whole.
type stringTable struct {
	text []byte
	ends []uint32 // in text
}

// Limits of shared strings.
const (
	maxStrings     = 1 << 25
	maxStringBytes = 512 << 20
)

// read reads the part of the shared strings.
func (t *stringTable) read(ctx context.Context, src *source.File, name string) error {
	p, err := openPart(ctx, src, name, readers.Limits{})
	if err != nil {
		return err
	}
	ok := p.root("sst") && p.each(func(local []byte) bool {
		if string(local) != "si" {
			return true
		}
		before := len(t.text)
		if !p.Unit(func() (ok bool) {
			t.text, ok = p.richText(t.text[:before])
			return ok
		}) {
			return false
		}
		if len(t.text) > maxStringBytes || len(t.ends) == maxStrings {
			return p.Wrong(p.X.At, "", "", fmt.Sprintf("more than %d shared strings, or %d bytes of them", maxStrings,
				maxStringBytes))
		}
		t.ends = append(t.ends, uint32(len(t.text)))
		return true
	})
	if !ok {
		err = p.fault(-1)
	}
	return p.close(err)
}

// at returns string i.
func (t *stringTable) at(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:t.ends[i]]
}
