#include "textflag.h"

// CMLTB sets all bits of a byte of d that is negative in n, which Go's assembler does not know.
#define CMLTB(n, d) WORD $(0x4E20A800 | n<<5 | d)

// BITS sets bit i of dst where byte i of V4 to V7 is not 0. Each byte keeps one bit of eight, and neighbours are added until all bits stand side by side.
#define BITS(dst) \
	VAND  V16.B16, V4.B16, V4.B16; \
	VAND  V16.B16, V5.B16, V5.B16; \
	VAND  V16.B16, V6.B16, V6.B16; \
	VAND  V16.B16, V7.B16, V7.B16; \
	VADDP V5.B16, V4.B16, V4.B16; \
	VADDP V7.B16, V6.B16, V6.B16; \
	VADDP V6.B16, V4.B16, V4.B16; \
	VADDP V4.B16, V4.B16, V4.B16; \
	VMOV  V4.D[0], dst

// EQUAL makes V4 to V7 the bytes of the block that are one of v.
#define EQUAL(v) \
	VCMEQ v, V0.B16, V4.B16; \
	VCMEQ v, V1.B16, V5.B16; \
	VCMEQ v, V2.B16, V6.B16; \
	VCMEQ v, V3.B16, V7.B16

// func findNEON(out *[Most / block]masks, text unsafe.Pointer, blocks int, delimiter, quote byte)
TEXT ·findNEON(SB), NOSPLIT, $0-26
	MOVD  out+0(FP), R0
	MOVD  text+8(FP), R1
	MOVD  blocks+16(FP), R2
	MOVBU delimiter+24(FP), R3
	MOVBU quote+25(FP), R4
	MOVD  $0x8040201008040201, R5
	VDUP  R5, V16.D2
	VDUP  R3, V17.B16
	VDUP  R4, V18.B16
	MOVD  $0x0A, R5
	VDUP  R5, V19.B16
	MOVD  $0x0D, R5
	VDUP  R5, V20.B16
	CMP   $0, R2
	BLE   done

next:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	EQUAL(V17.B16)
	BITS(R6)
	EQUAL(V20.B16)
	VCMEQ  V19.B16, V0.B16, V21.B16
	VCMEQ  V19.B16, V1.B16, V22.B16
	VCMEQ  V19.B16, V2.B16, V23.B16
	VCMEQ  V19.B16, V3.B16, V24.B16
	VORR   V21.B16, V4.B16, V4.B16
	VORR   V22.B16, V5.B16, V5.B16
	VORR   V23.B16, V6.B16, V6.B16
	VORR   V24.B16, V7.B16, V7.B16
	BITS(R7)
	EQUAL(V18.B16)
	BITS(R8)
	CMLTB(0, 4)
	CMLTB(1, 5)
	CMLTB(2, 6)
	CMLTB(3, 7)
	BITS(R9)
	STP.P  (R6, R7), 16(R0)
	STP.P  (R8, R9), 16(R0)
	SUBS   $1, R2
	BNE    next

done:
	RET
