#include "textflag.h"

// Offsets in wideTables.
#define zeros 0
#define tens 1
#define minus 2
#define blank 3
#define point 4
#define expected 16
#define pairs 32
#define fours 36
#define eights 40
#define eight 48
#define sign 56
#define order 64
#define first 128
#define second 640
#define third 896
#define fourth 896
#define powers 1288

// LOAD finds out what the 64 bytes from SI on are: Z1 their values as digits, K1 digits, K2 minus signs, K4 points, K5 zeros, R12 anything else but blanks, and DX
// how many of that stand as in two positions and before a third:
//
//	text   [-84.9147001, 26.9366934],[-84.9147496,27.12],[-84.91
//	else   [   .       ,   .       ],[   .       ,  .  ],[   .
//	DX      1 of 13, 5 after one position, 7 before another, 11 after two
#define LOAD \
	VMOVDQU8      (SI), Z0; \
	VPSUBB        Z16, Z0, Z1; \
	VPCMPUB       $1, Z17, Z1, K1; \
	VPCMPEQB      Z18, Z0, K2; \
	VPCMPEQB      Z19, Z0, K3; \
	VPCMPEQB      Z20, Z0, K4; \
	VPTESTNMB     Z1, Z1, K5; \
	KORQ          K2, K3, K6; \
	KORQ          K1, K6, K6; \
	KNOTQ         K6, K6; \
	VPCOMPRESSB.Z Z0, K6, Z2; \
	VPCMPEQB      X21, X2, K7; \
	KMOVQ         K6, R12; \
	KMOVW         K7, DX; \
	NOTL          DX; \
	TZCNTL        DX, DX

// CHECK goes to other unless so many numbers stand before text[R11], each a run of one point with digits on both sides, a minus in front at most, and no zero
// before another digit. BX gets their signs, a bit each, and R13 where R12 is when signs and blanks are left out, for FIND. In this order:
//
//	first digits   R13   after neither a digit nor a point
//	wrong zeros    R10   zeros that are first digits and stand before a digit
//	wrong points   R10   not between digits
//	first bytes    R13   digits, signs and points after none of these: as many as numbers
//	wrong signs    R10   that are no first bytes
#define CHECK(numbers, other) \
	KMOVQ   K1, AX; \
	KMOVQ   K2, BX; \
	KMOVQ   K4, R9; \
	KMOVQ   K5, R10; \
	MOVQ    AX, R13; \
	ORQ     R9, R13; \
	ADDQ    R13, R13; \
	ANDNQ   AX, R13, R13; \
	MOVQ    AX, R14; \
	SHRQ    $1, R14; \
	ANDQ    R13, R10; \
	ANDQ    R14, R10; \
	LEAQ    (AX)(AX*1), R13; \
	ANDQ    R13, R14; \
	ANDNQ   R9, R14, R14; \
	ORQ     R14, R10; \
	MOVQ    AX, R13; \
	ORQ     BX, R13; \
	ORQ     R9, R13; \
	LEAQ    (R13)(R13*1), R14; \
	ANDNQ   R13, R14, R13; \
	ANDNQ   BX, R13, R14; \
	ORQ     R14, R10; \
	BZHIQ   R11, R10, R10; \
	JNE     other; \
	BZHIQ   R11, R13, R13; \
	POPCNTQ R13, R14; \
	CMPQ    R14, $numbers; \
	JNE     other; \
	PEXTQ   R13, BX, BX; \
	ORQ     R12, AX; \
	PEXTQ   AX, R12, R13

// FIND gives the index of the next bit of R13.
#define FIND(index) \
	BLSRQ  R13, R13; \
	TZCNTQ R13, index

// CONVERT gives Z4 the numbers as integers: R14 has a bit for each digit of 16.
#define CONVERT \
	KMOVQ         R14, K6; \
	VPCOMPRESSB.Z Z1, K1, Z3; \
	VPEXPANDB.Z   Z3, K6, Z3; \
	VPMADDUBSW    Z22, Z3, Z3; \
	VPMADDWD      Z23, Z3, Z3; \
	VPACKUSDW     Z3, Z3, Z3; \
	VPMADDWD      Z24, Z3, Z3; \
	VPMULUDQ      Z25, Z3, Z4; \
	VPSRLQ        $32, Z3, Z3; \
	VPADDQ        Z3, Z4, Z4; \
	VPERMQ        Z4, Z26, Z4; \
	KMOVB         BX, K7

