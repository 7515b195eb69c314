// Undefined behaviour becomes an error of the launch, with its place in the kernel. The compiler calls one of these functions where it
// finds it (-fsanitize=undefined); every one takes a record that begins with the place (compiler-rt, lib/ubsan/ubsan_handlers.h).
#ifndef CUDAEMU_UNDEFINED_H
#define CUDAEMU_UNDEFINED_H
#ifdef CUDAEMU_SANITIZE

#include "qualifiers.h"

struct cudaemu_place {
  const char *file;
  uint32_t line, column;
};

#define CUDAEMU_UNDEFINED(kind, what)                                                                                              \
  extern "C" __attribute__((no_sanitize("undefined"), noinline)) void __ubsan_handle_##kind##_abort(const cudaemu_place *at) { \
    cudaemu_fail("undefined behaviour: " what, at->file, (int)at->line);                                                        \
  }
CUDAEMU_UNDEFINED(add_overflow, "a signed sum overflows")
CUDAEMU_UNDEFINED(sub_overflow, "a signed difference overflows")
CUDAEMU_UNDEFINED(mul_overflow, "a signed product overflows")
CUDAEMU_UNDEFINED(negate_overflow, "a negation overflows")
CUDAEMU_UNDEFINED(divrem_overflow, "a division by zero, or one that overflows")
CUDAEMU_UNDEFINED(shift_out_of_bounds, "a shift by the width or more, or of a negative number")
CUDAEMU_UNDEFINED(out_of_bounds, "an index outside of its array")
CUDAEMU_UNDEFINED(type_mismatch_v1, "a null or misaligned address, or one without room for the type")
CUDAEMU_UNDEFINED(pointer_overflow, "an address overflows")
CUDAEMU_UNDEFINED(load_invalid_value, "a value that its type does not have")
CUDAEMU_UNDEFINED(float_cast_overflow, "a number too large for the integer it becomes")
CUDAEMU_UNDEFINED(vla_bound_not_positive, "an array without elements")
CUDAEMU_UNDEFINED(nonnull_arg, "a null argument")
CUDAEMU_UNDEFINED(alignment_assumption, "an assumed alignment is wrong")
CUDAEMU_UNDEFINED(invalid_builtin, "a bit scan of zero")
#undef CUDAEMU_UNDEFINED

// The compiler gives these two another name, since nothing runs on after them.
extern "C" __attribute__((no_sanitize("undefined"), noinline)) void __ubsan_handle_builtin_unreachable(const cudaemu_place *at) {
  cudaemu_fail("undefined behaviour: a place that can't be reached", at->file, (int)at->line);
}
extern "C" __attribute__((no_sanitize("undefined"), noinline)) void __ubsan_handle_missing_return(const cudaemu_place *at) {
  cudaemu_fail("undefined behaviour: the end of a function that returns a value", at->file, (int)at->line);
}

#endif
#endif
