#include "textflag.h"

// Instructions that Go's assembler does not know, for two float64 in each register.
#define FCMEQ(m, n, d) WORD $(0x4E60E400 | m<<16 | n<<5 | d)
#define FMINNM(m, n, d) WORD $(0x4EE0C400 | m<<16 | n<<5 | d)
#define FMAXNM(m, n, d) WORD $(0x4E60C400 | m<<16 | n<<5 | d)
#define ORN(m, n, d) WORD $(0x4EE01C00 | m<<16 | n<<5 | d) // n or not m

// STEP adds the two positions of registers x and y. One with a NaN becomes NaN in both, which a minimum and a maximum of numbers do not take.
#define STEP(x, y, xmin, ymin, xmax, ymax) \
	FCMEQ(x, x, 20); \
	FCMEQ(y, y, 21); \
	VAND V20.B16, V21.B16, V20.B16; \
	ORN(20, x, x); \
	ORN(20, y, y); \
	FMINNM(x, xmin, xmin); \
	FMAXNM(x, xmax, xmax); \
	FMINNM(y, ymin, ymin); \
	FMAXNM(y, ymax, ymax)

// func add(b *Box, x, y *float64, n int)
TEXT ·add(SB), NOSPLIT, $0-32
	MOVD  b+0(FP), R0
	MOVD  x+8(FP), R1
	MOVD  y+16(FP), R2
	MOVD  n+24(FP), R3
	VLD1R (R0), [V4.D2]
	ADD   $8, R0, R4
	VLD1R (R4), [V5.D2]
	ADD   $16, R0, R4
	VLD1R (R4), [V6.D2]
	ADD   $24, R0, R4
	VLD1R (R4), [V7.D2]
	VMOV  V4.B16, V8.B16
	VMOV  V5.B16, V9.B16
	VMOV  V6.B16, V10.B16
	VMOV  V7.B16, V11.B16

next:
	VLD1.P 32(R1), [V0.D2, V1.D2]
	VLD1.P 32(R2), [V2.D2, V3.D2]
	STEP(0, 2, 4, 5, 6, 7)
	STEP(1, 3, 8, 9, 10, 11)
	SUBS   $4, R3
	BGT    next
	FMINNM(8, 4, 4)
	FMINNM(9, 5, 5)
	FMAXNM(10, 6, 6)
	FMAXNM(11, 7, 7)
	VDUP   V4.D[1], V8.D2
	VDUP   V5.D[1], V9.D2
	VDUP   V6.D[1], V10.D2
	VDUP   V7.D[1], V11.D2
	FMINNMD F8, F4, F4
	FMINNMD F9, F5, F5
	FMAXNMD F10, F6, F6
	FMAXNMD F11, F7, F7
	FMOVD  F4, (R0)
	FMOVD  F5, 8(R0)
	FMOVD  F6, 16(R0)
	FMOVD  F7, 24(R0)
	RET
