package cql2

import (
	"slices"
	"strconv"
	"strings"
)

// ParseText reads a filter in CQL2 text. Errors are *Error.
func ParseText(in string) (*Node, error) {
	if len(in) > MaxBytes {
		return nil, errorAt(Place{}, "it has more than %d bytes", MaxBytes)
	}
	tokens, err := lex(in)
	if err != nil {
		return nil, err
	}
	p := &textParser{tokens: tokens}
	n, err := p.or()
	if err == nil && p.peek().kind != end {
		err = p.unexpected("AND, OR or the end")
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// textParser is a parser by recursive descent. Expressions of all types have one grammar; Compile
// checks types.
type textParser struct {
	tokens []token
	next   int
	depth  int
	nodes  int
}

func (p *textParser) peek() token { return p.tokens[p.next] }

func (p *textParser) take() token {
	t := p.tokens[p.next]
	if t.kind != end {
		p.next++
	}
	return t
}

// accept takes the next token if it is s.
func (p *textParser) accept(s string) bool {
	if !p.peek().is(s) {
		return false
	}
	p.next++
	return true
}

func (p *textParser) expect(s string) error {
	if !p.accept(s) {
		return p.unexpected(s)
	}
	return nil
}

func (p *textParser) unexpected(want string) error {
	t := p.peek()
	if t.kind == end {
		return errorAt(Place{Byte: t.at}, "the filter ends, where %s is expected", want)
	}
	return errorAt(Place{Byte: t.at}, "%.40q, where %s is expected", t.text, want)
}

// enter counts a level of nested expressions.
func (p *textParser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return errorAt(Place{Byte: p.peek().at}, "expressions are nested deeper than %d", maxDepth)
	}
	return nil
}

func (p *textParser) leave() { p.depth-- }

func (p *textParser) node(t token, op string, args ...*Node) (*Node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, errorAt(Place{Byte: t.at}, "the filter has more than %d parts", maxNodes)
	}
	return &Node{Op: op, Args: args, At: Place{Byte: t.at}}, nil
}

func (p *textParser) or() (*Node, error) { return p.chain("or", p.and) }

func (p *textParser) and() (*Node, error) { return p.chain("and", p.not) }

