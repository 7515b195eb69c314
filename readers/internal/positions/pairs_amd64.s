#include "textflag.h"

// Offsets in pairTables.
#define zeros 0
#define classes 32
#define dots 64
#define limits 96
#define tens 128
#define hundreds 160
#define myriads 192
#define eight 224
#define magic 256
#define sign 288
#define entries 832 // of 0 digits before the point
#define ends 9536

// BEGIN loads the constants and the arguments.
//
// SI  the first number of the position at hand   DI, R8  where its x and y go   CX  room left   R15  t
#define BEGIN \
	MOVQ    t+0(FP), R15; \
	MOVQ    text+8(FP), SI; \
	MOVQ    xs+16(FP), DI; \
	MOVQ    ys+24(FP), R8; \
	MOVQ    room+32(FP), CX; \
	VMOVDQU zeros(R15), Y15; \
	VMOVDQU classes(R15), Y14; \
	VMOVDQU dots(R15), Y13; \
	VMOVDQU limits(R15), Y12; \
	VMOVDQU tens(R15), Y11; \
	VMOVDQU hundreds(R15), Y10; \
	VMOVDQU myriads(R15), Y9; \
	VMOVDQU eight(R15), Y8

// MASK sets bit i of AX where text[i] is neither a digit nor a minus. Each of these has low bits of its own, by which a shuffle finds it:
//
//	text      - 8 4 . 1 , 2 7 . 1 ] , [
//	shuffled  - 8 4 0 1 0 2 7 0 1 - 0 0   0 is the byte 0
//	AX              1   1     1   1 1 1
#define MASK \
	VMOVDQU   (SI), Y0; \
	VMOVDQU   32(SI), Y1; \
	VPSHUFB   Y0, Y14, Y2; \
	VPSHUFB   Y1, Y14, Y3; \
	VPCMPEQB  Y0, Y2, Y2; \
	VPCMPEQB  Y1, Y3, Y3; \
	VPMOVMSKB Y2, AX; \
	VPMOVMSKB Y3, BX; \
	SHLQ      $32, BX; \
	ORQ       BX, AX; \
	NOTQ      AX

// NEXT gives the index of the next bit of AX, 64 if there is none, and clears it.
#define NEXT(index) \
	TZCNTQ AX, index; \
	BLSRQ  AX, AX

// NUMBER moves start after a minus, makes point the offset of the number's entry, and length the bytes of the number but one. A length of more than 15 is none
// of an entry. Where something else than a digit follows, the entry is one that no number passes.
#define NUMBER(start, point, end, length) \
	CMPB (SI)(start*1), $'.'; \
	ADCQ $0, start; \
	SUBQ start, point; \
	LEAQ -1(end), length; \
	SUBQ start, length; \
	SHLQ $4, point; \
	ADDQ length, point; \
	SHLQ $5, point

// DIGITS gives dst the digits of two numbers, 16 bytes each: that of the point first, as 0, then digits up to the last byte. Powers gets the power and the
// lowest value of each. X2 is used up.
#define DIGITS(x, y, xEntry, yEntry, dst, dstLow, powers, powersLow) \
	VMOVDQU     (SI)(x*1), dstLow; \
	VINSERTI128 $1, (SI)(y*1), dst, dst; \
	VMOVDQU     entries(R15)(xEntry*1), X2; \
	VINSERTI128 $1, entries(R15)(yEntry*1), Y2, Y2; \
	VPSUBB      Y15, dst, dst; \
	VPSHUFB     Y2, dst, dst; \
	VPXOR       Y13, dst, dst; \
	VMOVUPD     entries+16(R15)(xEntry*1), powersLow; \
	VINSERTF128 $1, entries+16(R15)(yEntry*1), powers, powers

// CONVERT gives Y0 the numbers x, x, y, y of two positions, whose digits are in Y0 and Y1, powers and lowest values in Y4 and Y5, first bytes in X6 (x) and X7
// (y). It goes to other if one is not plain.
#define CONVERT(other) \
	VPMAXUB     Y0, Y1, Y2; \
	VPSUBUSB    Y12, Y2, Y2; \
	VPMADDUBSW  Y11, Y0, Y0; \
	VPMADDUBSW  Y11, Y1, Y1; \
	VPMADDWD    Y10, Y0, Y0; \
	VPMADDWD    Y10, Y1, Y1; \
	VPACKUSDW   Y1, Y0, Y0; \
	VPMADDWD    Y9, Y0, Y0; \
	VPMULUDQ    Y8, Y0, Y1; \
	VPSRLQ      $32, Y0, Y0; \
	VPADDQ      Y1, Y0, Y0; \
	VPOR        magic(R15), Y0, Y0; \
	VSUBPD      magic(R15), Y0, Y0; \
	VUNPCKLPD   Y5, Y4, Y3; \
	VUNPCKHPD   Y5, Y4, Y4; \
	VDIVPD      Y3, Y0, Y0; \
	VINSERTF128 $1, X7, Y6, Y6; \
	VPSLLQ      $59, Y6, Y6; \
	VPANDN      sign(R15), Y6, Y6; \
	VCMPPD      $1, Y4, Y0, Y4; \
	VPOR        Y4, Y2, Y2; \
	VPTEST      Y2, Y2; \
	JNE         other; \
	VPXOR       Y6, Y0, Y0

