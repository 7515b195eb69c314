#include "textflag.h"

// STEP adds four positions. One with a NaN becomes NaN in both, which a minimum and a maximum do not take.
#define STEP(offset, xmin, ymin, xmax, ymax) \
	VMOVUPD offset(SI), Y0; \
	VMOVUPD offset(DI), Y1; \
	VCMPPD  $3, Y1, Y0, Y2; \
	VORPD   Y2, Y0, Y0; \
	VORPD   Y2, Y1, Y1; \
	VMINPD  xmin, Y0, xmin; \
	VMAXPD  xmax, Y0, xmax; \
	VMINPD  ymin, Y1, ymin; \
	VMAXPD  ymax, Y1, ymax

// FOLD makes one of eight lanes.
#define FOLD(op, opScalar, a, aLow, b, to) \
	op           a, b, a; \
	VEXTRACTF128 $1, a, X0; \
	op           aLow, X0, aLow; \
	VPERMILPD    $1, aLow, X0; \
	opScalar     aLow, X0, aLow; \
	VMOVSD       aLow, to(R8)

// func add(b *Box, x, y *float64, n int)
TEXT ·add(SB), NOSPLIT, $0-32
	MOVQ         b+0(FP), R8
	MOVQ         x+8(FP), SI
	MOVQ         y+16(FP), DI
	MOVQ         n+24(FP), CX
	VBROADCASTSD (R8), Y4
	VBROADCASTSD 8(R8), Y5
	VBROADCASTSD 16(R8), Y6
	VBROADCASTSD 24(R8), Y7
	VMOVAPD      Y4, Y8
	VMOVAPD      Y5, Y9
	VMOVAPD      Y6, Y10
	VMOVAPD      Y7, Y11

next:
	STEP(0, Y4, Y5, Y6, Y7)
	STEP(32, Y8, Y9, Y10, Y11)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JGT  next
	FOLD(VMINPD, VMINSD, Y4, X4, Y8, 0)
	FOLD(VMINPD, VMINSD, Y5, X5, Y9, 8)
	FOLD(VMAXPD, VMAXSD, Y6, X6, Y10, 16)
	FOLD(VMAXPD, VMAXSD, Y7, X7, Y11, 24)
	VZEROUPPER
	RET
