/* SPDX-License-Identifier: MIT */
/*
 * CPUs of x86 as emulators and hypervisors show them, and made ones: what CPUID and XCR0 say, and
 * the features that follow. x86_dumps.txt has real ones.
 *
 * Sources, named in each line:
 *   shown       what a program saw that qemu-x86_64 or qemu-i386 7.2 (Debian 12) ran with -cpu
 *               NAME. QEMU masks what it cannot emulate, AVX-512 among others.
 *   defined     the definition of the model NAME in QEMU 7.2, target/i386/cpu.c, builtin_x86_defs.
 *               Its OSXSAVE and XCR0 are of an operating system that keeps all registers.
 *   patch       "target/i386: Add new CPU model GraniteRapids", qemu-devel, July 2023: the
 *               definition of QEMU 8.1. OSXSAVE and XCR0 as before.
 *   measured    a virtual machine of a cloud provider, November 2026.
 *   reported    OPENSSL_ia32cap of openssl/openssl pull request 25751 (2025), on a Xeon 6780E;
 *               XCR0 is of an operating system that keeps all registers.
 *   made        by hand: no CPU, but a hypervisor or an error could show it.
 */
#ifndef TESTS_X86_CPUS_H
#define TESTS_X86_CPUS_H

#include "everycore/cpu.h"

#define INTEL 0x756e6547u
#define AMD 0x68747541u
#define HYGON 0x6f677948u
#define CENTAUR 0x746e6543u

#define F(name) EVC_CPU(X86_##name)
#define SSE2 F(SSE2)
#define SSSE3 (SSE2 | F(SSSE3))
#define SSE41 (SSSE3 | F(SSE41))
#define AES (SSE41 | F(AES) | F(PCLMUL))
#define AVX (AES | F(AVX))
#define AVX2 (AVX | F(AVX2) | F(BMI2))
#define ADX (AVX2 | F(ADX))
#define AVX512 (ADX | F(AVX512F) | F(AVX512DQ) | F(AVX512BW) | F(AVX512VL))
#define VBMI \
    (AVX512 | F(AVX512VBMI) | F(AVX512VBMI2) | F(AVX512IFMA) | F(GFNI) | F(VAES) | F(VPCLMUL))
#define SHA F(SHA)
#define IN64 (F(MODE64) | EVC_CPU(TUNE_WORD64) | EVC_CPU(CT_MUL))
#define ZMM EVC_CPU(TUNE_ZMM)
#define PORTS EVC_CPU(TUNE_SHARED_PORTS)
#define MUL EVC_CPU(CT_MUL)

/* From GraniteRapids, by the patch. */
#define GNR_EBX 0xf1bf0fb9u
#define GNR_ECX 0x01415f4eu
/* The same without flags of AVX-512. */
#define GNR_EBX_256 (GNR_EBX & ~0xd1230000u)
#define GNR_ECX_256 (GNR_ECX & ~0x00005842u)

/* max_leaf, vendor_ebx, leaf1_eax, _ecx, _edx, leaf7_eax, _ebx, _ecx, leaf7_1_eax, _edx,
 * leaf24_ebx, max_extended_leaf, extended1_edx, xcr0, mode64 */
