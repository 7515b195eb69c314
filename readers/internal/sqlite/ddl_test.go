package sqlite

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseTable(t *testing.T) {
	for _, c := range []struct{ name, sql, want string }{
		{"plain", `CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT(16) NOT NULL, c)`, `a:INTEGER* b:TEXT(16) c:`},
		{"quotes", `CREATE TABLE "a ""b" ("c)`, `error: a quote is not closed`},
		{"names", "create table main.t(\"a b\" int, `c``d` [double precision], 'e' text)", "a b:int c`d:double precision e:text"},
		{"comments", "CREATE TABLE t ( -- a\n a /* , b */ INT, /* c */ d INT)", `a:INT d:INT`},
		{"key of the table", `CREATE TABLE t (a integer, b, CONSTRAINT k PRIMARY KEY (A DESC))`, `a:integer* b:`},
		{"key of two columns", `CREATE TABLE t (a INTEGER, b INTEGER, PRIMARY KEY (a, b))`, `a:INTEGER b:INTEGER`},
		{"descending", `CREATE TABLE t (a INTEGER PRIMARY KEY DESC)`, `a:INTEGER`},
		{"other type", `CREATE TABLE t (a INT PRIMARY KEY)`, `a:INT`},
		{
			"defaults", `CREATE TABLE t (a INT DEFAULT -1, b TEXT DEFAULT 'x, y' NOT NULL, c DEFAULT (1 + (2)), d DEFAULT 1e-5)`,
			`a:INT=-1 b:TEXT='x, y' c:=(1+(2)) d:=1e-5`,
		},
		{
			"constraints", `CREATE TABLE t (a INT CHECK (a IN (1, 2)) REFERENCES o (id) ON DELETE CASCADE, b COLLATE NOCASE, CHECK (a > 1))`,
			`a:INT b:`,
		},
		{"computed", `CREATE TABLE t (a INT, b INT AS (a + 1), c INT GENERATED ALWAYS AS (a) STORED)`, `a:INT b:INT? c:INT`},
		{"without rowid", `CREATE TABLE t (a TEXT PRIMARY KEY) WITHOUT ROWID`, `a:TEXT without rowid`},
		{"keyword as a name", `CREATE TABLE t ("primary" TEXT, "unique" INT)`, `primary:TEXT unique:INT`},
		{"virtual", `CREATE VIRTUAL TABLE t USING rtree(id, a, b)`, `error: ` + errCreate.Error()},
		{"of a query", `CREATE TABLE t AS SELECT 1`, `error: ` + errCreate.Error()},
		{"nothing", ``, `error: ` + errCreate.Error()},
		{"cut", `CREATE TABLE t (a INT`, `error: "" after column 1, expected a comma`},
		{"no name", `CREATE TABLE t (a INT,)`, `error: ")", expected the name of a column`},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := ParseTable(c.sql)
			var words []string
			for _, c := range table.Columns {
				word := c.Name + ":" + c.Type
				if c.Default != "" {
					word += "=" + c.Default
				}
				if c.Rowid {
					word += "*"
				}
				if c.Virtual {
					word += "?"
				}
				words = append(words, word)
			}
			if table.WithoutRowid {
				words = append(words, "without rowid")
			}
			got := strings.Join(words, " ")
			if err != nil {
				got = fmt.Sprintf("error: %v", err)
			}
			if got != c.want {
				t.Errorf("%s\ngot:  %s\nwant: %s", c.sql, got, c.want)
			}
		})
	}
}
