#include "textflag.h"

// Offsets in tables.
#define zeros 0
#define nines 32
#define pairs 64
#define fours 80
#define eights 96
#define powers 112
#define spread 240

// CONVERT gives dst the number whose digits begin at text[DX]: R14 + 1 of them before the point, R12 after it, R10 in all. R9 is its sign, X4 and X6 and
// R10, R14, BX are used up.
#define CONVERT(dst) \
	SHLQ $4, R14; \
	ADDQ R10, R14; \
	SHLQ $4, R14; \
	VMOVDQU (SI)(DX*1), X4; \
	VPSUBB X15, X4, X4; \
	VPSHUFB spread(R15)(R14*1), X4, X4; \
	VPMADDUBSW X13, X4, X4; \
	VPMADDWD X12, X4, X4; \
	VPACKUSDW X4, X4, X4; \
	VPMADDWD X11, X4, X4; \
	VMOVQ X4, BX; \
	MOVL BX, R10; \
	SHRQ $32, BX; \
	IMUL3Q $100000000, R10, R10; \
	ADDQ BX, R10; \
	VXORPD dst, dst, dst; \
	VCVTSI2SDQ R10, dst, dst; \
	VDIVSD powers(R15)(R12*8), dst, dst; \
	VMOVQ R9, X6; \
	VORPD X6, dst, dst

// BEGIN loads the constants and the arguments.
//
// SI  the position at hand   DI, R8  where its x and y go   CX  room left   R15  t
//
// The next number begins where this one ends, so each would wait for the one before. R13 and ylen are where the last x and y ended: where these end
// there too, the branch predictor has gone on already, and nothing waits.
#define BEGIN \
	MOVQ t+0(FP), R15; \
	MOVQ text+8(FP), SI; \
	MOVQ xs+16(FP), DI; \
	MOVQ ys+24(FP), R8; \
	MOVQ room+32(FP), CX; \
	VMOVDQU zeros(R15), Y15; \
	VMOVDQU nines(R15), Y14; \
	VMOVDQU pairs(R15), X13; \
	VMOVDQU fours(R15), X12; \
	VMOVDQU eights(R15), X11; \
	XORL R13, R13; \
	MOVQ R13, ylen-8(SP); \
	TESTQ CX, CX; \
	JLE  inside

// MASK sets bit i of AX where text[i] is no digit.
//
//	[-84.1234567,27.1234567],
//	11  1       1  1       11
#define MASK \
	VMOVDQU   (SI), Y0; \
	VMOVDQU   32(SI), Y1; \
	VPSUBB    Y15, Y0, Y0; \
	VPSUBB    Y15, Y1, Y1; \
	VPMINUB   Y14, Y0, Y2; \
	VPMINUB   Y14, Y1, Y3; \
	VPCMPEQB  Y0, Y2, Y2; \
	VPCMPEQB  Y1, Y3, Y3; \
	VPMOVMSKB Y2, AX; \
	VPMOVMSKB Y3, BX; \
	SHLQ      $32, BX; \
	ORQ       BX, AX; \
	NOTQ      AX

// NUMBER finds the number at text[DX], and leaves what CONVERT wants, with DX after its sign and R11 after it. The sign is a branch: it seldom
// changes, and nothing waits for it. A leading zero is not plain.
#define NUMBER(digits, point) \
	XORL    R9, R9; \
	CMPB    (SI)(DX*1), $'-'; \
	JNE     digits; \
	INCQ    DX; \
	MOVL    $1, R9; \
	SHLQ    $63, R9; \
digits: \
	SHRXQ   DX, AX, R10; \
	TZCNTQ  R10, R10; \
	LEAQ    -1(R10), R14; \
	CMPQ    R14, $7; \
	JHI     inside; \
	CMPB    (SI)(DX*1), $'0'; \
	JNE     point; \
	TESTQ   R14, R14; \
	JNE     inside; \