// A distance from a point to what ends its number is an index of powers, one from number to number an index of fields: those that come out negative count from the
// end of their table. A number of more than 15 digits is not plain.

// func wideJSON(t *wideTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
TEXT ·wideJSON(SB), NOSPLIT, $0-57
	MOVQ         t+0(FP), R15
	MOVQ         text+8(FP), SI
	MOVQ         xs+16(FP), DI
	MOVQ         ys+24(FP), R8
	MOVQ         room+32(FP), CX
	VPBROADCASTB zeros(R15), Z16
	VPBROADCASTB tens(R15), Z17
	VPBROADCASTB minus(R15), Z18
	VPBROADCASTB blank(R15), Z19
	VPBROADCASTB point(R15), Z20
	VMOVDQU8     expected(R15), X21
	VPBROADCASTW pairs(R15), Z22
	VPBROADCASTD fours(R15), Z23
	VPBROADCASTD eights(R15), Z24
	VPBROADCASTQ eight(R15), Z25
	VMOVDQU64    order(R15), Z26
	VPBROADCASTQ sign(R15), Y27

block:
	LOAD
	CMPQ DX, $13
	JLT  few
	CMPQ CX, $2
	JLT  one

	MOVL $0x1000, R11 // to the bracket of a third position

two:
	PDEPQ   R12, R11, R11
	TZCNTQ  R11, R11
	CHECK(4, one)
	FIND(AX)                // point
	FIND(R9)                // comma
	FIND(R10)               // point
	FIND(R14)               // closing bracket
	SUBQ    R9, AX
	VMOVSD  powers(R15)(AX*8), X5
	SUBQ    R14, R10
	VMOVHPD powers(R15)(R10*8), X5, X5
	CMPQ    R9, $17
	JHI     one
	MOVQ    first(R15)(R9*8), AX
	SUBQ    R14, R9
	CMPQ    R9, $-17
	JLT     one
	ORQ     second(R15)(R9*8), AX
	BLSRQ   R13, R13        // the comma and the bracket between positions
	BLSRQ   R13, R13
	FIND(R9)
	FIND(R10)
	SUBQ    R10, R9
	VMOVSD  powers(R15)(R9*8), X6
	SUBQ    R10, R14
	CMPQ    R14, $-19
	JLT     one
	ORQ     third(R15)(R14*8), AX
	FIND(R9)
	FIND(R14)
	SUBQ    R14, R9
	VMOVHPD powers(R15)(R9*8), X6, X6
	SUBQ    R10, R14
	CMPQ    R14, $17
	JHI     one
	MOVQ    fourth(R15)(R14*8), R14
	ORQ     AX, R14
	CONVERT
	VCVTQQ2PD   Y4, Y4
	VINSERTF128 $1, X6, Y5, Y5
	VDIVPD      Y5, Y4, Y4
	VXORPD      Y27, Y4, K7, Y4
	VPERMPD     $0xD8, Y4, Y4
	VMOVUPD     X4, (DI)
	VEXTRACTF128 $1, Y4, (R8)
	ADDQ    $16, DI
	ADDQ    $16, R8
	SUBQ    $2, CX
	CMPQ    DX, $13
	JLT     after
	TESTQ   CX, CX
	JEQ     fullOfTwo
	ADDQ    R11, SI
	JMP     block

few:
	CMPQ    DX, $5
	JLT     inside
	CMPQ    DX, $11
	JLT     one
	POPCNTQ R12, R11
	CMPQ    R11, $13      // else what follows may be a third position, which the block cuts
	JLT     one
	MOVL    $0x400, R11   // to the closing bracket of the second
	CMPQ    CX, $2
	JGE     two

one:
	TESTQ   CX, CX
	JLE     inside
	MOVL    $0x10, R11    // to the closing bracket of the first
	CMPQ    DX, $7
	JLT     single
	MOVL    $0x40, R11    // to the bracket of a second

