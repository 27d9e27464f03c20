#include "textflag.h"

// func dotsAVX2(q *int16, rows *int8, n, count int, out *int32)
//
// Sixteen components at a time: widen the row's bytes, multiply and add in pairs.
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	MOVQ rows+8(FP), DI
	MOVQ n+16(FP), DX
	MOVQ count+24(FP), R8
	MOVQ out+32(FP), R9

row:
	MOVQ  q+0(FP), SI
	MOVQ  DX, CX
	VPXOR Y0, Y0, Y0

lane:
	VPMOVSXBW (DI), Y1
	VPMADDWD  (SI), Y1, Y1
	VPADDD    Y1, Y0, Y0
	ADDQ      $16, DI
	ADDQ      $32, SI
	SUBQ      $16, CX
	JNZ       lane

	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (R9)
	ADDQ         $4, R9
	DECQ         R8
	JNZ          row

	VZEROUPPER
	RET
