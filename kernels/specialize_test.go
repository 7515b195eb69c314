package kernels

import (
	"fmt"
	"sync"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
)

// onePattern are the defines of a pattern of one byte.
func onePattern(b byte) []string {
	return []string{
		"LENGTH=1u", fmt.Sprintf("PROBES=%#xu", b), "PLACES=0u", "CHECK=0u", fmt.Sprintf("PATTERN=%#xull", b),
	}
}

func TestGenerated(t *testing.T) {
	k, err := Load(gputest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var kernels [8]*gpu.Kernel
	for i := range kernels {
		all.Go(func() {
			f, constant, err := k.Specialize("pattern_match", onePattern('x')...)
			if kernels[i] = f; err != nil || !constant {
				t.Errorf("constant %t, %v", constant, err)
			}
		})
	}
	all.Wait()
	for _, f := range kernels {
		if f != kernels[0] {
			t.Error("the same kernel was made twice")
		}
	}
	generic, err := k.kernel("pattern_match")
	if err != nil {
		t.Fatal(err)
	}

	for range 2 {
		if _, _, err := k.Specialize("pattern_match", "LENGTH=none"); err == nil {
			t.Error("defines that don't compile: no error")
		}
	}
	if n := len(k.variants.byKey); n != 1 {
		t.Errorf("%d variants are kept, want 1", n)
	}

	missing := onePattern('y')
	k.variants.byKey[variantKey("pattern_match", missing)] = &variant{build: func() (*gpu.Kernel, error) {
		return nil, fmt.Errorf("test: %w", gpu.ErrNoCompiler)
	}}
	if f, constant, err := k.Specialize("pattern_match", missing...); f != generic || constant || err != nil {
		t.Errorf("without a compiler: constant %t, %v", constant, err)
	}

	for i := range maxVariants {
		k.variants.byKey[fmt.Sprint(i)] = nil
	}
	if f, constant, err := k.Specialize("pattern_match", onePattern('z')...); f != generic || constant || err != nil {
		t.Errorf("with too many others: constant %t, %v", constant, err)
	}
	if _, constant, err := k.Specialize("pattern_match", onePattern('x')...); !constant || err != nil {
		t.Errorf("with too many others, made before: constant %t, %v", constant, err)
	}
}
