package localfile

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
)

// OptionFlag adds --option, which [ParseOptions] reads.
func OptionFlag(f *pflag.FlagSet, options *[]string) {
	f.StringArrayVar(options, "option", nil, "an option of the format, as `KEY=VALUE`; may repeat")
}

// ParseOptions reads KEY=VALUE pairs.
func ParseOptions(pairs []string) (map[string]any, error) {
	options := map[string]any{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usage.Errorf("--option: %q is not KEY=VALUE", pair)
		}
		if _, twice := options[key]; twice {
			return nil, usage.Errorf("--option: %s is given twice", key)
		}
		options[key] = value
	}
	return options, nil
}