// POSITIONS reads blocks of two positions or one. SI is the first number of a block. Macros know the layout: comma goes to another label unless it is between x
// and y, close unless it is after y, step unless it is after y and another position follows. Skips clear the bits of all bytes of these but the first one. The
// label other is for what is not plain, last for what ends the positions, with R12 where close is.
#define POSITIONS(block, more, one, other, last, comma, commaLength, commaSkip, close, step, stepLength, stepSkip) \
block: \
	MASK; \
	NEXT(R9); \
	NEXT(R10); \
	commaSkip; \
	NEXT(R11); \
	NEXT(R12); \
	comma(R10, other); \
	close(R12, other); \
	XORL    BX, BX; \
	NUMBER(BX, R9, R10, DX); \
	LEAQ    commaLength(R10), R13; \
	NUMBER(R13, R11, R12, R14); \
	ORQ     R14, DX; \
	CMPQ    DX, $15; \
	JHI     other; \
	DIGITS(BX, R13, R9, R11, Y0, X0, Y4, X4); \
	VMOVSD  (SI), X6; \
	VMOVSD  commaLength(SI)(R10*1), X7; \
	CMPQ    CX, $2; \
	JLT     one; \
	step(R12, one); \
	stepSkip; \
	NEXT(R9); \
	NEXT(R10); \
	commaSkip; \
	NEXT(R11); \
	TZCNTQ  AX, AX; \
	LEAQ    stepLength(R12), BX; \
	CMPQ    AX, $63; \
	JHI     one; \
	comma(R10, one); \
	close(AX, one); \
	NUMBER(BX, R9, R10, DX); \
	LEAQ    commaLength(R10), R13; \
	NUMBER(R13, R11, AX, R14); \
	ORQ     R14, DX; \
	CMPQ    DX, $15; \
	JHI     one; \
	DIGITS(BX, R13, R9, R11, Y1, X1, Y5, X5); \
	VMOVHPD stepLength(SI)(R12*1), X6, X6; \
	VMOVHPD commaLength(SI)(R10*1), X7, X7; \
	CONVERT(other); \
	VMOVUPD X0, (DI); \
	VEXTRACTF128 $1, Y0, (R8); \
	ADDQ    $16, DI; \
	ADDQ    $16, R8; \
	MOVQ    AX, R12; \
	SUBQ    $2, CX; \
	JEQ     last; \
more: \
	step(R12, last); \
	LEAQ    stepLength(SI)(R12*1), SI; \
	JMP     block; \
one: \
	VMOVDQA Y0, Y1; \
	VMOVDQA Y4, Y5; \
	CONVERT(other); \
	VEXTRACTF128 $1, Y0, X1; \
	VMOVLPD X0, (DI); \
	VMOVLPD X1, (R8); \
	ADDQ    $8, DI; \
	ADDQ    $8, R8; \
	DECQ    CX; \
	JNE     more; \
	JMP     last

// Bytes of a layout: those at text[index] are compared.
#define COMMA(index, other) \
	CMPB (SI)(index*1), $','; \
	JNE  other

#define COMMABLANK(index, other) \
	MOVWLZX (SI)(index*1), DX; \
	CMPL    DX, $0x202C; \
	JNE     other

#define BLANK(index, other) \
	CMPB (SI)(index*1), $' '; \
	JNE  other

#define BRACKET(index, other) \
	CMPB (SI)(index*1), $']'; \
	JNE  other

#define BLANKBRACKET(index, other) \
	MOVWLZX (SI)(index*1), DX; \
	CMPL    DX, $0x5D20; \
	JNE     other

// ',' or ')'
#define LINEEND(index, other) \
	MOVBLZX (SI)(index*1), DX; \
	CMPB    ends(R15)(DX*1), $0; \
	JEQ     other

