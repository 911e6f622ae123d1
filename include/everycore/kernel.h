/* SPDX-License-Identifier: MIT */
/*
 * Types that all kernels share, and how one is chosen.
 *
 * A kernel is one implementation of a primitive: one file, one line of src/kernels.def, one
 * constant descriptor evc_<primitive>_<name> that begins with struct evc_kernel.
 */
#ifndef EVERYCORE_KERNEL_H
#define EVERYCORE_KERNEL_H

#include "everycore/everycore.h"
#include "everycore/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the running time depends on secrets. */
enum evc_timing {
    EVC_TIMING_CT = 0,   /* no secret-dependent branch or address */
    EVC_TIMING_HARDENED, /* a small table, read into the cache first: leaks less
                          * than a table, but is not constant-time */
    EVC_TIMING_VARTIME   /* secret-dependent table look-ups: leaks through the cache */
};

/* The work for which a kernel is made, and which a mode has to do. */
enum evc_use {
    EVC_USE_ANY = 0,
    EVC_USE_PARALLEL, /* many independent blocks; everycore/modes.h has the use of each mode */
    EVC_USE_SERIAL,   /* one chain, in which each block waits for the one before */
    EVC_USE_SHA256,   /* of SHA-2: SHA-224 and SHA-256 */
    EVC_USE_SHA512    /* of SHA-2: SHA-384, SHA-512 and SHA-512/256 */
};

/* Policy: 0 allows EVC_TIMING_CT only. ALLOW_VARTIME also allows kernels that multiply where it is
 * not known that the CPU does so in constant time (the feature CT_MUL, everycore/cpu.h). */
#define EVC_ALLOW_HARDENED 1u
#define EVC_ALLOW_VARTIME 2u

/*
 * Functions *_set_best select a kernel and set up a key in one call: for a mode by its use, for big
 * numbers by their length. features, policy: as for evc_aes_select. These functions do not ask the
 * CPU, which takes microseconds, and which firmware does in other ways: call evc_cpu_features() of
 * everycore/cpu.h once, and pass its result. Errors are those of the mode's other functions that
 * set up keys. A program that calls one of them links the kernels that it may select; one that
 * names its kernel links that kernel alone.
 */

/* Traits of a kernel: bits of its member `traits`. */
#define EVC_KEY_FIPS197 1u      /* round keys in the order of FIPS 197: kernels
                                 * with it share one key */

/* Vector registers in which operations of a kernel may leave secrets. Within one architecture, a
 * higher number includes the lower ones. */
enum evc_registers {
    EVC_REGISTERS_NONE = 0,
    EVC_REGISTERS_XMM = 1,     /* x86: xmm0 to xmm15 */
    EVC_REGISTERS_YMM = 2,     /* x86: the same, in AVX code, which clears upper halves itself */
    EVC_REGISTERS_ZMM = 3,     /* x86: xmm16 to xmm31, too */
    EVC_REGISTERS_VFP = 1,     /* 32-bit Arm: d0 to d7 */
    EVC_REGISTERS_NEON = 2,    /* Arm: all that a call may change */
    EVC_REGISTERS_ALTIVEC = 1, /* 64-bit POWER: those of AltiVec that a call may change */
    EVC_REGISTERS_VSX = 2,     /* 64-bit POWER: those under floating point, too */
    EVC_REGISTERS_V = 1,       /* 64-bit RISC-V: all vector registers */
    EVC_REGISTERS_VX = 1,      /* IBM Z: those of vectors that a call may change */
    EVC_REGISTERS_HPPA_FP = 1  /* PA-RISC: those for floating point that a call may change */
};

struct evc_kernel {
    const char *name;   /* the file's stem: "x86_aesni" */
    uint64_t needs;     /* feature bits, EVC_CPU(...) of its architecture */
    uint32_t traits;    /* EVC_KEY_... */
    uint32_t key_bytes; /* size of a key of this kernel, head included */
    uint32_t key_align; /* alignment of a key in bytes: 16; a kernel with a larger one is refused */
    uint8_t timing;     /* enum evc_timing */
    uint8_t use;        /* enum evc_use */
    uint8_t batch;      /* blocks that it computes at once; modes pass that many if they can */

    /* Operations of the kernel may leave secrets in these registers, and in `stack_bytes` bytes of
     * the stack below their caller. Every public function clears both once, after its last
     * operation, by clear(stack_bytes): the same function for all kernels with these registers. */
    uint8_t registers;    /* enum evc_registers */
    uint16_t stack_bytes; /* a multiple of 64 */
    void (*clear)(size_t stack_bytes);
};

/*
 * Nonzero if a kernel that is asked for by name runs on a CPU with these features, with the timing
 * class that its descriptor has:
 *
 *     if (evc_kernel_runs(evc_aes_kernel(evc_aes_named("x86_aesni")), evc_cpu_features()))
 *
 * Tuning bits (EVC_TUNE_*) are ignored. A constant-time kernel that multiplies needs the feature
 * ct-mul; to run it although its time may depend on the operands, add EVC_CPU(CT_MUL) to the
 * features. If kernel is NULL, the result is 0.
 */
static inline int evc_kernel_runs(const struct evc_kernel *kernel, uint64_t features)
{
    return kernel && (kernel->needs & ~EVC_TUNE_MASK & ~features) == 0;
}

/* ---- The registry as plain facts: every line of kernels.def, on every host ------------------- */

struct evc_registry_line {
    const char *primitive; /* "aes" */
    const char *name;
    const char *isa;       /* "X86_AESNI" */
    uint64_t needs;
    uint8_t arch;          /* enum evc_arch; EVC_ARCH_OTHER: every architecture */
    uint8_t timing;        /* enum evc_timing */
    uint8_t use;           /* enum evc_use */
    uint8_t built;         /* 1 if this library contains it */
    uint8_t by_name;       /* 1: never selected, by name only */
    uint8_t in_pairs;      /* 1: selection takes it for pairs of GCM (everycore/gcm.h) */
};

/* Why a line does not serve a request; 0 means that it does. */
enum evc_unfit {
    EVC_FITS = 0,
    EVC_UNFIT_PRIMITIVE, /* another primitive */
    EVC_UNFIT_ARCH,      /* another architecture */
    EVC_UNFIT_FEATURE,   /* a feature is missing */
    EVC_UNFIT_TIMING,    /* its timing class is not allowed by the policy */
    EVC_UNFIT_USE        /* the kernel is SERIAL, PARALLEL was requested; or the reverse */
};

/* The lines in order of priority; NULL past the end. */
EVC_API const struct evc_registry_line *evc_registry_at(unsigned index);

/* The first reason why a line does not serve a request, or EVC_FITS. Arguments: as evc_resolve. */
EVC_API enum evc_unfit evc_unfit(const struct evc_registry_line *line, enum evc_arch arch,
                                 const char *primitive, uint64_t features, unsigned policy,
                                 enum evc_use use);

/*
 * The first line that serves the request, or NULL. The result depends on the arguments alone, so
 * any machine can answer for any CPU. primitive: "aes". With use EVC_USE_ANY every kernel's use
 * fits.
 */
EVC_API const struct evc_registry_line *evc_resolve(enum evc_arch arch, const char *primitive,
                                                    uint64_t features, unsigned policy,
                                                    enum evc_use use);

#ifdef __cplusplus
}
#endif
#endif
