package sqlite

import (
	"errors"
	"fmt"
	"strings"
)

// Column is a column of a table, as its CREATE TABLE statement declares it.
type Column struct {
	Name string
	Type string // as written, with single blanks; may be empty
	// the text of its DEFAULT clause, which rows have that are older than the column; may be empty
	Default string
	Rowid   bool // its values are the rowids: INTEGER PRIMARY KEY
	Virtual bool // it is computed, and not stored
}

// Table is what a CREATE TABLE statement says.
type Table struct {
	Columns      []Column
	WithoutRowid bool
}

// ParseTable reads a CREATE TABLE statement.
//
//	CREATE TABLE name ( column | constraint, … ) [options]
//	column  name [type] { PRIMARY KEY … | DEFAULT … | GENERATED … | other constraint }
func ParseTable(sql string) (Table, error) {
	tokens, err := lex(sql)
	if err != nil {
		return Table{}, err
	}
	p := parser{tokens: tokens}
	return p.table()
}

// token is a word, a quoted name, a literal or a sign.
type token struct {
	text   string // of a quoted name or a string without its quotes
	raw    string
	quoted bool // a name in quotes is no keyword
	name   bool // a word or a quoted name
}

// is reports whether the token is a keyword.
func (t token) is(words ...string) bool {
	for _, w := range words {
		if !t.quoted && strings.EqualFold(t.text, w) {
			return true
		}
	}
	return false
}

// lex splits a statement into tokens, without blanks and comments.
func lex(sql string) ([]token, error) {
	var all []token
	for i := 0; i < len(sql); {
		c := sql[i]
		start := i
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			i++
		case strings.HasPrefix(sql[i:], "--"):
			if n := strings.IndexByte(sql[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(sql)
			}
		case strings.HasPrefix(sql[i:], "/*"):
			if n := strings.Index(sql[i+2:], "*/"); n >= 0 {
				i += n + 4
			} else {
				i = len(sql)
			}
		case c == '"' || c == '`' || c == '\'' || c == '[':
			text, n, err := quoted(sql[i:])
			if err != nil {
				return nil, err
			}
			i += n
			all = append(all, token{text: text, raw: sql[start:i], quoted: true, name: true})
		case isWord(c):
			for i < len(sql) && isWord(sql[i]) {
				i++
			}
			all = append(all, token{text: sql[start:i], raw: sql[start:i], name: true})
		default:
			i++
			all = append(all, token{text: sql[start:i], raw: sql[start:i]})
		}
	}
	return all, nil
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 ||
		strings.IndexByte("_$.", c) >= 0
}

// quoted reads a name or text in quotes, in which two quotes are one.
func quoted(sql string) (text string, n int, err error) {
	end := sql[0]
	if end == '[' {
		end = ']'
	}
	var b strings.Builder
	for i := 1; i < len(sql); i++ {
		if sql[i] != end {
			b.WriteByte(sql[i])
			continue
		}
		if end == ']' || i+1 == len(sql) || sql[i+1] != end {
			return b.String(), i + 1, nil
		}
		b.WriteByte(end)
		i++
	}
	return "", 0, errors.New("a quote is not closed")
}

// parser reads tokens.
type parser struct {
	tokens []token
	at     int
}

var errCreate = errors.New("expected CREATE TABLE name (columns)")

// peek returns the current token, an empty one at the end.
func (p *parser) peek() token {
	if p.at >= len(p.tokens) {
		return token{}
	}
	return p.tokens[p.at]
}

func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

func (p *parser) table() (Table, error) {
	var t Table
	for !p.peek().is("(") {
		if p.at >= len(p.tokens) || p.peek().is("AS", "USING") {
			return t, errCreate
		}
		p.at++
	}
	p.at++
	key := ""
	for {
		if c := p.peek(); c.is("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN") {
			if name, ok := p.constraint(); ok {
				key = name
			}
		} else {
			c, err := p.column()
			if err != nil {
				return t, err
			}
			t.Columns = append(t.Columns, c)
		}
		if sep := p.next(); sep.is(")") {
			break
		} else if !sep.is(",") {
			return t, fmt.Errorf("%q after column %d, expected a comma", sep.raw, len(t.Columns))
		}
	}
	for ; p.at < len(p.tokens); p.at++ {
		t.WithoutRowid = t.WithoutRowid || p.peek().is("WITHOUT")
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Rowid = c.Rowid || key != "" && strings.EqualFold(c.Name, key) && strings.EqualFold(c.Type, "INTEGER")
	}
	return t, nil
}

// column reads the definition of a column.
func (p *parser) column() (Column, error) {
	name := p.next()
	if !name.name {
		return Column{}, fmt.Errorf("%q, expected the name of a column", name.raw)
	}
	c := Column{Name: name.text}
	var words []string
	for p.peek().name && !p.peek().is("CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE",
		"REFERENCES", "GENERATED", "AS") {
		words = append(words, p.next().text)
	}
	c.Type = strings.Join(words, " ")
	if p.peek().is("(") {
		c.Type += p.nested()
	}
	for p.at < len(p.tokens) && !p.peek().is(",", ")") {
		switch t := p.next(); {
		case t.is("PRIMARY"):
			p.at++ // KEY
			c.Rowid = strings.EqualFold(c.Type, "INTEGER") && !p.peek().is("DESC")
		case t.is("DEFAULT"):
			c.Default = p.value()
		case t.is("AS"):
			c.Virtual = true
		case t.is("STORED"):
			c.Virtual = false
		case t.is("("):
			p.at--
			p.nested()
		}
	}
	return c, nil
}

// value reads a literal with its sign, or an expression in parentheses.
func (p *parser) value() string {
	if p.peek().is("(") {
		return p.nested()
	}
	text := p.next().raw
	if text == "-" || text == "+" {
		text += p.next().raw
	}
	if strings.EqualFold(text, "x") && strings.HasPrefix(p.peek().raw, "'") {
		text += p.next().raw
	}
	// an exponent with a sign: 1e+5
	if n := len(text); n > 1 && (text[n-1] == 'e' || text[n-1] == 'E') && text[0] != '\'' && p.peek().is("+", "-") {
		text += p.next().raw + p.next().raw
	}
	return text
}

// nested reads up to the parenthesis that closes the current one, and returns the text.
func (p *parser) nested() string {
	var b strings.Builder
	for depth := 0; p.at < len(p.tokens); {
		t := p.next()
		b.WriteString(t.raw)
		if t.is("(") {
			depth++
		} else if t.is(")") {
			if depth--; depth == 0 {
				break
			}
		}
	}
	return b.String()
}

// constraint passes a table constraint, and returns the column of a primary key of one column.
func (p *parser) constraint() (key string, ok bool) {
	for p.at < len(p.tokens) && !p.peek().is(",", ")") {
		t := p.next()
		if t.is("PRIMARY") {
			p.at++ // KEY
			if p.peek().is("(") {
				from := p.at + 1
				p.nested()
				names := p.tokens[min(from, len(p.tokens)):min(p.at, len(p.tokens))]
				ok = len(names) > 1 && (names[1].is(")") || names[1].is("ASC", "DESC", "COLLATE", "AUTOINCREMENT"))
				for _, n := range names {
					ok = ok && !n.is(",")
				}
				if ok {
					key = names[0].text
				}
			}
		} else if t.is("(") {
			p.at--
			p.nested()
		}
	}
	return key, ok
}
