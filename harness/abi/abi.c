/* SPDX-License-Identifier: MIT */
/* Checks that a function keeps the calling convention: values before and after a call,
 * and modes of the CPU. */
#include "abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "everycore/everycore.h"
#include "everycore/isa.h"

#include "common/bytes.h"

#include "frame.h"

struct abi_frame {
    EVC_ALIGN(16) uint64_t integers[2][ABI_INTEGERS], vectors[2][ABI_VECTORS]; /* before, after */
    uint64_t stack[2], own_stack, flags, has_altivec;
};

_Static_assert(offsetof(struct abi_frame, integers[1]) == ABI_INTEGERS_AFTER, "frame.h");
_Static_assert(offsetof(struct abi_frame, vectors[0]) == ABI_VECTORS_BEFORE, "frame.h");
_Static_assert(offsetof(struct abi_frame, vectors[1]) == ABI_VECTORS_AFTER, "frame.h");
_Static_assert(offsetof(struct abi_frame, stack[0]) == ABI_STACK_BEFORE, "frame.h");
_Static_assert(offsetof(struct abi_frame, stack[1]) == ABI_STACK_AFTER, "frame.h");
_Static_assert(offsetof(struct abi_frame, own_stack) == ABI_STACK_OWN, "frame.h");
_Static_assert(offsetof(struct abi_frame, flags) == ABI_FLAGS, "frame.h");
_Static_assert(offsetof(struct abi_frame, has_altivec) == ABI_HAS_ALTIVEC, "frame.h");

/* The registers that a function restores, in the order of the trampoline. */
#if defined(ABI_X86_64_SYSV)
#define INTEGERS "rbx", "rbp", "r12", "r13", "r14", "r15"
#elif defined(ABI_X86_64_WINDOWS)
#define INTEGERS "rbx", "rbp", "r12", "r13", "r14", "r15", "rdi", "rsi"
#define VECTOR_NAME "xmm%u"
#define FIRST_VECTOR 6
#define N_VECTORS 10
#define VECTOR_WORDS 2
#elif defined(ABI_I386)
#define INTEGERS "ebx", "esi", "edi", "ebp"
#elif defined(ABI_A64)
#define INTEGERS "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29"
#define VECTOR_NAME "d%u"
#define FIRST_VECTOR 8
#define N_VECTORS 8
#elif defined(ABI_A32)
#define INTEGERS "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11"
#define VECTOR_NAME "d%u"
#define FIRST_VECTOR 8
#define N_VECTORS 8
#elif defined(ABI_RISCV)
#define INTEGERS "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11"
#if defined(ABI_RISCV_FLOAT)
#define VECTOR_NAME "fs%u"
#define FIRST_VECTOR 0
#define N_VECTORS 12
#endif
#elif defined(ABI_PPC64)
#define INTEGERS                                                                               \
    "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", \
        "r27", "r28", "r29", "r30", "r31", "cr2 to cr4"
#define VECTOR_NAME "f%u"
#define FIRST_VECTOR 14
#define N_VECTORS 18
#define FIRST_ALTIVEC 20 /* registers of 16 bytes, behind the others */
#define N_ALTIVEC 12
#elif defined(ABI_S390X)
#define INTEGERS "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13"
#define VECTOR_NAME "f%u"
#define FIRST_VECTOR 8
#define N_VECTORS 8
#elif defined(ABI_HPPA)
#define INTEGERS                                                                               \
    "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16", \
        "r17", "r18", "r27"
#define VECTOR_NAME "fr%u"
#define FIRST_VECTOR 12
#define N_VECTORS 10
#endif

#if defined(INTEGERS)

#if defined(N_VECTORS) && !defined(VECTOR_WORDS)
#define VECTOR_WORDS 1
#endif

extern struct abi_frame abi_frame; /* trampolines know its name */
struct abi_frame abi_frame;
void abi_trampoline(void (*run)(void *), void *argument);

const char *abi_missing(void)
{
    return NULL;
}

/* ---- Modes of the CPU ------------------------------------------------------------------------ */

struct modes {
    uint32_t vector;   /* control bits of floating point and vectors:
                        * rounding, exceptions, flushing */
    uint32_t x87;      /* control word */
    bool x87_in_use;   /* a register of x87 is not empty, as after MMX without EMMS */
    bool upper_halves; /* bits above 128 of a vector register are in use */
};

#if EVC_X86
struct cpuid {
    uint32_t a, b, c, d;
};

static struct cpuid cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct cpuid r = {leaf, 0, subleaf, 0};

    __asm__ volatile("cpuid" : "+a"(r.a), "=b"(r.b), "+c"(r.c), "=d"(r.d));
    return r;
}

