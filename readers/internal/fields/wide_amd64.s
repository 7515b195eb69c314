#include "textflag.h"

// Offsets in carry.
#define listed_ 0
#define lines_ 8
#define high_ 16
#define quotes_ 24
#define inside_ 32
#define separator_ 40
#define closing_ 48

// func listAVX512(c *carry, text unsafe.Pointer, blocks, at int, numbers *[block]byte, starts, ends *uint32, delimiter, quote byte) (done int)
//
// SI  the block at hand   DI  where its starts go   R15  where its line ends go   R8, R14, R12  inside, separator, closing of the byte before it   K7  high
TEXT ·listAVX512(SB), NOSPLIT, $8-72
	MOVQ         c+0(FP), AX
	MOVQ         text+8(FP), SI
	MOVQ         starts+40(FP), DI
	MOVQ         ends+48(FP), R15
	MOVQ         listed_(AX), BX
	LEAQ         (DI)(BX*4), DI
	MOVQ         lines_(AX), BX
	LEAQ         (R15)(BX*4), R15
	MOVQ         inside_(AX), R8
	MOVQ         separator_(AX), R14
	MOVQ         closing_(AX), R12
	MOVQ         quotes_(AX), BX
	MOVQ         BX, quotes-8(SP)
	KXORQ        K7, K7, K7
	VPBROADCASTB delimiter+56(FP), Z16
	VPBROADCASTB quote+57(FP), Z19
	MOVL         $0x0A, AX
	VPBROADCASTB AX, Z17
	MOVL         $0x0D, AX
	VPBROADCASTB AX, Z18
	VPTERNLOGQ   $0xFF, X20, X20, X20
	MOVQ         numbers+32(FP), AX
	VMOVDQU8     (AX), Z21
	MOVQ         at+24(FP), AX
	VPBROADCASTD AX, Z22
	MOVL         $64, AX
	VPBROADCASTD AX, Z23

next:
	VMOVDQU8   (SI), Z0
	VPCMPEQB   Z16, Z0, K1
	VPCMPEQB   Z17, Z0, K2
	VPCMPEQB   Z18, Z0, K3
	VPCMPEQB   Z19, Z0, K4
	VPMOVB2M   Z0, K5
	KORQ       K2, K3, K2
	KMOVQ      K1, AX              // delimiters
	KMOVQ      K2, BX              // line ends
	KMOVQ      K4, CX
	ANDQ       quotes-8(SP), CX    // quotes
	VMOVQ      CX, X1
	VPCLMULQDQ $0, X20, X1, X1
	VMOVQ      X1, DX
	XORQ       R8, DX              // inside
	MOVQ       CX, R9
	ANDQ       DX, R9              // opening
	ANDNQ      CX, DX, R10         // closing
	ORQ        BX, AX
	ANDNQ      AX, DX, AX          // separators
	LEAQ       (R10)(R10*1), R11
	ORQ        R12, R11            // after closing
	LEAQ       (AX)(AX*1), R13
	ORQ        R14, R13            // after a separator
	ANDNQ      R9, R13, R13        // opening, not after a separator: two for one, or wrong
	ORQ        AX, CX
	ANDNQ      R11, CX, R11        // after closing, neither a separator nor a quote
	ORQ        R11, R13
	JNE        out

	KORQ        K5, K7, K7
	MOVQ        DX, R8
	SARQ        $63, R8
	MOVQ        R10, R12
	SHRQ        $63, R12
	MOVQ        AX, R14
	SHRQ        $63, R14
	ANDQ        AX, BX
	KMOVQ       AX, K6
	VPCOMPRESSB.Z Z21, K6, Z2
	VPMOVZXBD   X2, Z3
	VPADDD      Z22, Z3, Z3
	VMOVDQU32   Z3, (DI)
	POPCNTQ     AX, R13
	CMPQ        R13, $16
	JHI         more

lines:
	// Bit i of BX: separator i is a line end.
	PEXTQ   AX, BX, BX
	TESTQ   BX, BX
	JEQ     after
	MOVQ    DI, R10
	SUBQ    starts+40(FP), R10
	SHRQ    $2, R10
	INCQ    R10

line:
	TZCNTQ BX, R9
	ADDQ   R10, R9
	MOVL   R9, (R15)
	ADDQ   $4, R15
	BLSRQ  BX, BX
	JNE    line

after:
	LEAQ   (DI)(R13*4), DI
	VPADDD Z23, Z22, Z22
	ADDQ   $64, SI
	DECQ   blocks+16(FP)
	JNE    next

out:
	MOVQ  c+0(FP), AX
	SUBQ  starts+40(FP), DI
	SHRQ  $2, DI
	MOVQ  DI, listed_(AX)
	SUBQ  ends+48(FP), R15
	SHRQ  $2, R15
	MOVQ  R15, lines_(AX)
	MOVQ  R8, inside_(AX)
	MOVQ  R14, separator_(AX)
	MOVQ  R12, closing_(AX)
	KMOVQ K7, BX
	ORQ   BX, high_(AX)
	SUBQ  text+8(FP), SI
	SHRQ  $6, SI
	MOVQ  SI, done+64(FP)
	VZEROUPPER
	RET

more:
	VEXTRACTI32X4 $1, Z2, X4
	VPMOVZXBD     X4, Z3
	VPADDD        Z22, Z3, Z3
	VMOVDQU32     Z3, 64(DI)
	CMPQ          R13, $32
	JLS           lines
	VEXTRACTI32X4 $2, Z2, X4
	VPMOVZXBD     X4, Z3
	VPADDD        Z22, Z3, Z3
	VMOVDQU32     Z3, 128(DI)
	VEXTRACTI32X4 $3, Z2, X4
	VPMOVZXBD     X4, Z3
	VPADDD        Z22, Z3, Z3
	VMOVDQU32     Z3, 192(DI)
	JMP           lines
