package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
)

//go:generate go test -run ^TestCommandPage$ -update .

var update = flag.Bool("update", false, "write docs/reference/cli.md again")

// commandPage is made of the commands themselves.
const commandPage = "../../docs/reference/cli.md"

const pageHead = `<!-- Generated from the commands by make cli-docs: change them, not this page. -->

# The command line

One program is both the server and the tool for files. ` + "`vibeflight COMMAND --help`" + ` prints what this page says.

| command | |
| --- | --- |
`

const pageGround = `
**Files or a server.** ` + "`ls`, `info`, `get` and `sql`" + ` read files on this machine without a server, or query the
server that ` + "`--server`" + ` names. The tables are the same.

**Settings.** A flag that describes the machine or the server also has an environment variable, which the tables below
name. The command line takes precedence. A flag for a single call, such as rows or an output, has no variable.
` + "`serve`" + ` also reads [a file](configuration.md).

**Sizes** are in bytes or have a unit: ` + "`512MiB`, `2GB`" + `. **Durations** need a unit: ` + "`10s`, `2m`" + `.

**Errors** are one line on stderr that says what failed, where, and what to do. The exit status is 0 for success, 1 for
a failure, 2 for wrong usage, and 141 when nothing reads stdout any more, as after ` + "`| head`" + `. Progress is shown
on stderr if that is a terminal.

**Outputs.** An output file appears under its name when it is complete and on disk, and replaces an earlier file of that
name. A command that is interrupted or runs out of space leaves nothing.

**Completion.** ` + "`source <(vibeflight completion bash)`" + ` completes commands, flags, a server's names and a
file's columns. There are scripts for zsh, fish and PowerShell [too](#completion).

**Manual pages.** ` + "`vibeflight man DIR`" + ` writes them for packages.
`

func page() string {
	root := newRoot(output.Stdio{}, func(string) (string, bool) { return "", false })
	var b strings.Builder
	b.WriteString(pageHead)
	commands := shown(root)
	for _, cmd := range commands {
		name := strings.TrimPrefix(cmd.CommandPath(), "vibeflight ")
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", name, strings.ReplaceAll(name, " ", "-"), cmd.Short)
	}
	b.WriteString(pageGround)
	for _, cmd := range commands {
		section(&b, cmd)
	}
	return b.String()
}

// shown are the commands that do something and that help lists, in the order of a page.
func shown(root *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, cmd := range root.Commands() {
		switch {
		case cmd.Hidden || cmd.Name() == "help":
		case cmd.HasSubCommands():
			all = append(all, shown(cmd)...)
		default:
			all = append(all, cmd)
		}
	}
	return all
}

func section(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n", strings.TrimPrefix(cmd.CommandPath(), "vibeflight "))
	fmt.Fprintf(b, "    %s\n\n", cmd.UseLine())
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	for _, p := range paragraphs(long) {
		if p.table {
			fmt.Fprintf(b, "```text\n%s\n```\n\n", p.text)
		} else {
			fmt.Fprintf(b, "%s\n\n", wrapped(p.text))
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "```sh\n%s\n```\n", strings.ReplaceAll("\n"+cmd.Example, "\n  ", "\n")[1:])
	}
	flagTable(b, cmd.LocalFlags())
}

// wrapped breaks lines of more than 140 columns between words.
func wrapped(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		width := len([]rune(word))
		switch {
		case b.Len() == 0:
		case column+1+width > 140:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String()
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	var rows []string
	variables := false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		environment := ""
		if settings.IsSetting(f) {
			environment, variables = "`"+settings.Variable(f.Name)+"`", true
		}
		rows = append(rows, strings.Join([]string{
			"`" + strings.TrimSpace(name+" "+valueName(value)) + "`",
			defaultOf(f), environment, strings.ReplaceAll(usage, "|", "\\|"),
		}, " | "))
	})
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n")
	head := "| flag | default | environment | |\n| --- | --- | --- | --- |\n"
	if !variables {
		head = "| flag | default | |\n| --- | --- | --- |\n"
	}
	b.WriteString(head)
	for _, row := range rows {
		if !variables {
			row = strings.Replace(row, " |  | ", " | ", 1)
		}
		writeRow(b, row)
	}
}

// writeRow writes a row of a table. A row of more than 160 columns goes on in a row whose first
// cells are empty.
func writeRow(b *strings.Builder, row string) {
	const columns = 160
	line := "| " + row + " |"
	if text := []rune(line); len(text) > columns {
		head := string(text[:columns-len(" |")])
		cut := 1 + max(strings.LastIndex(head, ", "), strings.LastIndex(head, "; "), strings.LastIndex(head, ": "))
		if cut <= strings.LastIndex(head, " | ")+len(" | ") {
			cut = strings.LastIndex(head, " ")
		}
		fmt.Fprintf(b, "%s |\n", line[:cut])
		rest := strings.TrimSuffix(strings.TrimSpace(line[cut:]), " |")
		writeRow(b, strings.Repeat(" | ", strings.Count(line[:cut], " | "))+rest)
		return
	}
	b.WriteString(line + "\n")
}

