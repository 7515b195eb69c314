// Command generate writes the projections of package project for each target from one description, so
// that all of them give the same bits: Go, CUDA, and assembly for AVX-512 and for AVX2 with FMA.
//
// A program is a sequence of IEEE operations without branches on one position. The assembly does it
// for 8 or 4 positions at a time.
package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate ROOT")
		os.Exit(2)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// programs describes all projections.
func programs() ([]*program, *constants) {
	c := &constants{index: map[uint64]int{}}
	var all []*program
	for _, d := range []struct {
		name, comment string
		describe      func(*program)
	}{
		{"mercatorForward", "projects longitude and latitude to Web Mercator", mercatorForward},
		{"mercatorInverse", "gives longitude and latitude of Web Mercator", mercatorInverse},
		{"transverseForward", "projects longitude and latitude to a transverse Mercator", transverseForward},
		{"transverseInverse", "gives longitude and latitude of a transverse Mercator", transverseInverse},
	} {
		p := &program{name: d.name, comment: d.comment, constants: c}
		d.describe(p)
		p.prune()
		all = append(all, p)
	}
	return all, c
}

// prune removes instructions whose results are not used.
func (p *program) prune() {
	used := make([]bool, len(p.code))
	used[p.x.index], used[p.y.index] = true, true
	for i := len(p.code) - 1; i >= 0; i-- {
		for _, v := range p.code[i].operands() {
			if used[i] && v.kind == isResult {
				used[v.index] = true
			}
		}
	}
	places := make([]int, len(p.code))
	var code []instruction
	for i, in := range p.code {
		if !used[i] {
			continue
		}
		for k := range in.n {
			if in.in[k].kind == isResult {
				in.in[k].index = places[in.in[k].index]
			}
		}
		places[i] = len(code)
		code = append(code, in)
	}
	p.code, p.x.index, p.y.index = code, places[p.x.index], places[p.y.index]
}

func (i *instruction) operands() []value { return i.in[:i.n] }

// generate writes the files below the root of the repository.
func generate(root string) error {
	texts, err := files()
	if err != nil {
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files returns the texts of the files, by their names from the root of the repository.
func files() (map[string][]byte, error) {
	all, constants := programs()
	plain, err := format.Source([]byte(goText(all, constants)))
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"readers/crs/project/steps.go":      plain,
		"readers/crs/project/steps_amd64.s": []byte(assembly(all)),
		"kernels/project/steps.cuh":         []byte(cudaText(all, constants)),
	}, nil
}
