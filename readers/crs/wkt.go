package crs

import (
	"errors"
	"strconv"
	"strings"
)

// node is a node of a well-known text: NAME["text",1,NODE[…]].
type node struct {
	keyword string // in upper case
	values  []string
	nodes   []node
	round   bool // it has round brackets, which PROJ does not read
}

// Limits of untrusted text.
const (
	maxWKTBytes = 1 << 20
	maxWKTDepth = 32
	maxWKTNodes = 20000
)

var errWKT = errors.New("no well-known text")

// wktReader reads nodes, OGC 01-009 and 18-010r7: brackets may be round or square.
type wktReader struct {
	text  string
	p     int
	nodes int
}

// parseWKT reads a text of one node; the nodes that ESRI has after it, joined by commas, are
// others.
func parseWKT(text string) ([]node, error) {
	if len(text) > maxWKTBytes {
		return nil, errWKT
	}
	r := &wktReader{text: text}
	var all []node
	for {
		n, err := r.node(0)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if r.space(); r.p == len(r.text) {
			return all, nil
		}
		if !r.take(',') {
			return nil, errWKT
		}
	}
}

func (r *wktReader) space() {
	for r.p < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.p]) >= 0 {
		r.p++
	}
}

func (r *wktReader) take(c byte) bool {
	r.space()
	if r.p < len(r.text) && r.text[r.p] == c {
		r.p++
		return true
	}
	return false
}

// word returns a run of letters, digits and what numbers have.
func (r *wktReader) word() string {
	r.space()
	start := r.p
	for r.p < len(r.text) && strings.IndexByte("[](),\" \t\r\n", r.text[r.p]) < 0 {
		r.p++
	}
	return r.text[start:r.p]
}

// quoted returns the rest of a text after its quote; a doubled quote is one.
func (r *wktReader) quoted() (string, error) {
	var b strings.Builder
	for {
		end := strings.IndexByte(r.text[r.p:], '"')
		if end < 0 {
			return "", errWKT
		}
		b.WriteString(r.text[r.p : r.p+end])
		r.p += end + 1
		if r.p == len(r.text) || r.text[r.p] != '"' {
			return b.String(), nil
		}
		b.WriteByte('"')
		r.p++
	}
}

func (r *wktReader) node(depth int) (node, error) {
	n := node{keyword: strings.ToUpper(r.word())}
	if r.nodes++; n.keyword == "" || depth > maxWKTDepth || r.nodes > maxWKTNodes {
		return node{}, errWKT
	}
	if n.round = r.take('('); !n.round && !r.take('[') {
		return node{}, errWKT
	}
	for {
		if err := r.value(&n, depth); err != nil {
			return node{}, err
		}
		if r.take(']') || r.take(')') {
			return n, nil
		}
		if !r.take(',') {
			return node{}, errWKT
		}
	}
}

// value reads a text, a number, an enumeration or a node into n.
func (r *wktReader) value(n *node, depth int) error {
	if r.take('"') {
		text, err := r.quoted()
		n.values = append(n.values, text)
		return err
	}
	start := r.p
	word := r.word()
	if r.space(); r.p < len(r.text) && (r.text[r.p] == '[' || r.text[r.p] == '(') {
		r.p = start
		child, err := r.node(depth + 1)
		n.nodes = append(n.nodes, child)
		return err
	}
	if word == "" {
		return errWKT
	}
	n.values = append(n.values, word)
	return nil
}

// child returns the first node inside that has one of these names.
func (n *node) child(keywords ...string) *node {
	for i := range n.nodes {
		for _, k := range keywords {
			if n.nodes[i].keyword == k {
				return &n.nodes[i]
			}
		}
	}
	return nil
}

// text returns a value, "" where there is none.
func (n *node) text(i int) string {
	if n == nil || i >= len(n.values) {
		return ""
	}
	return n.values[i]
}

// isNumber reports a value that is a number.
func (n *node) isNumber(i int) bool {
	_, err := strconv.ParseFloat(n.text(i), 64)
	return err == nil
}

// number returns a value as a number, or what is assumed without one.
func (n *node) number(i int, without float64) float64 {
	v, err := strconv.ParseFloat(n.text(i), 64)
	if err != nil {
		return without
	}
	return v
}

// id returns the authority and the code that the node states.
func (n *node) id() (ID, bool) {
	c := n.child("AUTHORITY", "ID")
	if c == nil || len(c.values) < 2 {
		return ID{}, false
	}
	return join([]string{strings.ToLower(c.values[0]), "", strings.ToLower(c.values[1])})
}