/* Parts of the vector state in use (Intel SDM, 2024, volume 1, section 13.6): bits 128 to 255, and
 * 256 to 511 of the first 16 registers. Those of registers 16 to 31 and of masks are left out:
 * vzeroupper does not touch them, and they slow nothing down. */
static bool upper_halves_in_use(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return (low & 0x44) != 0;
}

/* Asked once: a hypervisor that answers may bring back vector registers as in use. */
static bool has_avx(void) /* and XGETBV for programs */
{
    static int known; /* 1: no, 2: yes */

    if (!known)
        known = 1 + ((cpuid(1, 0).c >> 27 & 3) == 3);
    return known == 2;
}

static bool has_sse(void)
{
    static int known;

    if (!known)
        known = 1 + (cpuid(1, 0).d >> 25 & 1);
    return known == 2;
}

/* Not inlined, so that the compiler expects no vector register to survive them. */
EVC_OUT_OF_LINE void clear_upper_halves(void)
{
    __asm__ volatile("vzeroupper" : : : "memory");
}

EVC_OUT_OF_LINE void use_upper_halves(void)
{
    __asm__ volatile("vcmptrueps %%ymm0, %%ymm0, %%ymm0" : : : "memory");
}

/* Emulators say that all is in use. Programs of 32 bits cannot clear registers 8 to 15,
 * so these may be in use. */
int abi_sees_upper_halves(void)
{
    static int known; /* 1: no, 2: yes */

    if (!known) {
        known = 1;
        if (EVC_X86_64 && has_avx() && cpuid(0, 0).a >= 13 && (cpuid(13, 1).a & 4)) {
            bool cleared, used;
            clear_upper_halves();
            cleared = !upper_halves_in_use();
            use_upper_halves();
            used = upper_halves_in_use();
            clear_upper_halves();
            known += cleared && used;
        }
    }
    return known == 2;
}

static struct modes modes_now(void)
{
    struct modes m = {0, 0, false, false};
    uint16_t environment[14]; /* of x87: control word, ..., tag word, ... */

    m.upper_halves = abi_sees_upper_halves() && upper_halves_in_use();
    if (has_sse()) {
        __asm__ volatile("stmxcsr %0" : "=m"(m.vector));
        m.vector &= 0xffc0; /* without the flags of exceptions that happened */
    }
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "=m"(environment));
    m.x87 = environment[0];
    m.x87_in_use = environment[4] != 0xffff;
    return m;
}

static void repair(const struct modes *before)
{
    static const uint32_t usual = 0x1f80;
    const uint16_t control = (uint16_t)before->x87;

    if (has_avx())
        clear_upper_halves();
    if (has_sse())
        __asm__ volatile("ldmxcsr %0" : : "m"(usual));
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(control));
}

#else

int abi_sees_upper_halves(void)
{
    return 0;
}

#if defined(ABI_HPPA)
static uint32_t hppa_status(void)
{
    uint64_t status; /* the upper half of fr0 */

    __asm__ volatile("fstds %%fr0, 0(%1)" : "=m"(status) : "r"(&status));
    return (uint32_t)(status >> 32);
}
#elif defined(ABI_PPC64) && defined(__linux__)
unsigned long getauxval(unsigned long type);
#define AT_HWCAP 16
#define HAS_ALTIVEC 0x10000000
#endif

static struct modes modes_now(void)
{
    struct modes m = {0, 0, false, false};
#if defined(ABI_A64)
    uint64_t fpcr;

    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    m.vector = (uint32_t)fpcr;
#elif defined(ABI_A32)
    __asm__ volatile("vmrs %0, fpscr" : "=r"(m.vector));
    m.vector &= 0x07ff9f00; /* without the flags of results and of exceptions that happened */
#elif defined(ABI_RISCV_FLOAT)
    uint64_t mode;

    __asm__ volatile("frrm %0" : "=r"(mode));
    m.vector = (uint32_t)mode;
#elif defined(ABI_PPC64)
    double status;
    uint64_t bits;

    __asm__ volatile("mffs %0" : "=d"(status));
    memcpy(&bits, &status, sizeof bits);
    m.vector = bits & 0xff; /* exceptions enabled, and rounding */
#elif defined(ABI_S390X)
    __asm__ volatile("efpc %0" : "=d"(m.vector));
    m.vector &= 0xf8000077; /* exceptions enabled, and rounding */
#elif defined(ABI_HPPA)
    m.vector = hppa_status() & 0x63f; /* rounding, flushing, and exceptions enabled */
#endif
    return m;
}