single:
	PDEPQ   R12, R11, R11
	TZCNTQ  R11, R11
	CHECK(2, inside)
	FIND(AX)
	FIND(R9)
	FIND(R10)
	FIND(R14)
	SUBQ    R9, AX
	VMOVSD  powers(R15)(AX*8), X5
	SUBQ    R14, R10
	VMOVHPD powers(R15)(R10*8), X5, X5
	CMPQ    R9, $17
	JHI     inside
	MOVQ    first(R15)(R9*8), AX
	SUBQ    R14, R9
	CMPQ    R9, $-17
	JLT     inside
	MOVQ    second(R15)(R9*8), R14
	ORQ     AX, R14
	CONVERT
	VCVTQQ2PD X4, X4
	VDIVPD  X5, X4, X4
	VXORPD  X27, X4, K7, X4
	VMOVLPD X4, (DI)
	VMOVHPD X4, (R8)
	ADDQ    $8, DI
	ADDQ    $8, R8
	DECQ    CX
	JEQ     fullOfOne
	CMPQ    DX, $7
	JLT     after
	ADDQ    R11, SI
	JMP     block

fullOfOne:
	MOVL $0x10, R11
	JMP  full

fullOfTwo:
	MOVL $0x400, R11

full:
	PDEPQ  R12, R11, R11
	TZCNTQ R11, R11

after:
	LEAQ 1(SI)(R11*1), SI
	MOVB $0, inside+56(FP)
	JMP  out

inside:
	MOVB $1, inside+56(FP)

out:
	SUBQ text+8(FP), SI
	MOVQ SI, read+40(FP)
	MOVQ room+32(FP), AX
	SUBQ CX, AX
	MOVQ AX, count+48(FP)
	VZEROUPPER
	RET

// Offsets of what wideWKT has in addition.
#define lines 1288
#define comma 1304

// LOADWKT is LOAD for WKT: a blank counts as something else, but for one after a comma.
//
//	text   -84.9147001 26.9366934, -84.9147496 27.12, -84.91
//	else      .       ,  .       ,    .       ,  .  ,    .
//	       with a blank for the first and the third comma
//	DX      3 before what ends one position, 4 where that is a comma, 7 and 8 for two
#define LOADWKT \
	VMOVDQU8      (SI), Z0; \
	VPSUBB        Z16, Z0, Z1; \
	VPCMPUB       $1, Z17, Z1, K1; \
	VPCMPEQB      Z18, Z0, K2; \
	VPCMPEQB      Z19, Z0, K3; \
	VPCMPEQB      Z20, Z0, K4; \
	VPTESTNMB     Z1, Z1, K5; \
	VPCMPEQB      -1(SI), Z28, K6; \
	KANDQ         K3, K6, K3; \
	KORQ          K2, K3, K6; \
	KORQ          K1, K6, K6; \
	KNOTQ         K6, K6; \
	VPCOMPRESSB.Z Z0, K6, Z2; \
	VPCMPEQB      X21, X2, K7; \
	KMOVQ         K6, R12; \
	KMOVW         K7, DX; \
	NOTL          DX; \
	TZCNTL        DX, DX

// ELSE gives R11 the index of a byte that is something else: the one whose bit of R11 is set, 64 if there is none.
#define ELSE \
	PDEPQ  R12, R11, R11; \
	TZCNTQ R11, R11

// func wideWKT(t *wideTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
//
// Numbers follow one another without a bracket, so that distances are shorter than those of wideJSON: where tables are read, what is added makes up for that.
TEXT ·wideWKT(SB), NOSPLIT, $0-57
	MOVQ         t+0(FP), R15
	MOVQ         text+8(FP), SI
	MOVQ         xs+16(FP), DI
	MOVQ         ys+24(FP), R8
	MOVQ         room+32(FP), CX
	VPBROADCASTB zeros(R15), Z16
	VPBROADCASTB tens(R15), Z17
	VPBROADCASTB minus(R15), Z18
	VPBROADCASTB blank(R15), Z19
	VPBROADCASTB point(R15), Z20
	VMOVDQU8     lines(R15), X21
	VPBROADCASTW pairs(R15), Z22
	VPBROADCASTD fours(R15), Z23
	VPBROADCASTD eights(R15), Z24
	VPBROADCASTQ eight(R15), Z25
	VMOVDQU64    order(R15), Z26
	VPBROADCASTQ sign(R15), Y27
	VPBROADCASTB comma(R15), Z28
	TESTQ        CX, CX
	JLE          inside

