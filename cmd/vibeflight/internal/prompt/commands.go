package prompt

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/catalog/nearest"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/result"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
)

// command is a line that begins with a backslash, as psql has them.
type command struct {
	name, argument, does string
	run                  func(s *Session, ctx context.Context, argument string) error
}

// commands are all commands, in the order of \?.
func commands() []command {
	return []command{
		{`\d`, "[TABLE]", "list the tables, or the columns of one", (*Session).describe},
		{`\l`, "", "list the folders, which are the schemas", (*Session).listSchemas},
		{`\x`, "", "show each row as lines, or as a line again", (*Session).expand},
		{`\timing`, "", "show how long a statement takes, or not", (*Session).time},
		{`\limit`, "[ROWS]", "show this many rows of a result", (*Session).limit},
		{
			`\o`, "FILE", "write the next result to a file, in the format of its name: .parquet, .geojson, .csv …",
			(*Session).writeNext,
		},
		{`\?`, "", "list these commands", (*Session).help},
		{`\q`, "", "end; so does Ctrl-D", (*Session).end},
	}
}

// plainCommands are the words that mean a command without a backslash.
var plainCommands = map[string]string{"exit": `\q`, "quit": `\q`, "help": `\?`}

// command runs the command of a line.
func (s *Session) command(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimRight(strings.TrimSpace(argument), "; ")
	var names []string
	for _, c := range commands() {
		if c.name != name {
			names = append(names, c.name)
			continue
		}
		if c.argument == "" && argument != "" {
			return fmt.Errorf("%s takes no argument, got %q", name, argument)
		}
		return c.run(s, ctx, argument)
	}
	return fmt.Errorf(`no command %s; did you mean %s? \? lists them`, name, nearest.Name(name, names))
}

func (s *Session) end(context.Context, string) error {
	s.ended = true
	return nil
}

func (s *Session) help(context.Context, string) error {
	g := &output.Grid{Header: []string{"COMMAND", "DOES"}, Right: make([]bool, 2)}
	for _, c := range commands() {
		g.Rows = append(g.Rows, []string{strings.TrimSpace(c.name + " " + c.argument), c.does})
	}
	g.Rows = append(g.Rows, []string{"SELECT …;", "a statement, over any number of lines, ends with a semicolon"})
	_, err := g.Write(s.Std.Out, 0)
	return err
}

func (s *Session) expand(context.Context, string) error {
	s.View.Expanded = !s.View.Expanded
	s.say("expanded rows: %s", onOff(s.View.Expanded))
	return nil
}

func (s *Session) time(context.Context, string) error {
	s.timing = !s.timing
	s.say("timing: %s", onOff(s.timing))
	return nil
}

func onOff(is bool) string {
	if is {
		return "on"
	}
	return "off"
}

func (s *Session) limit(_ context.Context, argument string) error {
	if argument != "" {
		n, err := strconv.ParseInt(argument, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf(`\limit: %q is no number of rows`, argument)
		}
		s.View.Limit = n
	}
	s.say("limit: the first %d rows", s.View.Limit)
	return nil
}

func (s *Session) writeNext(_ context.Context, argument string) error {
	if argument == "" {
		s.out = ""
		s.say("results are shown here")
		return nil
	}
	if argument == "-" {
		return fmt.Errorf(`\o: say which file`)
	}
	if _, err := result.FormatFor(argument); err != nil {
		return fmt.Errorf(`\o %s: %w`, argument, err)
	}
	s.out = argument
	s.say("the next result goes to %s", argument)
	return nil
}

// describe lists the tables, or the columns of one.
func (s *Session) describe(ctx context.Context, argument string) error {
	query := tablesQuery
	if argument != "" {
		query = `SELECT column_name AS "column", column_type AS "type" FROM (DESCRIBE ` + argument + ")"
	}
	return s.list(ctx, query)
}

func (s *Session) listSchemas(ctx context.Context, _ string) error {
	s.say("tables of %s", s.Source)
	return s.list(ctx, `SELECT schema_name AS "schema", count(*) AS "tables" FROM duckdb_tables()
WHERE database_name = 'vibeflight' GROUP BY 1 ORDER BY 1`)
}

// list shows all rows of a query of our own.
func (s *Session) list(ctx context.Context, query string) error {
	view := result.View{Limit: maxListed, Pager: s.View.Pager}
	ask := func(*output.Progress) (target.RowStream, error) { return s.From.Query(ctx, query) }
	return result.ShowQuery(ctx, s.Std, ask, view)
}

// maxListed is how many tables and columns are listed.
const maxListed = 100_000

// commandNames returns the names of all commands.
func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return names
}