// "],["
#define COMPACTSTEP(index, other) \
	MOVL (SI)(index*1), DX; \
	SHLL $8, DX; \
	CMPL DX, $0x5B2C5D00; \
	JNE  other

// "], ["
#define SPACEDSTEP(index, other) \
	CMPL (SI)(index*1), $0x5B202C5D; \
	JNE  other

// " ], [ "
#define PADDEDSTEP(index, other) \
	CMPL    (SI)(index*1), $0x202C5D20; \
	JNE     other; \
	MOVWLZX 4(SI)(index*1), DX; \
	CMPL    DX, $0x205B; \
	JNE     other

#define SKIP0

#define SKIP1 \
	BLSRQ AX, AX

#define SKIP2 \
	SKIP1; \
	SKIP1

#define SKIP3 \
	SKIP2; \
	SKIP1

#define SKIP5 \
	SKIP2; \
	SKIP3

// func pairsJSON(t *pairTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
TEXT ·pairsJSON(SB), NOSPLIT, $0-57
	BEGIN
	TESTQ CX, CX
	JLE   inside
	CMPB  (SI), $'['
	JNE   inside
	INCQ  SI
	CMPB  (SI), $' '
	JEQ   padded

	// [-84.1,27.1],[-84.1,27.2]
	POSITIONS(compact, compactMore, compactOne, notCompact, compactLast, COMMA, 1, SKIP0, BRACKET, COMPACTSTEP, 3, SKIP2)

notCompact:
	CMPQ R10, $63
	JHI  notSpaced
	COMMABLANK(R10, notSpaced)

	// [-84.1, 27.1], [-84.1, 27.2]
	POSITIONS(spaced, spacedMore, spacedOne, notSpaced, compactLast, COMMABLANK, 2, SKIP1, BRACKET, SPACEDSTEP, 4, SKIP3)

notSpaced:
	DECQ SI
	JMP  inside

compactLast:
	LEAQ 1(SI)(R12*1), SI
	JMP  last

padded:
	INCQ SI

	// [ -84.1, 27.1 ], [ -84.1, 27.2 ]
	POSITIONS(paddedBlock, paddedMore, paddedOne, notPadded, paddedLast, COMMABLANK, 2, SKIP1, BLANKBRACKET, PADDEDSTEP, 6, SKIP5)

notPadded:
	SUBQ $2, SI
	JMP  inside

paddedLast:
	LEAQ 2(SI)(R12*1), SI

last: // a position in another layout may follow
	TESTQ CX, CX
	JEQ   after
	CMPB  (SI), $','
	JNE   after
	CMPB  1(SI), $'['
	JEQ   next
	CMPB  1(SI), $' '
	JNE   after
	CMPB  2(SI), $'['
	JNE   after
	INCQ  SI

next:
	INCQ SI

inside:
	MOVB $1, inside+56(FP)
	JMP  out

after:
	MOVB $0, inside+56(FP)

out:
	SUBQ text+8(FP), SI
	MOVQ SI, read+40(FP)
	MOVQ room+32(FP), AX
	SUBQ CX, AX
	MOVQ AX, count+48(FP)
	VZEROUPPER
	RET

// func pairsWKT(t *pairTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
TEXT ·pairsWKT(SB), NOSPLIT, $0-57
	BEGIN
	TESTQ CX, CX
	JLE   inside

	// -84.1 27.1,-84.1 27.2)
	POSITIONS(compact, compactMore, compactOne, notCompact, last, BLANK, 1, SKIP0, LINEEND, COMMA, 1, SKIP0)

notCompact: // a blank after the comma, or not plain
	CMPB (SI), $' '
	JEQ  blank

	// -84.1 27.1, -84.1 27.2)
	POSITIONS(spaced, spacedMore, spacedOne, inside, last, BLANK, 1, SKIP0, LINEEND, COMMABLANK, 2, SKIP1)

blank:
	CMPQ SI, text+8(FP)
	JEQ  inside
	INCQ SI
	JMP  spaced

inside:
	MOVB $1, inside+56(FP)
	JMP  out

last:
	ADDQ  R12, SI
	TESTQ CX, CX
	JEQ   after
	CMPB  (SI), $','
	JNE   after
	INCQ  SI
	CMPB  (SI), $' '
	JNE   inside
	INCQ  SI
	JMP   inside

after:
	MOVB $0, inside+56(FP)

out:
	SUBQ text+8(FP), SI
	MOVQ SI, read+40(FP)
	MOVQ room+32(FP), AX
	SUBQ CX, AX
	MOVQ AX, count+48(FP)
	VZEROUPPER
	RET