static const struct {
    const char *name;
    struct evc_x86_id id;
    uint64_t features;
} x86_cpus[] = {
    /* Programs of 64 bits. */
    {"shown: Conroe",
     {0xa, INTEL, 0x6f3, 0x80000201, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     IN64 | SSSE3},
    {"shown: Penryn",
     {0xa, INTEL, 0x10673, 0x80082201, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     IN64 | SSE41},
    {"shown: Nehalem",
     {0xb, INTEL, 0x106a3, 0x80982201, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     IN64 | SSE41},
    {"shown: Westmere",
     {0xb, INTEL, 0x206c1, 0x82982203, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     IN64 | AES},
    {"shown: SandyBridge",
     {0xd, INTEL, 0x206a1, 0x9e982203, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | AVX},
    {"shown: Haswell",
     {0xd, INTEL, 0x306c4, 0xfed83203, 0x78bfbfd, 0, 0x3a9, 0, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | AVX2},
    {"shown: Broadwell",
     {0xd, INTEL, 0x306d2, 0xfed83203, 0x78bfbfd, 0, 0x1803a9, 0, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | ADX},
    {"shown: Skylake-Client",
     {0xd, INTEL, 0x506e3, 0xfed83203, 0x78bfbfd, 0, 0x1803a9, 0, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | PORTS | ADX},
    {"shown: Skylake-Server, AVX-512 masked",
     {0xd, INTEL, 0x50654, 0xfed83203, 0x78bfbfd, 0, 0x19803a9, 0x8, 0, 0, 0, 0, 0, 0x207, 1},
     IN64 | PORTS | ADX},
    {"shown: Icelake-Server, AVX-512 masked, VAES left",
     {0xd, INTEL, 0x80660, 0xfed83203, 0x78bfbfd, 0, 0x19803a9, 0x1020c, 0, 0, 0, 0, 0, 0x207, 1},
     IN64 | PORTS | ADX | F(VAES)},
    {"shown: Denverton",
     {0x15, INTEL, 0x506f1, 0xced8220b, 0x78bfbfd, 0, 0x904281, 0, 0, 0, 0, 0, 0, 0x1b, 1},
     IN64 | AES},
    {"shown: Snowridge",
     {0x1b, INTEL, 0x80661, 0xced8220b, 0x78bfbfd, 0, 0x1904281, 0x4, 0, 0, 0, 0, 0, 0x1b, 1},
     IN64 | AES},
    {"shown: kvm64",
     {0xd, INTEL, 0xf61, 0x80002001, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     IN64 | SSE2},
    {"shown: Opteron_G1",
     {0x5, AMD, 0xf61, 0x80000001, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     IN64 | SSE2},
    {"shown: Opteron_G3",
     {0x5, AMD, 0x100f23, 0x80802009, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
     IN64 | SSE2},
    {"shown: Opteron_G4",
     {0xd, AMD, 0x600f12, 0x9e982203, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | AVX},
    {"shown: Opteron_G5",
     {0xd, AMD, 0x600f20, 0xbe983203, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | AVX},
    {"shown: EPYC",
     {0xd, AMD, 0x800f12, 0xfed8320b, 0x78bfbfd, 0, 0x9801a9, 0, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | ADX},
    {"shown: EPYC-Milan",
     {0xd, AMD, 0xa00f11, 0xfed8320b, 0x78bfbfd, 0, 0x19803a9, 0xc, 0, 0, 0, 0, 0, 0x207, 1},
     IN64 | ADX},
    {"shown: Dhyana, PCLMULQDQ masked",
     {0xd, HYGON, 0x900f01, 0xfcd83209, 0x78bfbfd, 0, 0x9801a9, 0, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | (ADX & ~(F(AES) | F(PCLMUL)))},
    {"defined: Skylake-Server",
     {0xd, INTEL, 0x50654, 0x7ffa3203, 0x78bfbff, 0, 0xd19f0fb9, 0x8, 0, 0, 0, 0, 0, 0x2e7, 1},
     IN64 | PORTS | AVX512},
    {"defined: Cooperlake",
     {0xd, INTEL, 0x5065a, 0x7ffa3203, 0x78bfbff, 1, 0xd19f0fb9, 0x808, 0, 0, 0, 0, 0, 0x2e7, 1},
     IN64 | PORTS | AVX512},
    {"defined: Icelake-Server, by the model number of Tremont",
     {0xd, INTEL, 0x80660, 0x7ffa3203, 0x78bfbff, 0, 0xd19f0fb9, 0x15f4e, 0, 0, 0, 0, 0, 0x2e7, 1},
     IN64 | PORTS | ZMM | (VBMI & ~F(AVX512IFMA))},
    {"defined: Icelake-Server, by the model number of Ice Lake servers, with AVX-512 IFMA",
     {0xd, INTEL, 0x606a6, 0x7ffa3203, 0x78bfbff, 0, 0xd1bf0fb9, 0x15f4e, 0, 0, 0, 0, 0, 0x2e7, 1},
     IN64 | PORTS | ZMM | VBMI},
    {"defined: KnightsMill, AVX512F alone",
     {0xd, INTEL, 0x80650, 0x7ff83203, 0xf8bfbff, 0, 0x1c0d03a9, 0x4000, 0, 0, 0, 0, 0, 0xe7, 1},
     IN64 | ADX | F(AVX512F)},
    {"defined: EPYC-Milan",
     {0xd, AMD, 0xa00f11, 0x7eda320b, 0x78bfbff, 0, 0x219c07a9, 0x40000c, 0, 0, 0, 0, 0, 0x207, 1},
     IN64 | SHA | ADX},
    {"patch: GraniteRapids",
     {0x20, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0x4000, 0, 0, 0, 0x2e7,
      1},
     IN64 | SHA | PORTS | ZMM | VBMI},
    {"measured: EPYC Genoa",
     {0x1c, AMD, 0xa10f11, 0xfffa3203, 0x178bfbff, 1, 0xf1bf07ab, 0x405fc6, 0, 0, 0, 0, 0, 0xe7, 1},
     IN64 | SHA | ZMM | VBMI},
    {"measured: Granite Rapids, by the model number of Rocket Lake",
     {0x24, INTEL, 0xa0671, 0xfffa3203, 0x1f8bfbff, 2, 0xf1bf2ffb, 0x1a415f46, 0, 0x84000, 0x70001,
      0, 0, 0x600e7, 1},
     IN64 | SHA | PORTS | ZMM | VBMI},

    {"reported: Sierra Forest",
     {0x23, INTEL, 0xa06f3, 0x7ffef3ff, 0xefebffff, 1, 0x239cb7ef, 0xfb4027bc, 0x4c8809d0, 0, 0, 0,
      0, 0x207, 1},
     IN64 | SHA | ADX | F(GFNI) | F(VAES) | F(VPCLMUL) | F(AVXIFMA)},
    {"made: Sierra Forest, AVX2 masked",
     {0x23, INTEL, 0xa06f3, 0x7ffef3ff, 0xefebffff, 1, 0x239cb7cf, 0xfb4027bc, 0x4c8809d0, 0, 0, 0,
      0, 0x207, 1},
     IN64 | SHA | (ADX & ~F(AVX2)) | F(GFNI) | F(VAES) | F(VPCLMUL)},
    {"made: Sierra Forest, a system of SSE",
     {0x23, INTEL, 0xa06f3, 0x7ffef3ff, 0xefebffff, 1, 0x239cb7ef, 0xfb4027bc, 0x4c8809d0, 0, 0, 0,
      0, 0x3, 1},
     IN64 | SHA | AES | F(BMI2) | F(ADX) | F(GFNI)},
    {"made: Sierra Forest, without subleaf 1",
     {0x23, INTEL, 0xa06f3, 0x7ffef3ff, 0xefebffff, 0, 0x239cb7ef, 0xfb4027bc, 0x4c8809d0, 0, 0, 0,
      0, 0x207, 1},
     IN64 | SHA | ADX | F(GFNI) | F(VAES) | F(VPCLMUL)},

    /* Programs of 32 bits. */
    {"shown: pentium2",
     {0x2, INTEL, 0x652, 0x80000000, 0x183fbfd, 0, 0, 0, 0, 0, 0, 0x1, 0, 0, 0},
     MUL},
    {"shown: pentium3",
     {0x3, INTEL, 0x673, 0x80000000, 0x383fbfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     MUL},
    {"shown: athlon",
     {0x2, AMD, 0x623, 0x80000000, 0x783fbfd, 0, 0, 0, 0, 0, 0, 0x80000008, 0xc1c3f3fd, 0, 0},
     MUL | SSE2},
    {"shown: coreduo",
     {0xa, INTEL, 0x6e8, 0x80000009, 0xfc9fbfd, 0, 0, 0, 0, 0, 0, 0x80000008, 0x100000, 0, 0},
     MUL | SSE2},
    {"shown: n270",
     {0xa, INTEL, 0x106c2, 0x80400209, 0xfc9fbfd, 0, 0, 0, 0, 0, 0, 0x80000008, 0x100000, 0, 0},
     MUL | SSSE3},
    {"shown: kvm32, a Pentium 4 of 32 bits",
     {0x5, INTEL, 0xf61, 0x80000001, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0x80000008, 0, 0, 0},
     SSE2},
    {"shown: max, AMD's family 6",
     {0xd, AMD, 0x663, 0xfed8320b, 0xfcbfbfd, 0, 0x1d843a9, 0x8001020c, 0, 0, 0, 0x8000000a,
      0xcdd3f3fd, 0x21f, 0},
     MUL | ADX | F(VAES)},
    {"measured: EPYC Genoa",
     {0x1c, AMD, 0xa10f11, 0xfffa3203, 0x178bfbff, 1, 0xf1bf07ab, 0x405fc6, 0, 0, 0, 0x80000021,
      0x2fd3fbff, 0xe7, 0},
     MUL | SHA | ZMM | VBMI},
    {"made: a Pentium 4 of 64 bits",
     {0x5, INTEL, 0xf61, 0x80000001, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0x80000008, 0x20000000, 0, 0},
     MUL | SSE2},
    {"made: long mode in a leaf that is not there",
     {0x5, INTEL, 0xf61, 0x1, 0x78bfbfd, 0, 0, 0, 0, 0, 0, 0x80000000, 0x20000000, 0, 0},
     SSE2},
    {"made: another maker's family 6",
     {0x1, CENTAUR, 0x698, 0x1, 0x381b83f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     0},

    /* Registers that the operating system does not keep. */
    {"made: AVX-512, a system of AVX",
     {0x20, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0, 0, 0, 0, 0x7, 1},
     IN64 | SHA | PORTS | ADX | F(GFNI) | F(VAES) | F(VPCLMUL)},
    {"made: AVX-512, all but ZMM16-31",
     {0x20, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0, 0, 0, 0, 0x67, 1},
     IN64 | SHA | PORTS | ADX | F(GFNI) | F(VAES) | F(VPCLMUL)},
    {"made: AVX-512, all but the upper half of YMM",
     {0x20, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0, 0, 0, 0, 0xe3, 1},
     IN64 | SHA | PORTS | AES | F(BMI2) | F(ADX) | F(GFNI)},
    {"made: AVX-512, a system of SSE",
     {0x20, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0, 0, 0, 0, 0x3, 1},
     IN64 | SHA | PORTS | AES | F(BMI2) | F(ADX) | F(GFNI)},
    {"made: AVX-512 without OSXSAVE",
     {0x20, INTEL, 0xa06d0, 0x77fa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0, 0, 0, 0, 0xe7, 1},
     IN64 | SHA | PORTS | AES | F(BMI2) | F(ADX) | F(GFNI)},

    /* Hypervisors that mask some flags and leave those that build on them. */
    {"made: AVX masked",
     {0x20, INTEL, 0xa06d0, 0x6ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0, 0, 0, 0, 0xe7, 1},
     IN64 | SHA | PORTS | AES | F(BMI2) | F(ADX) | F(GFNI)},
    {"made: AVX2 masked",
     {0x20, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX & ~0x20u, GNR_ECX, 0, 0, 0, 0, 0,
      0xe7, 1},
     IN64 | SHA | PORTS | AVX | F(BMI2) | F(ADX) | F(GFNI) | F(VAES) | F(VPCLMUL)},
    {"made: AVX512F masked",
     {0x20, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX & ~0x10000u, GNR_ECX, 0, 0, 0, 0, 0,
      0xe7, 1},
     IN64 | SHA | PORTS | ADX | F(GFNI) | F(VAES) | F(VPCLMUL)},
    {"made: AES and PCLMULQDQ masked",
     {0x20, INTEL, 0xa06d0, 0x7dfa3201, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0, 0, 0, 0, 0xe7, 1},
     IN64 | SHA | PORTS | ZMM | (VBMI & ~(F(AES) | F(PCLMUL)))},
    {"made: leaf 7 masked by the greatest leaf",
     {0x6, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0, 0, 0, 0, 0xe7, 1},
     IN64 | PORTS | AVX},

    /* AVX10. */
    {"made: AVX10.1 with 512 bits, as QEMU's GraniteRapids-v2 has it",
     {0x24, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0x84000, 0x70001, 0, 0,
      0x2e7, 1},
     IN64 | SHA | PORTS | ZMM | VBMI},
    {"made: AVX10.1 with 256 bits, without the flags of AVX-512",
     {0x24, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX_256, GNR_ECX_256, 0, 0x84000, 0x30001,
      0, 0, 0xe7, 1},
     IN64 | SHA | PORTS | ADX | F(GFNI) | F(VAES) | F(VPCLMUL)},
    {"made: AVX10.1 with 256 bits and the flags of AVX-512",
     {0x24, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0x84000, 0x30001, 0, 0,
      0xe7, 1},
     IN64 | SHA | PORTS | ADX | F(GFNI) | F(VAES) | F(VPCLMUL)},
    {"made: AVX10's flag without leaf 24h",
     {0x20, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 1, GNR_EBX, GNR_ECX, 0, 0x84000, 0, 0, 0, 0xe7,
      1},
     IN64 | SHA | PORTS | ZMM | VBMI},
    {"made: AVX10's flag in a subleaf that is not there",
     {0x24, INTEL, 0xa06d0, 0x7ffa3203, 0x78bfbff, 0, GNR_EBX, GNR_ECX, 0, 0x84000, 0, 0, 0, 0xe7,
      1},
     IN64 | SHA | PORTS | ZMM | VBMI},

    /* Impossible. */
    {"made: no leaf at all",
     {0, INTEL, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0, ~0u, ~0u, 1},
     IN64},
    {"made: no leaf at all, 32 bits",
     {0, INTEL, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0, ~0u, ~0u, 0},
     0},
    {"made: all zero", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0},
    {"made: all flags without SSE2",
     {0x24, AMD, 0xf00, ~0u, ~0u & ~(1u << 26), 1, ~0u, ~0u, 0, 0, 0, 0, 0, ~0u, 1},
     IN64 | F(BMI2) | F(ADX)},
    {"made: every bit",
     {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 1},
     IN64 | SHA | ZMM | VBMI | F(AVXIFMA) | F(SHA512)},
};

#undef F
#undef SSE2
#undef SSSE3
#undef SSE41
#undef AES
#undef AVX
#undef AVX2
#undef ADX
#undef AVX512
#undef VBMI
#undef IN64
#undef ZMM
#undef MUL

#endif
