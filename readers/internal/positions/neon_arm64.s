#include "textflag.h"

// Offsets in neonTables.
#define constants 0
#define entries 656 // of 0 digits before the point: those of -1 are 512 bytes before

// Instructions that Go's assembler does not know. The name of each has the lanes of its result.
#define CMHIB(m, n, d) WORD $(0x6E203400 | m<<16 | n<<5 | d)   // n > m
#define UMAXB(m, n, d) WORD $(0x6E206400 | m<<16 | n<<5 | d)
#define MULB(m, n, d) WORD $(0x4E209C00 | m<<16 | n<<5 | d)
#define UMULLH(m, n, d) WORD $(0x2E20C000 | m<<16 | n<<5 | d)
#define UMULL2H(m, n, d) WORD $(0x6E20C000 | m<<16 | n<<5 | d)
#define UMULLS(m, n, d) WORD $(0x2E60C000 | m<<16 | n<<5 | d)
#define UMULL2S(m, n, d) WORD $(0x6E60C000 | m<<16 | n<<5 | d)
#define UMULLD(m, n, d) WORD $(0x2EA0C000 | m<<16 | n<<5 | d)
#define UCVTFD(n, d) WORD $(0x6E61D800 | n<<5 | d)
#define FDIVD2(m, n, d) WORD $(0x6E60FC00 | m<<16 | n<<5 | d)   // n / m
#define FCMGTD(m, n, d) WORD $(0x6EE0E400 | m<<16 | n<<5 | d)   // n > m
#define UMAXPS(m, n, d) WORD $(0x6EA0A400 | m<<16 | n<<5 | d)

// BEGIN loads the constants and the arguments.
//
// R1  the position at hand   R2, R3  where its x and y go   R4  room left   R5  entries
#define BEGIN \
	MOVD   t+0(FP), R0; \
	MOVD   text+8(FP), R1; \
	MOVD   xs+16(FP), R2; \
	MOVD   ys+24(FP), R3; \
	MOVD   room+32(FP), R4; \
	ADD    $entries, R0, R5; \
	VLD1.P 64(R0), [V16.B16, V17.B16, V18.B16, V19.B16]; \
	VLD1.P 64(R0), [V20.B16, V21.B16, V22.B16, V23.B16]; \
	VLD1   (R0), [V24.B16]

// MASK sets bit 63-i of R9 where text[i] is no digit, for 48 bytes, as many as a plain position has with its blanks. Each byte keeps one bit of eight, and
// neighbours are added until all bits stand side by side.
#define MASK \
	VLD1  (R1), [V0.B16, V1.B16, V2.B16]; \
	VSUB  V16.B16, V0.B16, V0.B16; \
	VSUB  V16.B16, V1.B16, V1.B16; \
	VSUB  V16.B16, V2.B16, V2.B16; \
	CMHIB(17, 0, 0); \
	CMHIB(17, 1, 1); \
	CMHIB(17, 2, 2); \
	VAND  V18.B16, V0.B16, V0.B16; \
	VAND  V18.B16, V1.B16, V1.B16; \
	VAND  V18.B16, V2.B16, V2.B16; \
	VADDP V1.B16, V0.B16, V0.B16; \
	VADDP V2.B16, V2.B16, V2.B16; \
	VADDP V2.B16, V0.B16, V0.B16; \
	VADDP V0.B16, V0.B16, V0.B16; \
	VMOV  V0.D[0], R9; \
	RBIT  R9, R9

// NUMBER finds the number at text[start], and leaves the offset of its entry in digits, whether there is a sign, and the index after it in end. A number with
// no digits after the point has an entry that none passes.
#define NUMBER(start, sign, digits, end) \
	MOVBU (R1)(start), R20; \
	CMP   $'-', R20; \
	CSET  EQ, sign; \
	ADD   sign, start, start; \
	LSL   start, R9, digits; \
	CLZ   digits, digits; \
	SUB   $1, digits, R20; \
	CMP   $7, R20; \
	BHI   inside; \
	ADD   digits, start, R20; \
	ADD   $1, R20, R20; \
	LSL   R20, R9, R21; \
	CLZ   R21, R21; \
	ADD   R20, R21, end; \
	ADD   digits, R21, R21; \
	CMP   $15, R21; \
	BHI   inside; \
	ADD   digits<<4, R21, digits; \
	LSL   $5, digits, digits

// DIGITS gives dst the digits of a number, 16 bytes: that of the point first, as 0, then digits up to the last byte. The entry and the one after it become its
// spread, its power of ten and its lowest value.
#define DIGITS(start, digits, dst, spread, entry) \
	ADD  start, R1, R20; \
	VLD1 (R20), [dst]; \
	ADD  digits, R5, R20; \
	VLD1 (R20), [spread, entry]; \
	VSUB V16.B16, dst, dst; \
	VTBL spread, [dst], dst; \
	VEOR V19.B16, dst, dst

