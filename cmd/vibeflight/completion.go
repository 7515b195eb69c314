package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

const completionLong = `Print the script that completes vibeflight's commands, flags, names and columns in a shell.

bash         source <(vibeflight completion bash), in ~/.bashrc; it needs the package bash-completion
zsh          vibeflight completion zsh >"${fpath[1]}/_vibeflight", once; ~/.zshrc must call compinit
fish         vibeflight completion fish >~/.config/fish/completions/vibeflight.fish, once
powershell   vibeflight completion powershell | Out-String | Invoke-Expression, in the profile

Names come from the server of --server or VIBEFLIGHT_SERVER, otherwise they are files. A server or a
file that takes longer than two seconds gives no completions.`

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(std output.Stdio) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Print the completion script of a shell",
		Long:      completionLong,
		Example:   "  # complete in this shell, from now on\n  source <(vibeflight completion bash)",
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usage.Errorf("want one of bash, zsh, fish, powershell")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(std.Out, true)
			case "zsh":
				return root.GenZshCompletion(std.Out)
			case "fish":
				return root.GenFishCompletion(std.Out, true)
			}
			return root.GenPowerShellCompletionWithDesc(std.Out)
		},
	}
}