point: \
	LEAQ    (DX)(R10*1), R11; \
	CMPB    (SI)(R11*1), $'.'; \
	JNE     inside; \
	INCQ    R11; \
	SHRXQ   R11, AX, R12; \
	TZCNTQ  R12, R12; \
	ADDQ    R12, R11; \
	ADDQ    R12, R10; \
	TESTQ   R12, R12; \
	JEQ     inside; \
	CMPQ    R10, $15; \
	JHI     inside

// OTHER goes on where numbers are longer or shorter than those before.
#define OTHER \
xOther: \
	MOVQ    R11, R13; \
	JMP     xSame; \
yOther: \
	MOVQ    R11, ylen-8(SP); \
	JMP     ySame

// STORE keeps the position.
#define STORE \
	VMOVSD  X5, (DI); \
	VMOVSD  X7, (R8); \
	ADDQ    $8, DI; \
	ADDQ    $8, R8

// END gives the results.
#define END \
inside: \
	MOVB    $1, inside+56(FP); \
	JMP     out; \
after: \
	MOVB    $0, inside+56(FP); \
out: \
	SUBQ    text+8(FP), SI; \
	MOVQ    SI, read+40(FP); \
	MOVQ    room+32(FP), AX; \
	SUBQ    CX, AX; \
	MOVQ    AX, count+48(FP); \
	VZEROUPPER; \
	RET

// func plainJSON(t *tables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
TEXT ·plainJSON(SB), NOSPLIT, $8-57
	BEGIN

position:
	MASK
	CMPB (SI), $'['
	JNE  inside
	MOVL $1, DX
	CMPB 1(SI), $' '
	JNE  x
	INCQ DX

x:
	NUMBER(xDigits, xPoint)
	CMPB (SI)(R11*1), $','
	JNE  inside
	CMPQ R11, R13
	JNE  xOther
	MOVQ R13, R11

xSame:
	CONVERT(X5)
	LEAQ 1(R11), DX
	CMPB (SI)(DX*1), $' '
	JNE  y
	INCQ DX

y:
	NUMBER(yDigits, yPoint)
	CONVERT(X7)
	CMPQ R11, ylen-8(SP)
	JNE  yOther
	MOVQ ylen-8(SP), R11

ySame:
	CMPB (SI)(R11*1), $' '
	JNE  close
	INCQ R11

close:
	CMPB (SI)(R11*1), $']'
	JNE  inside
	STORE
	LEAQ 1(SI)(R11*1), SI
	DECQ CX
	CMPB (SI), $','
	JNE  after
	CMPB 1(SI), $'['
	JNE  spaced
	TESTQ CX, CX
	JEQ  after
	INCQ SI
	JMP  position

spaced:
	CMPB 1(SI), $' '
	JNE  after
	CMPB 2(SI), $'['
	JNE  after
	TESTQ CX, CX
	JEQ  after
	ADDQ $2, SI
	JMP  position

	OTHER
	END

// func plainWKT(t *tables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
TEXT ·plainWKT(SB), NOSPLIT, $8-57
	BEGIN

position:
	MASK
	XORL DX, DX
	NUMBER(xDigits, xPoint)
	CMPB (SI)(R11*1), $' '
	JNE  inside
	CMPQ R11, R13
	JNE  xOther
	MOVQ R13, R11

xSame:
	CONVERT(X5)
	LEAQ 1(R11), DX
	NUMBER(yDigits, yPoint)
	CONVERT(X7)
	CMPQ R11, ylen-8(SP)
	JNE  yOther
	MOVQ ylen-8(SP), R11

ySame:
	CMPB (SI)(R11*1), $','
	JNE  last
	STORE
	ADDQ R11, SI
	DECQ CX
	JEQ  after
	INCQ SI
	CMPB (SI), $' '
	JNE  position
	INCQ SI
	JMP  position

last:
	CMPB (SI)(R11*1), $')'
	JNE  inside
	STORE
	ADDQ R11, SI
	DECQ CX
	JMP  after

	OTHER
	END
