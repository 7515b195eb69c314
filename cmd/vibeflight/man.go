package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

const manLong = `Write the manual pages of all commands to a folder: vibeflight.1, vibeflight-get.1 and so on. The
folder is created.

man -l DIR/vibeflight-get.1 shows one; a package has them in share/man/man1.`

// newMan is for packagers. It is hidden from the list of commands.
func newMan(std output.Stdio) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages", Long: manLong, Hidden: true, Args: usage.OneArgument("folder"),
		RunE: func(_ *cobra.Command, args []string) error { return writeManual(std, args[0]) },
	}
}

// writeManual writes a page for each command, with the date of the build.
func writeManual(std output.Stdio, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	// A separate tree: its texts become Markdown, which cobra converts to pages.
	root := newRoot(std, func(string) (string, bool) { return "", false })
	root.DisableAutoGenTag = true
	forMarkdown(root)
	b := thisBuild()
	header := &doc.GenManHeader{
		Title: "VIBEFLIGHT", Section: "1", Source: "vibeflight " + b.Version,
		Manual: "vibeflight",
	}
	if made, err := time.Parse(time.RFC3339, b.Time); err == nil { // otherwise today's date
		header.Date = &made
	}
	return doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{Header: header, Path: dir, CommandSeparator: "-"})
}

func forMarkdown(cmd *cobra.Command) {
	var text []string
	for _, p := range paragraphs(cmd.Long) {
		if p.table {
			p.text = "```\n" + p.text + "\n```"
		}
		text = append(text, p.text)
	}
	cmd.Long = strings.Join(text, "\n\n")
	for _, sub := range cmd.Commands() {
		forMarkdown(sub)
	}
}

// paragraph is a part of a command's help between empty lines.
type paragraph struct {
	text  string
	table bool // its lines are aligned and must not be joined
}

func paragraphs(long string) []paragraph {
	var all []paragraph
	for text := range strings.SplitSeq(long, "\n\n") {
		if text = strings.Trim(text, "\n"); text != "" {
			all = append(all, paragraph{text, strings.Contains(text, "  ")})
		}
	}
	return all
}
