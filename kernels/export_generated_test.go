package kernels

// Generic makes k use the generic forms of kernels only, as where nothing can be compiled.
func Generic(k *Set) { k.variants.none = true }
