// CUDA C++ for this machine's processor: the part of the language that the kernels of this project use. A kernel file is compiled as C++17
// with this header in front of it, and CUDAEMU is defined.
//
// A block runs on one OS thread. Its CUDA threads run one after the other; one that waits for others becomes a fiber, and another one runs.
// So a thread that never waits costs a call, and no thread sees another one of its block move between two waits. What is refused:
// cooperative groups, textures, streams in kernels, inline PTX.
#ifndef CUDAEMU_H
#define CUDAEMU_H
#define CUDAEMU 1

// Before the words of CUDA are defined: system headers have other uses for some of them.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "qualifiers.h"
#include "vectors.h"
#include "integers.h"
#include "doubles.h"
#include "memory.h"
#include "atomics.h"
#include "block.h"
#include "warp.h"
#include "undefined.h"
#include "entry.h"

#endif