// chain parses operands of AND or OR.
func (p *textParser) chain(op string, operand func() (*Node, error)) (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t := p.peek()
	first, err := operand()
	if err != nil || !p.peek().is(op) {
		return first, err
	}
	args := []*Node{first}
	for p.accept(op) {
		n, err := operand()
		if err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	return p.node(t, op, args...)
}

func (p *textParser) not() (*Node, error) {
	t := p.peek()
	if !p.accept("not") {
		return p.predicate()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	n, err := p.not()
	if err != nil {
		return nil, err
	}
	return p.node(t, "not", n)
}

// predicate parses a comparison, or an expression by itself.
func (p *textParser) predicate() (*Node, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	for _, op := range []string{"=", "<>", "<=", ">=", "<", ">"} {
		if p.accept(op) {
			right, err := p.sum()
			if err != nil {
				return nil, err
			}
			return p.node(t, op, left, right)
		}
	}
	if p.accept("is") {
		negated := p.accept("not")
		if err := p.expect("null"); err != nil {
			return nil, err
		}
		return p.maybeNot(t, negated, "isNull", left)
	}
	negated := false
	if p.peek().is("not") {
		p.next++
		negated = true
	}
	switch {
	case p.accept("like"):
		pattern, err := p.sum()
		if err != nil {
			return nil, err
		}
		return p.maybeNot(t, negated, "like", left, pattern)
	case p.accept("ilike"): // of GDAL
		pattern, err := p.sum()
		if err != nil {
			return nil, err
		}
		return p.maybeNot(t, negated, "like", &Node{Op: "casei", Args: []*Node{left}, At: left.At},
			&Node{Op: "casei", Args: []*Node{pattern}, At: pattern.At})
	case p.accept("between"):
		return p.between(t, negated, left)
	case p.accept("in"):
		args, err := p.list()
		if err != nil {
			return nil, err
		}
		return p.maybeNot(t, negated, "in", append([]*Node{left}, args...)...)
	case negated:
		return nil, p.unexpected("LIKE, BETWEEN or IN")
	}
	return left, nil
}

func (p *textParser) between(t token, negated bool, x *Node) (*Node, error) {
	low, err := p.sum()
	if err != nil {
		return nil, err
	}
	if err := p.expect("and"); err != nil {
		return nil, err
	}
	high, err := p.sum()
	if err != nil {
		return nil, err
	}
	return p.maybeNot(t, negated, "between", x, low, high)
}

// maybeNot returns a node, or its negation.
func (p *textParser) maybeNot(t token, negated bool, op string, args ...*Node) (*Node, error) {
	n, err := p.node(t, op, args...)
	if err != nil || !negated {
		return n, err
	}
	return p.node(t, "not", n)
}

// list parses expressions in parentheses.
func (p *textParser) list() ([]*Node, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var args []*Node
	for {
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		args = append(args, n)
		if p.accept(",") {
			continue
		}
		return args, p.expect(")")
	}
}

func (p *textParser) sum() (*Node, error) { return p.operators([]string{"+", "-"}, p.product) }

func (p *textParser) product() (*Node, error) {
	return p.operators([]string{"*", "/", "%", "div"}, p.power)
}

func (p *textParser) power() (*Node, error) { return p.operators([]string{"^"}, p.sign) }

// operators parses operators of one precedence from left to right.
func (p *textParser) operators(ops []string, operand func() (*Node, error)) (*Node, error) {
	left, err := operand()
	if err != nil {
		return nil, err
	}
	for {
		t, found := p.peek(), ""
		for _, op := range ops {
			if p.accept(op) {
				found = op
				break
			}
		}
		if found == "" {
			return left, nil
		}
		right, err := operand()
		if err != nil {
			return nil, err
		}
		if left, err = p.node(t, found, left, right); err != nil {
			return nil, err
		}
		if p.nodes > maxDepth && depthOf(left) > maxDepth {
			return nil, errorAt(Place{Byte: t.at}, "expressions are nested deeper than %d", maxDepth)
		}
	}
}

// depthOf returns how often an operator is the left operand of another one.
func depthOf(n *Node) int {
	depth := 0
	for len(n.Args) > 0 {
		n = n.Args[0]
		depth++
	}
	return depth
}

func (p *textParser) sign() (*Node, error) {
	t := p.peek()
	switch {
	case p.accept("+"):
	case p.accept("-"):
		if p.peek().kind == number {
			n, err := p.node(t, Number)
			if err == nil {
				n.Text = "-" + p.take().text
			}
			return n, err
		}
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		x, err := p.sign()
		if err != nil {
			return nil, err
		}
		minus, err := p.node(t, Number)
		if err != nil {
			return nil, err
		}
		minus.Text = "-1"
		return p.node(t, "*", minus, x)
	}
	return p.primary()
}

// reserved are words that are not names of properties without quotes.
var reserved = []string{"and", "or", "not", "like", "ilike", "between", "in", "is", "null", "div"}

// Reserved reports whether a name needs quotes in CQL2 text although it is an identifier.
func Reserved(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(reserved, lower) || lower == "true" || lower == "false"
}

func (p *textParser) primary() (*Node, error) {
	t := p.peek()
	switch {
	case p.accept("("):
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		return n, p.expect(")")
	case t.kind == number:
		return p.leaf(Number)
	case t.kind == text:
		return p.leaf(String)
	case t.kind == quotedWord:
		return p.leaf(Property)
	case t.kind != word:
		return nil, p.unexpected("a property, a literal or a function")
	}
	if p.tokens[p.next+1].is("(") || isShape(t.text) && p.tokens[p.next+1].is("z") {
		return p.call()
	}
	if t.is("true") || t.is("false") {
		n, err := p.leaf(Boolean)
		if err == nil {
			n.Text = strings.ToLower(n.Text)
		}
		return n, err
	}
	if Reserved(t.text) {
		return nil, p.unexpected("a property, a literal or a function")
	}
	return p.leaf(Property)
}

// leaf takes a token that is a node.
func (p *textParser) leaf(op string) (*Node, error) {
	t := p.take()
	n, err := p.node(t, op)
	if err == nil {
		n.Text = t.text
	}
	return n, err
}

// call parses a function, a literal of time, or a geometry.
func (p *textParser) call() (*Node, error) {
	t := p.peek()
	name := strings.ToLower(t.text)
	switch {
	case name == Date || name == Timestamp:
		p.next += 2
		n, err := p.node(t, name)
		if err != nil {
			return nil, err
		}
		if p.peek().kind != text {
			return nil, p.unexpected("a text in single quotes")
		}
		n.Text = p.take().text
		return n, p.expect(")")
	case name == "bbox" || isShape(name):
		shape, err := p.shape(0)
		if err != nil {
			return nil, err
		}
		n, err := p.node(t, Geometry)
		if err == nil {
			n.Shape = &shape
		}
		return n, err
	}
	p.next++
	args, err := p.list()
	if err != nil {
		return nil, err
	}
	return p.node(t, name, args...)
}

// float parses a number with a sign.
func (p *textParser) float() (float64, error) {
	at := p.peek().at
	sign := ""
	if p.accept("-") {
		sign = "-"
	} else {
		p.accept("+")
	}
	if p.peek().kind != number {
		return 0, p.unexpected("a number")
	}
	v, err := strconv.ParseFloat(sign+p.take().text, 64)
	if err != nil {
		return 0, errorAt(Place{Byte: at}, "a number out of range")
	}
	return v, nil
}