block:
	LOADWKT
	CMPQ DX, $8
	JLT  few
	CMPQ CX, $2
	JLT  one
	MOVL $0x80, R11 // to what ends the second position
	ELSE

two:
	CHECK(4, one)
	TZCNTQ  R13, AX         // point
	FIND(R9)                // blank
	FIND(R10)               // point
	FIND(R14)               // comma
	SUBQ    R9, AX
	VMOVSD  powers(R15)(AX*8), X5
	SUBQ    R14, R10
	VMOVHPD powers(R15)(R10*8), X5, X5
	CMPQ    R9, $16
	JHI     one
	MOVQ    first+8(R15)(R9*8), AX
	SUBQ    R14, R9
	CMPQ    R9, $-17
	JLT     one
	ORQ     second(R15)(R9*8), AX
	FIND(R9)
	FIND(R10)
	SUBQ    R10, R9
	VMOVSD  powers(R15)(R9*8), X6
	SUBQ    R10, R14
	CMPQ    R14, $-17
	JLT     one
	ORQ     third-16(R15)(R14*8), AX
	FIND(R9)
	FIND(R14)
	SUBQ    R14, R9
	VMOVHPD powers(R15)(R9*8), X6, X6
	SUBQ    R10, R14
	CMPQ    R14, $17
	JHI     one
	MOVQ    fourth(R15)(R14*8), R14
	ORQ     AX, R14
	CONVERT
	VCVTQQ2PD    Y4, Y4
	VINSERTF128  $1, X6, Y5, Y5
	VDIVPD       Y5, Y4, Y4
	VXORPD       Y27, Y4, K7, Y4
	VPERMPD      $0xD8, Y4, Y4
	VMOVUPD      X4, (DI)
	VEXTRACTF128 $1, Y4, (R8)
	ADDQ         $16, DI
	ADDQ         $16, R8
	SUBQ         $2, CX
	CMPQ         DX, $8
	JLT          after

another: // after the comma at R11
	TESTQ CX, CX
	JEQ   after
	LEAQ  1(SI)(R11*1), SI
	CMPB  (SI), $' '
	JNE   block
	INCQ  SI
	JMP   block

few:
	CMPQ DX, $3
	JLT  inside
	CMPQ DX, $7
	JNE  one
	CMPQ CX, $2
	JLT  one
	MOVL $0x80, R11
	ELSE
	CMPQ R11, $64 // the block ends before what follows the second position
	JEQ  one
	CMPB (SI)(R11*1), $')'
	JEQ  two

one:
	MOVL $8, R11
	ELSE
	CMPQ R11, $64
	JEQ  inside
	CMPQ DX, $3
	JNE  single
	CMPB (SI)(R11*1), $')'
	JNE  inside

single:
	CHECK(2, inside)
	TZCNTQ  R13, AX
	FIND(R9)
	FIND(R10)
	FIND(R14)
	SUBQ    R9, AX
	VMOVSD  powers(R15)(AX*8), X5
	SUBQ    R14, R10
	VMOVHPD powers(R15)(R10*8), X5, X5
	CMPQ    R9, $16
	JHI     inside
	MOVQ    first+8(R15)(R9*8), AX
	SUBQ    R14, R9
	CMPQ    R9, $-17
	JLT     inside
	MOVQ    second(R15)(R9*8), R14
	ORQ     AX, R14
	CONVERT
	VCVTQQ2PD X4, X4
	VDIVPD  X5, X4, X4
	VXORPD  X27, X4, K7, X4
	VMOVLPD X4, (DI)
	VMOVHPD X4, (R8)
	ADDQ    $8, DI
	ADDQ    $8, R8
	DECQ    CX
	CMPQ    DX, $3
	JNE     another

after:
	ADDQ R11, SI
	MOVB $0, inside+56(FP)
	JMP  out

inside:
	MOVB $1, inside+56(FP)

out:
	SUBQ text+8(FP), SI
	MOVQ SI, read+40(FP)
	MOVQ room+32(FP), AX
	SUBQ CX, AX
	MOVQ AX, count+48(FP)
	VZEROUPPER
	RET
