// What GCC's libstdc++.a expects of a newer C library than the one that packages are linked for.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32: not 0 means that the process has one thread, so that counters need no atomic instructions.
HIDDEN char __libc_single_threaded = 0;

// glibc 2.36.
HIDDEN uint32_t arc4random(void)
{
	uint32_t bits;
	if (getentropy(&bits, sizeof bits) != 0) {
		abort();
	}
	return bits;
}
