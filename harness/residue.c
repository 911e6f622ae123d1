/* SPDX-License-Identifier: MIT */
/* The stack of a call's own, and what differs on it between two versions of the secrets. */
#include "residue.h"

#include <stdio.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/isa.h"

#include "port/port.h"
#include "registers.h"

#define PAINT 0xc5
#define WINDOW 8           /* differing bytes side by side that are no coincidence */
#define STACK_BYTES 24576  /* a public call needs a few frames of at most 1 KiB */
#define DISTANCE_BYTES 4096 /* of what the harness does on that stack from the
                             * call that is looked at */
#define MOST_OPERATIONS 48

/* Only an optimised build says something about the source: without optimisation every value passes
 * through memory that no source can name, and sanitizers keep copies of their own. */
#if defined(__SANITIZE_ADDRESS__)
#define INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define INSTRUMENTED 1
#endif
#endif
#if !defined(INSTRUMENTED) && defined(__OPTIMIZE__)
#define INSTRUMENTED 0
#elif !defined(INSTRUMENTED)
#define INSTRUMENTED 1
#endif

/* Architectures for which the frames of the library were compared with the reach of `clear`. */
#if EVC_X86 || EVC_A64 || EVC_A32 || defined(__riscv) || defined(__powerpc64__) || \
    defined(__s390x__) || (defined(__mips__) && !EVC_WORD64) || defined(__m68k__) ||               \
    defined(__hppa__)
#define COVERED 1
#else
#define COVERED 0
#endif

/* ---- The call -------------------------------------------------------------------------------- */

static EVC_ALIGN(64) uint8_t own_stack[STACK_BYTES];
static uint8_t *caller; /* the stack pointer of the call's caller */
static unsigned n_registers, register_bytes;

/* The stack and the vector registers after one call. */
static struct left {
    uint8_t stack[STACK_BYTES];
    struct registers registers;
    uint8_t given[RESIDUE_GIVEN_BYTES];
} left[2];

#if EVC_X86_64
#define READ_STACK_POINTER(p) __asm__ volatile("mov %%rsp, %0" : "=r"(p))
#elif EVC_X86
#define READ_STACK_POINTER(p) __asm__ volatile("mov %%esp, %0" : "=r"(p))
#elif EVC_A64 || EVC_A32
#define READ_STACK_POINTER(p) __asm__ volatile("mov %0, sp" : "=r"(p))
#else /* the frame of the harness counts too; it holds no secret */
#define READ_STACK_POINTER(p) ((p) = __builtin_frame_address(0))
#endif

/* Bytes at the caller's stack pointer that belong to the function that is called: on Windows it may
 * write its arguments there, or anything else. */
#if EVC_X86_64 && EVC_COFF
#define CALLEE_ABOVE 32
#else
#define CALLEE_ABOVE 0
#endif

/* A function saves registers of its caller in its frame, which is not cleared. Those of the harness
 * may still hold secrets that it has made up. */
#if defined(__powerpc64__)
#define FORGET_OWN_REGISTERS()                                                                  \
    __asm__ volatile("li 14,0\n\tli 15,0\n\tli 16,0\n\tli 17,0\n\tli 18,0\n\tli 19,0\n\t"        \
                     "li 20,0\n\tli 21,0\n\tli 22,0\n\tli 23,0\n\tli 24,0\n\tli 25,0\n\tli 26,0" \
                     :                                                                          \
                     :                                                                          \
                     : "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23",    \
                       "r24", "r25", "r26")
#elif EVC_X86_64 && !EVC_COFF
#define FORGET_OWN_REGISTERS()                                                                     \
    __asm__ volatile("xor %%r12d, %%r12d\n\txor %%r13d, %%r13d\n\txor %%r14d, %%r14d\n\t"         \
                     "xor %%r15d, %%r15d\n\txor %%ebx, %%ebx"                                      \
                     :                                                                             \
                     :                                                                             \
                     : "r12", "r13", "r14", "r15", "rbx", "cc")
#elif EVC_A64
#define FORGET_OWN_REGISTERS()                                                                     \
    __asm__ volatile("mov x20, xzr\n\tmov x21, xzr\n\tmov x22, xzr\n\tmov x23, xzr\n\t"           \
                     "mov x24, xzr\n\tmov x25, xzr\n\tmov x26, xzr\n\tmov x27, xzr\n\t"           \
                     "mov x28, xzr"                                                                \
                     :                                                                             \
                     :                                                                             \
                     : "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28")
#else
#define FORGET_OWN_REGISTERS() ((void)0)
#endif

