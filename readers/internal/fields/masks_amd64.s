#include "textflag.h"

// BITS sets bit i of dst where the high bit of byte i of low and high, 32 bytes each, is set. AX is used up.
#define BITS(low, high, dst) \
	VPMOVMSKB low, AX; \
	VPMOVMSKB high, dst; \
	SHLQ      $32, dst; \
	ORQ       AX, dst

// func findAVX2(out *[Most / block]masks, text unsafe.Pointer, blocks int, delimiter, quote byte)
TEXT ·findAVX2(SB), NOSPLIT, $0-26
	MOVQ         out+0(FP), DI
	MOVQ         text+8(FP), SI
	MOVQ         blocks+16(FP), CX
	VPBROADCASTB delimiter+24(FP), Y15
	VPBROADCASTB quote+25(FP), Y14
	MOVL         $0x0A0A0A0A, AX
	VMOVD        AX, X13
	VPBROADCASTD X13, Y13
	MOVL         $0x0D0D0D0D, AX
	VMOVD        AX, X12
	VPBROADCASTD X12, Y12
	TESTQ        CX, CX
	JLE          done

next:
	VMOVDQU  (SI), Y0
	VMOVDQU  32(SI), Y1
	VPCMPEQB Y0, Y15, Y2
	VPCMPEQB Y1, Y15, Y3
	BITS(Y2, Y3, R8)
	VPCMPEQB Y0, Y13, Y2
	VPCMPEQB Y1, Y13, Y3
	VPCMPEQB Y0, Y12, Y4
	VPCMPEQB Y1, Y12, Y5
	VPOR     Y2, Y4, Y2
	VPOR     Y3, Y5, Y3
	BITS(Y2, Y3, R9)
	VPCMPEQB Y0, Y14, Y2
	VPCMPEQB Y1, Y14, Y3
	BITS(Y2, Y3, R10)
	BITS(Y0, Y1, R11)
	MOVQ     R8, (DI)
	MOVQ     R9, 8(DI)
	MOVQ     R10, 16(DI)
	MOVQ     R11, 24(DI)
	ADDQ     $64, SI
	ADDQ     $32, DI
	DECQ     CX
	JNE      next

done:
	VZEROUPPER
	RET
