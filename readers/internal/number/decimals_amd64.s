#include "textflag.h"

// Offsets in constants.
#define zeros 0
#define nines 16
#define pairs 32
#define fours 48
#define eights 64
#define edges 80
#define powers 160
#define spread 288

// func decimalsAVX2(c *constants, out *float64, count int, text unsafe.Pointer, starts, first *uint32) (n int, valid uint64)
//
// SI  the current number, after its sign   CX  bytes of it   R9  its sign   R10  digits before the point   R11  digits   R14  number of it   R15  c
TEXT ·decimalsAVX2(SB), NOSPLIT, $0-64
	MOVQ    c+0(FP), R15
	MOVQ    out+8(FP), DI
	MOVQ    text+24(FP), R8
	MOVQ    starts+32(FP), R12
	MOVQ    first+40(FP), R13
	VMOVDQU zeros(R15), X15
	VMOVDQU nines(R15), X14
	VMOVDQU pairs(R15), X13
	VMOVDQU fours(R15), X12
	VMOVDQU eights(R15), X11
	VPXOR   X9, X9, X9
	XORL    R14, R14
	MOVQ    $-1, DX // valid

next:
	MOVL  (R13)(R14*4), AX
	MOVL  (R12)(AX*4), SI
	MOVL  4(R12)(AX*4), CX
	SUBL  SI, CX
	DECL  CX
	JEQ   empty
	ADDQ  R8, SI
	XORL  R9, R9
	CMPB  (SI), $'-'
	SETEQ R9
	ADDQ  R9, SI
	SUBQ  R9, CX

	// AX has a bit for each byte of the number that is no digit: the point at most, which is neither its first byte nor its last.
	VMOVDQU   (SI), X0
	VPSUBB    X15, X0, X0
	VPMINUB   X14, X0, X1
	VPCMPEQB  X0, X1, X1
	VPMOVMSKB X1, AX
	NOTL      AX
	BZHIL     CX, AX, AX
	MOVQ      CX, R10
	TZCNTL    AX, BX // no carry where there is a point
	CMOVLCC   BX, R10
	LEAQ      -1(CX), R11
	ADCQ      $0, R11
	LEAQ      -1(R11), BX
	CMPQ      BX, $14
	JHI       out
	BLSRL     AX, BX
	JNE       out
	TESTL     edges(R15)(CX*4), AX
	JNE       out
	CMPB      (SI), $'0'
	JEQ       zero

usual:
	CMPB (SI)(R10*1), $'.'
	JNE  other

plain:
	MOVQ       R10, BX
	SHLQ       $4, BX
	ADDQ       R11, BX
	SHLQ       $4, BX
	VPSHUFB    spread(R15)(BX*1), X0, X0
	VPMADDUBSW X13, X0, X0
	VPMADDWD   X12, X0, X0
	VPACKUSDW  X0, X0, X0
	VPMADDWD   X11, X0, X0
	VMOVQ      X0, BX
	MOVL       BX, AX
	SHRQ       $32, BX
	IMUL3Q     $100000000, AX, AX
	ADDQ       BX, AX
	VCVTSI2SDQ AX, X9, X1
	SUBQ       R10, R11
	VDIVSD     powers(R15)(R11*8), X1, X1
	SHLQ       $63, R9
	VMOVQ      R9, X3
	VPOR       X3, X1, X1
	VMOVSD     X1, (DI)(R14*8)
	INCQ       R14
	CMPQ       R14, count+16(FP)
	JLT        next
	JMP        out

zero: // before another digit it is not plain
	CMPQ R10, $1
	JEQ  usual
	JMP  out

other: // an integer, or what has something else for a point
	TESTL AX, AX
	JEQ   plain
	JMP   out

empty:
	MOVQ $0, (DI)(R14*8)
	BTRQ R14, DX
	INCQ R14
	CMPQ R14, count+16(FP)
	JLT  next

out:
	BZHIQ R14, DX, DX
	MOVQ  R14, n+48(FP)
	MOVQ  DX, valid+56(FP)
	VZEROUPPER
	RET