#if EVC_A32_SIMD
EVC_ISA_BEGIN(A32_NEON)
#elif EVC_PPC64_SIMD
EVC_ISA_BEGIN(PPC_VCRYPTO)
#endif
static __attribute__((noinline)) void make_call(void (*make)(void), struct registers *after)
{
    FORGET_OWN_REGISTERS();
    registers_clear(n_registers, register_bytes);
    READ_STACK_POINTER(caller);
    caller += CALLEE_ABOVE;
    make();
    registers_read(after, n_registers, register_bytes);
}
#if EVC_A32_SIMD || EVC_PPC64_SIMD
EVC_ISA_END
#endif

void residue_arguments_end_at(uintptr_t address)
{
    caller = own_stack + (address - (uintptr_t)own_stack);
}

struct errand {
    const struct residue_call *call;
    struct left *left;
};

/* Everything that this function does after the call is done above the frame of make_call. */
static void on_own_stack(void *verrand)
{
    const struct errand *e = verrand;
    volatile uint8_t distance[DISTANCE_BYTES];

    distance[0] = 0;
    make_call(e->call->make, &e->left->registers);
    distance[DISTANCE_BYTES - 1] = distance[0];
}

static bool run(const struct residue_call *call, unsigned version)
{
    struct errand e = {call, &left[version]};

    call->prepare(version);
    memset(&e.left->registers, 0, sizeof e.left->registers);
    memset(own_stack, PAINT, sizeof own_stack);
    if (!port_on_stack(on_own_stack, &e, own_stack, sizeof own_stack))
        return false;
    memcpy(e.left->stack, own_stack, sizeof own_stack);
    if (call->given_bytes)
        memcpy(e.left->given, call->given, call->given_bytes);
    return true;
}

static void do_nothing(void)
{
}

static void prepare_nothing(unsigned version)
{
    (void)version;
}

const char *residue_unavailable(void)
{
    static const struct residue_call nothing = {.prepare = prepare_nothing, .make = do_nothing};

    if (!COVERED)
        return "what calls leave behind is not measured on this platform";
    if (INSTRUMENTED)
        return "not an optimised build, or a sanitizer";
    n_registers = registers_count(evc_cpu_features());
    register_bytes = registers_bytes(evc_cpu_features());
    return run(&nothing, 0) ? NULL : "no stack of its own on this system";
}

/* ---- What differs ---------------------------------------------------------------------------- */

/* One operation's calls. */
static struct finding {
    const char *operation;
    unsigned n_calls, n_leaving;
    size_t deepest;   /* bytes below the caller, over all calls */
    char first[448];    /* words about the first call that left something */
} findings[MOST_OPERATIONS];
static size_t n_findings;

/* Bytes that differ in both versions, from first to first + n_bytes. */
struct stretch {
    size_t first, n_bytes;
};

static bool is_given(const struct residue_call *call, const uint8_t *a, const uint8_t *b, size_t at,
                     size_t n)
{
    size_t most = call->given_bytes < WINDOW ? call->given_bytes : WINDOW;

    if (!most || n - at < most)
        return false;
    for (size_t i = 0; i + most <= call->given_bytes; i++)
        if (memcmp(a + at, left[0].given + i, most) == 0 &&
            memcmp(b + at, left[1].given + i, most) == 0)
            return true;
    return false;
}

/* The first stretch of at least WINDOW bytes at or after from; n_bytes 0: none. */
static struct stretch next_stretch(const struct residue_call *call, const uint8_t *a,
                                   const uint8_t *b, size_t from, size_t n)
{
    struct stretch s = {from, 0};
    size_t given_until = 0;

    for (size_t i = from; i < n; i++) {
        if (s.n_bytes == 0 && i % 64 == 0)
            while (i + 64 <= n && memcmp(a + i, b + i, 64) == 0)
                i += 64;
        if (i == n)
            break;
        if (a[i] != b[i] && is_given(call, a, b, i, n))
            given_until = i + (call->given_bytes < WINDOW ? call->given_bytes : WINDOW);
        if (a[i] == b[i] || i < given_until) {
            if (s.n_bytes >= WINDOW)
                return s;
            s.n_bytes = 0;
            continue;
        }
        if (s.n_bytes == 0)
            s.first = i;
        s.n_bytes++;
    }
    if (s.n_bytes < WINDOW)
        s.n_bytes = 0;
    return s;
}

/* Words about a secret of version 1 that is among these bytes; else that they are
 * of no form known here. */
