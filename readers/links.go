package readers

import (
	"fmt"
	"strings"
)

// Links counts a file's references to other files, which are not followed. The zero value is empty.
type Links struct {
	Unit  string   `json:"unit,omitempty"` // what the format calls one: "NetworkLink"
	Count int64    `json:"count"`
	First []string `json:"first"` // targets of the first ones, in file order, at most maxLinks
}

// maxLinks is how many links are kept with their targets; the others are only counted.
const maxLinks = 10

// maxLinkBytes is how many bytes of a target are kept.
const maxLinkBytes = 1 << 10

// Add counts a link that comes after those counted so far. An empty href has no target.
func (l *Links) Add(unit, href string) {
	l.Unit = unit
	l.Count++
	if href != "" && len(l.First) < maxLinks {
		l.First = append(l.First, strings.ToValidUTF8(href[:min(len(href), maxLinkBytes)], ""))
	}
}

// Append adds the links of the text that follows.
func (l *Links) Append(more *Links) {
	if more.Count == 0 {
		return
	}
	l.Unit = more.Unit
	l.Count += more.Count
	l.First = append(l.First, more.First[:min(len(more.First), maxLinks-len(l.First))]...)
}

// String returns "2 NetworkLinks, not followed: https://example.org/a.kml,
// https://example.org/b.kml", or empty if there are none.
func (l *Links) String() string {
	if l.Count == 0 {
		return ""
	}
	s := fmt.Sprintf("%d %s", l.Count, l.Unit)
	if l.Count > 1 {
		s += "s"
	}
	s += ", not followed"
	for i, href := range l.First {
		s += []string{": ", ", "}[min(i, 1)] + href
	}
	if int64(len(l.First)) < l.Count && len(l.First) > 0 {
		s += ", …"
	}
	return s
}