// valueName names the value of a flag that does not name it itself.
func valueName(kind string) string {
	switch kind {
	case "string", "stringArray", "strings":
		return "TEXT"
	case "int", "uint", "int64", "uint64":
		return "N"
	}
	return strings.ToUpper(kind)
}

func defaultOf(f *pflag.Flag) string {
	if slices.Contains([]string{"", "false", "[]", "0"}, f.DefValue) {
		return ""
	}
	return "`" + strings.Trim(f.DefValue, "[]") + "`"
}

// TestCommandPage compares the page with the commands. With -update it writes the page.
func TestCommandPage(t *testing.T) {
	want := []byte(page())
	if *update {
		if err := os.WriteFile(commandPage, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(commandPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		old, now := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(old), len(now)) {
			if old[i] != now[i] {
				t.Fatalf("%s is stale, make cli-docs writes it again: line %d is\n%s\nand the commands say\n%s",
					commandPage, i+1, old[i], now[i])
			}
		}
		t.Fatalf("%s is stale, make cli-docs writes it again: it has %d lines, and the commands say %d",
			commandPage, len(old), len(now))
	}
}

// editsLogin matches a command that edits the files of a login. It prints nothing.
var editsLogin = regexp.MustCompile(`vibeflight (user (add|rm|passwd)|token rm) `)

// TestExamples runs the examples of every command, with a server, in a folder that has their files.
func TestExamples(t *testing.T) {
	var script strings.Builder
	script.WriteString(`env VIBEFLIGHT_CACHE_DIR=$WORK/cache
mkdir data west
exec vibeflight gen mixed --features 300 -o data/roads.geojson
exec vibeflight gen buildings --features 300 -o buildings.geojson
exec vibeflight gen points-csv --features 20 -o commas.csv
exec sh -c 'tr , ";" <commas.csv >data/stops.csv'
cp west.sql report.sql
cp west.toml vibeflight.toml
mkdir cache etc
cp revoked.json etc/tokens
exec vibeflight serve --data data --listen unix://$WORK/s.sock &server&
answers unix://$WORK/s.sock
env VIBEFLIGHT_LISTEN=unix://$WORK/example.sock
`)
	here := strings.NewReplacer("grpc://127.0.0.1:8815", "unix://$WORK/s.sock", "/srv/west", "$WORK/west",
		"/run/vibeflight.sock", "$WORK/example.sock", "/var/cache/vibeflight", "$WORK/cache",
		"/etc/vibeflight", "$WORK/etc")
	ran, last := 0, ""
	for _, cmd := range shown(newRoot(output.Stdio{}, os.LookupEnv)) {
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSpace(here.Replace(line))
			quoted := strings.ReplaceAll(line, "'", "''")
			switch {
			case strings.HasPrefix(line, "#"):
				continue
			case strings.Contains(line, "vibeflight serve"):
				fmt.Fprintf(&script, "exec sh -c 'exec env %s' &example&\nanswers unix://$WORK/example.sock\nkill "+
					"-INT example\nwait example\n", quoted)
			case strings.Contains(line, "vibeflight quickstart"): // integration/test_quickstart.py runs it
				continue
			case strings.Contains(line, "vibeflight health"):
				fmt.Fprintf(&script, "exec env VIBEFLIGHT_LISTEN=unix://$WORK/s.sock sh -c '%s'\n", quoted)
			case strings.HasSuffix(line, "vibeflight sql data"): // integration/test_sql_prompt.py has a terminal
				fmt.Fprintf(&script, "exec sh -c 'echo \"SELECT 1;\" | %s'\nstdout .\n", quoted)
			case strings.Contains(line, "admin drain"): // the last one: it ends the server
				last = fmt.Sprintf("exec sh -c '%s'\nwait server\n", quoted)
			case strings.HasSuffix(line, " 17"): // no call has this ID
				fmt.Fprintf(&script, "! exec sh -c '%s'\nstderr 'no call in progress has the ID 17'\n", quoted)
			case strings.Contains(line, "<("):
				fmt.Fprintf(&script, "[exec:bash] exec bash -c '%s && complete -p vibeflight'\n", quoted)
			case editsLogin.MatchString(line):
				fmt.Fprintf(&script, "exec sh -c 'echo secret | %s'\n", quoted)
			default:
				fmt.Fprintf(&script, "exec sh -c '%s'\n", quoted)
				if !strings.Contains(line, " -o ") {
					script.WriteString("stdout .\n")
				}
			}
			ran++
		}
	}
	script.WriteString(last + "-- west.sql --\nSELECT count(*) AS n FROM roads\n-- " +
		"west.toml --\ndata = \"data\"\n-- revoked.json --\n" +
		`{"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","user":"ci"}` + "\n")
	if ran < 15 {
		t.Fatalf("only %d examples", ran)
	}
	path := filepath.Join(t.TempDir(), "examples.txtar")
	if err := os.WriteFile(path, []byte(script.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	p := scripts
	p.Files = []string{path}
	testscript.Run(t, p)
}