static void name_it(char *words, size_t n_words, const struct residue_call *call,
                    const uint8_t *bytes, size_t n)
{
    for (size_t s = 0; s < RESIDUE_SECRETS; s++) {
        const struct residue_secret *secret = &call->secrets[s];
        for (size_t at = 0; secret->bytes && at + WINDOW <= secret->len_bytes; at++)
            for (size_t i = 0; i + WINDOW <= n; i++)
                if (memcmp(secret->bytes + at, bytes + i, WINDOW) == 0) {
                    snprintf(words, n_words, "bytes %zu to %zu of the %s", at, at + WINDOW - 1,
                             secret->name);
                    return;
                }
    }
    snprintf(words, n_words, "a value that comes from secrets");
}

static struct finding *finding_of(const struct residue_call *call)
{
    for (size_t i = 0; i < n_findings; i++)
        if (strcmp(findings[i].operation, call->operation) == 0)
            return &findings[i];
    if (n_findings < MOST_OPERATIONS)
        n_findings++;
    findings[n_findings - 1] = (struct finding){.operation = call->operation};
    return &findings[n_findings - 1];
}

/* The bytes below the caller, as an interval of own_stack. */
static struct stretch below_caller(void)
{
    size_t at = (size_t)(caller - own_stack);

#if defined(__hppa__) /* the stack grows upwards */
    return (struct stretch){at, STACK_BYTES - at};
#else
    return (struct stretch){0, at};
#endif
}

static size_t depth(const struct stretch *s)
{
    size_t at = (size_t)(caller - own_stack);

#if defined(__hppa__)
    return s->first + s->n_bytes - at;
#else
    return at - s->first;
#endif
}

/* Finds the secrets that are left on the stack, and how deep they lie; words
 * describe the first of them. */
static void look_at_stack(const struct residue_call *call, struct finding *f, char *words,
                          size_t n_words)
{
    const struct stretch all = below_caller();
    const uint8_t *a = left[0].stack + all.first, *b = left[1].stack + all.first;
    size_t n_left = 0;
    char name[80] = "";

    for (struct stretch s = next_stretch(call, a, b, 0, all.n_bytes); s.n_bytes;
         s = next_stretch(call, a, b, s.first + s.n_bytes, all.n_bytes)) {
        struct stretch place = {all.first + s.first, s.n_bytes};
        n_left += s.n_bytes;
        if (depth(&place) > f->deepest)
            f->deepest = depth(&place);
        if (!name[0] || name[0] == 'a')
            name_it(name, sizeof name, call, b + s.first, s.n_bytes);
        if (words[0] == 0)
            snprintf(words, n_words, "%zu bytes below the caller", depth(&place));
    }
    if (n_left) {
        size_t n = strlen(words);
        snprintf(words + n, n_words - n, " begin %zu bytes: %s", n_left, name);
    }
}

static void look_at_registers(const struct residue_call *call, char *words, size_t n_words)
{
    char name[80];

    for (unsigned i = 0; i < n_registers; i++) {
        const uint8_t *a = left[0].registers.bytes + i * register_bytes,
                      *b = left[1].registers.bytes + i * register_bytes;
        struct stretch s = next_stretch(call, a, b, 0, register_bytes);
        if (!s.n_bytes)
            continue;
        name_it(name, sizeof name, call, b + s.first, s.n_bytes);
        snprintf(words, n_words, "vector register %u: %s", i, name);
        return;
    }
}

void residue_begin(void)
{
    n_findings = 0;
}

void residue_look(struct check *c, const struct residue_call *call)
{
    static const char *warm; /* an operation's first call may resolve symbols on the stack */
    struct finding *f = finding_of(call);
    char stack[160] = "", registers[120] = "";

    if (warm != call->operation)
        run(call, 0);
    warm = call->operation;
    run(call, 0);
    run(call, 1);
    c->cases++;
    f->n_calls++;
    look_at_stack(call, f, stack, sizeof stack);
    look_at_registers(call, registers, sizeof registers);
    if ((stack[0] || registers[0]) && f->n_leaving++ == 0)
        snprintf(f->first, sizeof f->first, "%s: %s%s%s", call->sizes, stack,
                 stack[0] && registers[0] ? "; " : "", registers);
}

enum result residue_verdict(struct check *c)
{
    char *to = c->detail;
    size_t room = sizeof c->detail;

    c->detail[0] = 0;
    for (size_t i = 0; i < n_findings && room > 1; i++) {
        const struct finding *f = &findings[i];
        if (!f->n_leaving)
            continue;
        int n = snprintf(
            to, room,
            "%s%s leaves secrets behind in %u of %u calls, on the stack down to %zu bytes; %s",
            to == c->detail ? "" : " | ", f->operation, f->n_leaving, f->n_calls, f->deepest,
            f->first);
        if (n < 0 || (size_t)n >= room)
            break;
        to += n, room -= (size_t)n;
    }
    return to == c->detail ? PASS : FAIL;
}
