package kernels

import (
	"errors"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/gpu"
)

// maxVariants bounds the programs that texts from outside (patterns, sets of brackets) may have
// compiled; whatever comes later runs the generic form.
const maxVariants = 256

// variants are kernels compiled anew with some of their arguments as constants.
type variants struct {
	mu    sync.Mutex
	none  bool // use the generic forms only
	byKey map[string]*variant
}

// variant is one of them. Everybody who asks calls build; the first does it, the others wait.
type variant struct {
	build func() (*gpu.Kernel, error)
}

// UseGeneric makes k launch the generic forms of kernels only, as where nothing can be compiled.
func (k *Set) UseGeneric() { k.variants.none = true }

// Specialize returns a kernel of the .cu files compiled with defines ("NAME=VALUE") that stand for
// some of its arguments: the same kernel with the same arguments, of which it reads fewer. Where
// nothing can be compiled, and for those that come after maxVariants others, it gives the kernel as
// it is in the .cu file, which reads all of them, and constant is false.
func (k *Set) Specialize(name string, defines ...string) (f *gpu.Kernel, constant bool, err error) {
	v := k.variant(name, defines)
	if v == nil {
		f, err = k.kernel(name)
		return f, false, err
	}
	f, err = v.build()
	switch {
	case err == nil:
		return f, true, nil
	case errors.Is(err, gpu.ErrNoCompiler):
		f, err = k.kernel(name)
		return f, false, err
	}
	k.variants.mu.Lock()
	defer k.variants.mu.Unlock()
	if key := variantKey(name, defines); k.variants.byKey[key] == v { // a device without memory may have some later
		delete(k.variants.byKey, key)
	}
	return nil, false, err
}

func variantKey(name string, defines []string) string {
	return name + " " + strings.Join(defines, " ")
}

// variant finds or adds a variant; nil if there are too many.
func (k *Set) variant(name string, defines []string) *variant {
	key := variantKey(name, defines)
	k.variants.mu.Lock()
	defer k.variants.mu.Unlock()
	v := k.variants.byKey[key]
	if v != nil || k.variants.none || len(k.variants.byKey) >= maxVariants {
		return v
	}
	v = &variant{build: sync.OnceValues(func() (*gpu.Kernel, error) {
		p := k.programs[name]
		if p == nil {
			panic("kernels: no kernel " + name)
		}
		src := p.source
		src.Defines = defines
		built, err := k.d.Program(src)
		if err != nil {
			return nil, err
		}
		return built.Kernel(name)
	})}
	if k.variants.byKey == nil {
		k.variants.byKey = map[string]*variant{}
	}
	k.variants.byKey[key] = v
	return v
}

// addLaunches adds the launches of all variants to those of their kernels.
func (v *variants) addLaunches(to map[string]int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range v.byKey {
		if f, err := one.build(); err == nil {
			to[f.Name()] += f.Launches()
		}
	}
}