// CONVERT gives V0 x and y, whose digits are in V0 and V3, powers and lowest values in V2 and V5, signs in R7 and R13.
#define CONVERT \
	UMAXB(3, 0, 6); \
	CMHIB(20, 6, 6); \
	MULB(21, 0, 0); \
	MULB(21, 3, 3); \
	VADDP V3.B16, V0.B16, V0.B16; \
	UMULLH(22, 0, 1); \
	UMULL2H(22, 0, 3); \
	VADDP V3.H8, V1.H8, V0.H8; \
	UMULLS(23, 0, 1); \
	UMULL2S(23, 0, 3); \
	VADDP V3.S4, V1.S4, V0.S4; \
	VUZP2 V0.S4, V0.S4, V1.S4; \
	VUZP1 V0.S4, V0.S4, V0.S4; \
	UMULLD(24, 0, 0); \
	VUADDW V1.S2, V0.D2, V0.D2; \
	UCVTFD(0, 0); \
	VZIP1 V5.D2, V2.D2, V1.D2; \
	VZIP2 V5.D2, V2.D2, V3.D2; \
	FDIVD2(1, 0, 0); \
	LSL   $63, R7, R7; \
	LSL   $63, R13, R13; \
	VMOV  R7, V4.D[0]; \
	VMOV  R13, V4.D[1]; \
	FCMGTD(0, 3, 3); \
	VORR  V3.B16, V6.B16, V6.B16; \
	UMAXPS(6, 6, 6); \
	VMOV  V6.D[0], R20; \
	CBNZ  R20, inside; \
	VEOR  V4.B16, V0.B16, V0.B16

// STORE keeps the position.
#define STORE \
	VST1.P V0.D[0], 8(R2); \
	VST1.P V0.D[1], 8(R3); \
	SUB    $1, R4, R4

// END gives the results.
#define END \
inside: \
	MOVD $1, R20; \
	JMP  out; \
after: \
	MOVD ZR, R20; \
out: \
	MOVB R20, inside+56(FP); \
	MOVD text+8(FP), R20; \
	SUB  R20, R1, R1; \
	MOVD R1, read+40(FP); \
	MOVD room+32(FP), R20; \
	SUB  R4, R20, R20; \
	MOVD R20, count+48(FP); \
	RET

// func neonJSON(t *neonTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
TEXT ·neonJSON(SB), NOSPLIT, $0-57
	BEGIN
	CMP $0, R4
	BLE inside

position:
	MASK
	MOVBU (R1), R20
	CMP   $'[', R20
	BNE   inside
	MOVD  $1, R6
	MOVBU 1(R1), R20
	CMP   $' ', R20
	CINC  EQ, R6, R6
	NUMBER(R6, R7, R8, R10)
	MOVBU (R1)(R10), R20
	CMP   $',', R20
	BNE   inside
	ADD   $1, R10, R12
	MOVBU (R1)(R12), R20
	CMP   $' ', R20
	CINC  EQ, R12, R12
	NUMBER(R12, R13, R14, R15)
	MOVBU (R1)(R15), R20
	CMP   $' ', R20
	CINC  EQ, R15, R15
	MOVBU (R1)(R15), R20
	CMP   $']', R20
	BNE   inside
	DIGITS(R6, R8, V0.B16, V1.B16, V2.B16)
	DIGITS(R12, R14, V3.B16, V4.B16, V5.B16)
	CONVERT
	STORE
	ADD   R15, R1, R1
	ADD   $1, R1, R1
	CBZ   R4, after
	MOVBU (R1), R20
	CMP   $',', R20
	BNE   after
	MOVD  $1, R6
	MOVBU 1(R1), R20
	CMP   $' ', R20
	CINC  EQ, R6, R6
	MOVBU (R1)(R6), R20
	CMP   $'[', R20
	BNE   after
	ADD   R6, R1, R1
	JMP   position

	END

// func neonWKT(t *neonTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
TEXT ·neonWKT(SB), NOSPLIT, $0-57
	BEGIN
	CMP $0, R4
	BLE inside

position:
	MASK
	MOVD  ZR, R6
	NUMBER(R6, R7, R8, R10)
	MOVBU (R1)(R10), R20
	CMP   $' ', R20
	BNE   inside
	ADD   $1, R10, R12
	NUMBER(R12, R13, R14, R15)
	MOVBU (R1)(R15), R19
	CMP   $',', R19
	BEQ   plain
	CMP   $')', R19
	BNE   inside

plain:
	DIGITS(R6, R8, V0.B16, V1.B16, V2.B16)
	DIGITS(R12, R14, V3.B16, V4.B16, V5.B16)
	CONVERT
	STORE
	ADD   R15, R1, R1
	CBZ   R4, after
	CMP   $',', R19
	BNE   after
	MOVD  $1, R6
	MOVBU 1(R1), R20
	CMP   $' ', R20
	CINC  EQ, R6, R6
	ADD   R6, R1, R1
	JMP   position

	END
