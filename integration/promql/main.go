// Command promql reads a JSON array of PromQL expressions from the standard input and writes, for
// each, the names of its metrics, or its error. It is a module of its own, because Prometheus'
// parser needs modules that the server does not.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// answer is what the parser finds in one expression.
type answer struct {
	Metrics []string `json:"metrics,omitempty"`
	Error   string   `json:"error,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var expressions []string
	if err := json.NewDecoder(os.Stdin).Decode(&expressions); err != nil {
		return err
	}
	answers := []answer{}
	for _, e := range expressions {
		answers = append(answers, parse(e))
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func parse(text string) (a answer) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return answer{Error: err.Error()}
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		v, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		for _, m := range v.LabelMatchers {
			if m.Name == labels.MetricName && !slices.Contains(a.Metrics, m.Value) {
				a.Metrics = append(a.Metrics, m.Value)
			}
		}
		return nil
	})
	return a
}
