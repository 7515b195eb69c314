package gml

import (
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// schema is what an .xsd declares about the feature types of a file. Only names, types and
// repetition count; the rest of XML Schema is ignored.
type schema struct {
	layers map[string]*featureType
}

// featureType is what the schema declares about one layer.
type featureType struct {
	order []*leafElement // elements with columns, in the order of the schema
	names map[string]*leafElement
}

// leafElement is a leaf element of a feature type.
type leafElement struct {
	name     string   // with the names of the enclosing elements, each followed by "/"
	promise  *promise // of its values; nil: its type is unknown
	many     bool     // it may be repeated
	geometry bool     // it contains a geometry
}

// kinds returns the facts of the column if it has no value.
func (d *leafElement) kinds() geoarrow.FactKinds {
	switch {
	case d.promise == nil:
		return 0
	case d.many:
		return d.promise.list
	}
	return d.promise.kinds
}

// elements returns the elements of a layer that have columns, in the order of the schema.
func (c *schema) elements(layer string) []*leafElement {
	if c == nil || c.layers[layer] == nil {
		return nil
	}
	return c.layers[layer].order
}

// find returns the declaration of the elements on a path, or nil.
func (c *schema) find(layer string, path []byte) *leafElement {
	if c.layers[layer] == nil {
		return nil
	}
	return c.layers[layer].names[string(path)]
}

// maxNested bounds the depth to which feature types are examined: types may contain themselves.
const maxNested = 8

// types are the definitions of an .xsd by local name.
type types struct {
	prefix   string // of the namespace of XML Schema, with the colon
	simple   map[string]*node
	complex  map[string]*node
	elements map[string]*node
}

// newSchema reads the definitions in the root element of an .xsd.
func newSchema(root *node) *schema {
	t := types{
		prefix: root.prefix, simple: map[string]*node{}, complex: map[string]*node{},
		elements: map[string]*node{},
	}
	for _, n := range root.children {
		switch n.local {
		case "simpleType":
			t.simple[n.attribute("name")] = n
		case "complexType":
			t.complex[n.attribute("name")] = n
		case "element":
			t.elements[n.attribute("name")] = n
		}
	}
	s := &schema{layers: map[string]*featureType{}}
	for name, n := range t.elements {
		if content := t.contentOf(n); content != nil {
			f := &featureType{names: map[string]*leafElement{}}
			t.collect(f, content, "", false, 0)
			s.layers[name] = f
		}
	}
	return s
}

// contentOf returns the complex type of an element, if the file defines it.
func (t *types) contentOf(element *node) *node {
	if n := element.child("complexType"); n != nil {
		return n
	}
	return t.complex[local(element.attribute("type"))]
}

// collect adds the leaf elements of a complex type, at the path way, to a feature type: first those
// of the type that it extends.
func (t *types) collect(f *featureType, content *node, way string, many bool, depth int) {
	if depth > maxNested {
		return
	}
	for _, n := range content.children {
		switch n.local {
		case "extension", "restriction":
			if base := t.complex[local(n.attribute("base"))]; base != nil && base != content {
				t.collect(f, base, way, many, depth+1)
			}
			t.collect(f, n, way, many, depth)
		case "element":
			t.element(f, n, way, many || repeats(n), depth)
		case "sequence", "choice", "all", "complexContent":
			t.collect(f, n, way, many || repeats(n), depth)
		case "group", "attribute", "annotation":
		}
	}
}

// element adds a local element, or the leaf elements inside of it.
func (t *types) element(f *featureType, n *node, way string, many bool, depth int) {
	if ref := n.attribute("ref"); ref != "" {
		if n = t.elements[local(ref)]; n == nil {
			return
		}
	}
	content := t.contentOf(n)
	if content != nil && content.child("simpleContent") == nil {
		t.collect(f, content, way+n.attribute("name")+"/", many, depth+1)
		return
	}
	d := &leafElement{name: way + n.attribute("name"), many: many}
	typeName := n.attribute("type")
	d.geometry = isGeometryProperty(local(typeName))
	switch {
	case d.geometry:
	case content != nil:
		d.promise = t.simpleContent(content)
	default:
		d.promise = t.simpleOf(n, typeName, 0)
	}
	if before := f.names[d.name]; before != nil { // both of two elements of one name may be in a feature
		before.many = true
		if before.promise != d.promise {
			before.promise = nil
		}
		return
	}
	f.names[d.name] = d
	if !d.geometry {
		f.order = append(f.order, d)
	}
}

// simpleOf returns the promise of a simple type, which the node defines or names.
func (t *types) simpleOf(n *node, name string, depth int) *promise {
	if inner := n.child("simpleType"); inner != nil {
		n, name = inner, ""
	}
	if name == "" {
		restriction := n.child("restriction")
		if restriction == nil || depth > maxNested {
			if n.child("union") != nil || n.child("list") != nil {
				return promises["string"]
			}
			return nil
		}
		return t.simpleOf(restriction, restriction.attribute("base"), depth+1)
	}
	if strings.HasPrefix(name, t.prefix) && (t.prefix != "" || !strings.Contains(name, ":")) {
		if p := promises[name[len(t.prefix):]]; p != nil {
			return p
		}
	}
	if named := t.simple[local(name)]; named != nil && depth <= maxNested {
		return t.simpleOf(named, "", depth+1)
	}
	return promises[gmlTypes[local(name)]]
}

// simpleContent returns the promise of a complex type that is a simple one with attributes.
func (t *types) simpleContent(content *node) *promise {
	for _, n := range content.child("simpleContent").children {
		if base := n.attribute("base"); base != "" {
			return t.simpleOf(n, base, 0)
		}
	}
	return nil
}

// gmlTypes are GML's simple types with attributes.
var gmlTypes = map[string]string{
	"MeasureType": "double", "LengthType": "double", "AreaType": "double", "VolumeType": "double",
	"SpeedType": "double", "AngleType": "double",
	"TimeType": "double", "ScaleType": "double", "CodeType": "string", "CodeWithAuthorityType": "string",
	"StringOrRefType": "string",
}

// isGeometryProperty reports whether a name is that of a type of GML whose elements contain
// geometries.
func isGeometryProperty(name string) bool {
	rest, ok := strings.CutSuffix(name, "PropertyType")
	return ok && (shapeOf([]byte(rest)) != noShape ||
		slices.Contains([]string{"Geometry", "GeometricPrimitive", "GeometricAggregate", "MultiGeometry"}, rest))
}

// repeats reports whether an element or a group may be repeated.
func repeats(n *node) bool {
	most := n.attribute("maxOccurs")
	return most != "" && most != "0" && most != "1"
}

func local(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// layers are the names of feature types in order of appearance.
type layers struct {
	names []string
	known map[string]struct{}
}

// add adds a name if it is new.
func (l *layers) add(name []byte) {
	if _, known := l.known[string(name)]; known {
		return
	}
	if l.known == nil {
		l.known = map[string]struct{}{}
	}
	l.known[string(name)] = struct{}{}
	l.names = append(l.names, string(name))
}

func (l *layers) has(name string) bool {
	_, known := l.known[name]
	return known
}