static void repair(const struct modes *before)
{
#if defined(ABI_A64)
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)before->vector));
#elif defined(ABI_A32)
    __asm__ volatile("vmsr fpscr, %0" : : "r"(before->vector));
#elif defined(ABI_RISCV_FLOAT)
    __asm__ volatile("fsrm %0" : : "r"((uint64_t)before->vector));
#elif defined(ABI_PPC64)
    const uint64_t bits = before->vector;
    double status;

    memcpy(&status, &bits, sizeof status);
    __asm__ volatile("mtfsf 0x03, %0" : : "d"(status));
#elif defined(ABI_S390X)
    __asm__ volatile("sfpc %0" : : "d"(before->vector));
#elif defined(ABI_HPPA)
    const uint64_t status = (uint64_t)before->vector << 32;

    __asm__ volatile("fldds 0(%0), %%fr0" : : "r"(&status), "m"(status));
#else
    (void)before;
#endif
}
#endif

/* ---- The call -------------------------------------------------------------------------------- */

/* Any values that no function leaves by chance; as long as the registers are. */
static void fill(void)
{
    uint64_t x = UINT64_C(0x8d1f6b2e94c05a37);

    memset(&abi_frame, 0, sizeof abi_frame);
    for (size_t i = 0; i < ABI_INTEGERS; i++, x = x * 0x5851f42d + 0x14057b7f)
        memcpy(&abi_frame.integers[0][i], &x, sizeof(void *));
    for (size_t i = 0; i < ABI_VECTORS; i++, x = x * 0x5851f42d + 0x14057b7f)
        abi_frame.vectors[0][i] = x;
#if defined(HAS_ALTIVEC)
    abi_frame.has_altivec = getauxval(AT_HWCAP) & HAS_ALTIVEC;
#endif
}

static const char *changed_register(void)
{
    static const char *const integers[] = {INTEGERS};
    static char text[64];

    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        if (abi_frame.integers[0][i] != abi_frame.integers[1][i]) {
            snprintf(text, sizeof text, "it does not restore %s", integers[i]);
            return text;
        }
#if defined(N_VECTORS)
    for (unsigned i = 0; i < N_VECTORS * VECTOR_WORDS; i++)
        if (abi_frame.vectors[0][i] != abi_frame.vectors[1][i]) {
            snprintf(text, sizeof text, "it does not restore " VECTOR_NAME,
                     FIRST_VECTOR + i / VECTOR_WORDS);
            return text;
        }
#endif
#if defined(N_ALTIVEC)
    for (unsigned i = 0; i < 2 * N_ALTIVEC && abi_frame.has_altivec; i++)
        if (abi_frame.vectors[0][N_VECTORS + i] != abi_frame.vectors[1][N_VECTORS + i]) {
            snprintf(text, sizeof text, "it does not restore v%u", FIRST_ALTIVEC + i / 2);
            return text;
        }
#endif
    return NULL;
}

static const char *changed_mode(const struct modes *before, const struct modes *after)
{
    if (before->vector != after->vector)
        return "it changes the modes of floating point";
    if (before->x87 != after->x87)
        return "it changes the control word of x87";
    if (after->x87_in_use)
        return "it leaves x87 in the state of MMX";
    if (after->upper_halves && !before->upper_halves)
        return "it leaves upper halves of vector registers in use: no vzeroupper";
    return NULL;
}

static const char *call_once(void (*run)(void *), void *argument, bool *upper_halves_only)
{
    struct modes before, after;
    const char *what, *mode;

    fill();
#if EVC_X86
    if (has_avx())
        clear_upper_halves();
#endif
    before = modes_now();
    abi_trampoline(run, argument);
    after = modes_now();
    mode = changed_mode(&before, &after);
    if (mode)
        repair(&before);
    what = abi_frame.stack[0] != abi_frame.stack[1]  ? "it moves the stack pointer"
           : EVC_X86 && (abi_frame.flags & 0x400) ? "it leaves the direction flag set"
                                                     : changed_register();
    *upper_halves_only = !what && mode && after.upper_halves;
    return what ? what : mode;
}

/* An interrupt in between may bring back upper halves as in use that are not: that alone has
 * to happen three times. */
const char *abi_call(void (*run)(void *), void *argument)
{
    bool upper_halves_only = false;
    const char *what = call_once(run, argument, &upper_halves_only);

    for (int i = 0; i < 2 && upper_halves_only; i++)
        what = call_once(run, argument, &upper_halves_only);
    return what;
}

#else

const char *abi_missing(void)
{
    return "no calling convention of this architecture is known here";
}

const char *abi_call(void (*run)(void *), void *argument)
{
    run(argument);
    return NULL;
}

int abi_sees_upper_halves(void)
{
    return 0;
}

#endif
