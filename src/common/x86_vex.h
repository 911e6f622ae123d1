/* SPDX-License-Identifier: MIT */
/*
 * Instructions with vectors of 256 bits that older compilers and assemblers lack, in bytes, for
 * inline assembly. Its operands are registers of class "x": %0 is reg of the encoding, the last one
 * rm, and one in between vvvv; all are __m256i, also where an instruction reads 128 bits. The
 * assembler finds the numbers of registers by their names.
 *
 * EVC_X86_VEX_OF_3(third, opcode)   third, opcode: numbers as texts; third is the third byte
 * EVC_X86_VEX_OF_2(third, opcode)   of the prefix, W vvvv L pp, with all bits of vvvv 1
 *
 * Source: Intel SDM (2024) vol. 2A section 2.3.5, map 0F38.
 */
#ifndef EVC_COMMON_X86_VEX_H
#define EVC_COMMON_X86_VEX_H

#define EVC_X86_VEX_REGISTER(operand, name)                                 \
    ".ifc " operand ",%%ymm\\number\n\t.set .Levc_" name ",\\number\n\t"    \
    ".set .Levc_found,.Levc_found+1\n\t.endif\n\t"
#define EVC_X86_VEX(n_operands, registers, third, opcode)                                     \
    ".set .Levc_found,0\n\t.irp number,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t" registers   \
    ".endr\n\t.if .Levc_found-" n_operands "\n\t"                                            \
    ".error \"operands are no registers\"\n\t.endif\n\t"                                     \
    ".byte 0xc4, 0xe2 - (.Levc_reg >> 3 << 7) - (.Levc_rm >> 3 << 5), " third ", " opcode     \
    ", 0xc0 + ((.Levc_reg & 7) << 3) + (.Levc_rm & 7)"
#define EVC_X86_VEX_OF_3(third, opcode)                                                      \
    EVC_X86_VEX("3",                                                                         \
                EVC_X86_VEX_REGISTER("%0", "reg") EVC_X86_VEX_REGISTER("%1", "vvvv")         \
                    EVC_X86_VEX_REGISTER("%2", "rm"),                                        \
                third " - (.Levc_vvvv << 3)", opcode)
#define EVC_X86_VEX_OF_2(third, opcode)                                                       \
    EVC_X86_VEX("2", EVC_X86_VEX_REGISTER("%0", "reg") EVC_X86_VEX_REGISTER("%1", "rm"), third, \
                opcode)

#endif
