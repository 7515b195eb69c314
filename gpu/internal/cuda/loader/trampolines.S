//go:build cuda && cgo && linux && (amd64 || arm64)

// One jump through a slot for each entry point. They are hidden: a binary that exports its symbols (go-nvml asks the linker for that) must not
// offer these to libcuda.so.1 and the libraries it loads.

// Slots stand in the order of entrypoints.h, one after the other, filled by the linker or the dynamic loader before any code runs.
        .section .data.rel.local, "aw"
        .balign 8
        .globl vf_loader_slots
        .hidden vf_loader_slots
vf_loader_slots:

        .macro trampoline name, absent
        .text
        .balign 16
        .globl \name
        .hidden \name
        .type \name, %function
\name:
#if defined(__x86_64__)
        endbr64
        jmp *.Lslot_\name(%rip)
#elif defined(__aarch64__)
        hint #34 // bti c
        adrp x16, .Lslot_\name
        ldr x16, [x16, #:lo12:.Lslot_\name]
        br x16
#endif
        .size \name, . - \name
        .section .data.rel.local, "aw"
.Lslot_\name:
#if defined(__x86_64__)
        .quad \absent
#elif defined(__aarch64__)
        .xword \absent
#endif
        .endm

#define ENTRY(name) trampoline name, vf_loader_absent
#define ENTRY_INIT(name) trampoline name, vf_loader_absent_init
#include "entrypoints.h"

        .section .note.GNU-stack, "", %progbits
