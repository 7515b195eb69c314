package gml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	maxSchemaBytes = 16 << 20
	maxSchemaDepth = 256
)

// node is an element of an .xsd.
type node struct {
	local, prefix string // prefix with its colon
	attributes    []attribute
	children      []*node
}

type attribute struct{ name, value string }

// attribute returns the value of an attribute, empty if there is none.
func (n *node) attribute(name string) string {
	for _, a := range n.attributes {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// child returns the first child of a name, or nil.
func (n *node) child(local string) *node {
	for _, c := range n.children {
		if c.local == local {
			return c
		}
	}
	return nil
}

// readSchema reads the .xsd next to the file, if there is one, but not the files that it includes
// or imports.
func readSchema(src *source.File) (*schema, error) {
	xsd, err := src.Sibling(".xsd")
	if xsd == nil || err != nil {
		return nil, err
	}
	wrong := func(offset int64, rule string, what error) *readers.ParseError {
		return &readers.ParseError{
			Name: xsd.Name, Format: formatName, Offset: offset, Row: -1, Unit: "feature",
			Rule: rule, Err: what,
		}
	}
	if xsd.Size > maxSchemaBytes {
		return nil, wrong(maxSchemaBytes, "", fmt.Errorf("a schema of more than %d bytes", maxSchemaBytes))
	}
	text, encoding, err := schemaText(xsd)
	if bad := new(source.RecodeError); errors.As(err, &bad) {
		return nil, wrong(bad.Offset, bad.Rule, bad.Err)
	} else if err != nil {
		return nil, err
	}
	x := xmltext.Scanner{MaxDepth: maxSchemaDepth}
	n := len(text)
	text = append(text, make([]byte, number.Padding)...)
	x.Window(unsafe.Pointer(unsafe.SliceData(text)), n, 0, true)
	root, ok := tree(&x)
	if ok && root.local == "schema" {
		return newSchema(root), nil
	}
	f := x.Fault
	if ok {
		f = xmltext.FaultAt{Want: "the root element <schema>", Rule: "XML Schema part 1 section 3.15.2"}
	}
	if !f.Bare {
		found := window.Quote(text[min(f.Pos, n):n])
		f.Want = fmt.Sprintf("want %s, found %s", f.Want, found)
	}
	e := wrong(int64(f.Pos), f.Rule, errors.New(f.Want))
	e.Text = encoding
	return nil, e
}

// schemaText returns the text of a schema as UTF-8, and the encoding that it was recoded from, if
// it was.
func schemaText(xsd *source.File) (text []byte, encoding string, err error) {
	text = make([]byte, xsd.Size)
	if n, err := xsd.ReadAt(text, 0); int64(n) < xsd.Size {
		if errors.Is(err, io.EOF) {
			err = source.ErrChanged
		}
		return nil, "", fmt.Errorf("%s: %w", xsd.Name, err)
	}
	if r, ok := xmltext.Recode(text); ok {
		text, err = io.ReadAll(r.Reader(bytes.NewReader(text)))
		return text, r.From, err
	}
	return text, "", nil
}

// tree reads a whole document.
func tree(x *xmltext.Scanner) (*node, bool) {
	if !x.Prolog() {
		return nil, false
	}
	around := &node{}
	open := []*node{around}
	for {
		switch x.Next() {
		case xmltext.Start:
			n := &node{local: string(x.Local())}
			if prefix := x.Prefix(); len(prefix) > 0 {
				n.prefix = string(prefix) + ":"
			}
			for i := range x.Attrs() {
				name, _ := x.AttrName(i)
				n.attributes = append(n.attributes, attribute{string(name), string(x.AttrValue(i))})
			}
			last := open[len(open)-1]
			last.children = append(last.children, n)
			open = append(open, n)
		case xmltext.End:
			open = open[:len(open)-1]
		case xmltext.EOF:
			return around.children[0], true
		default:
			return nil, false
		}
	}
}
