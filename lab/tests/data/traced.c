/* SPDX-License-Identifier: MIT */
/*
 * A program for the tests of everycore.trace: `traced CASE`. A case is a function; it is
 * called with the secrets 0 to 3, each call between region_begin and region_end. The cases of
 * x86 are in traced_x86.S.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

NOINLINE void region_begin(void)
{
    __asm__ volatile("");
}
NOINLINE void region_end(void)
{
    __asm__ volatile("");
}

extern unsigned char table[4096];
unsigned char table[4096] __attribute__((aligned(4096))) = {1, 2, 3, 4};
static volatile uint32_t result;

NOINLINE static void branches(unsigned long secret)
{
    if (secret & 1)
        result = 5;
}

NOINLINE static void looks_up(unsigned long secret)
{
    result = table[secret * 64];
}

NOINLINE static void scans(unsigned long secret)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 256; i++) {
        uint32_t mask = -(uint32_t)(i == secret);
        __asm__("" : "+r"(mask)); /* a value that the compiler does not know: GCC 14 would branch */
        sum += table[i] & mask;
    }
    result = sum;
}

NOINLINE static void recurses(unsigned long n)
{
    if (n != 0)
        recurses(n - 1);
    result = (uint32_t)n;
}

NOINLINE static void crashes(unsigned long secret)
{
    if (secret == 2)
        __builtin_trap();
}

#if defined __x86_64__
/* ---- Places where the CPU says that an access was
 * ------------------------------------------------ */
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

void calls_with_arguments(unsigned long), counts(unsigned long), calls(unsigned long),
    loops(unsigned long), copies(unsigned long);
void copies_down(unsigned long), searches(unsigned long), switches(unsigned long),
    prefetches(unsigned long);
void reads_fs(unsigned long), values(unsigned long), stack_values(unsigned long),
    spins(unsigned long), gathers_two(unsigned long), stores_by_sign(unsigned long);
void gathers(unsigned long), scatters(unsigned long), stores_masked(unsigned long);
void masks_with_more(unsigned long);
void stays_near(unsigned long, unsigned char *), stays_near_by_sign(unsigned long, unsigned char *);
void faults(unsigned char *), faults_avx2(unsigned char *), faults_avx512(unsigned char *);

extern void *resume_at;
void *resume_at;
static unsigned char *guarded; /* no access to these two pages */

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    printf("%td\n", (unsigned char *)info->si_addr - guarded);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)resume_at;
}

static void fault(void (*forms)(unsigned char *), unsigned long secret)
{
    if (secret != 0)
        return;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    guarded = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%p\n", (void *)guarded);
    forms(guarded + 2048);
}

/* 16 bytes before a page without access. */
static unsigned char *before_guard(void)
{
    static unsigned char *pages;
    if (pages == NULL) {
        pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(pages + 4096, 4096, PROT_NONE);
    }
    return pages + 4096 - 16;
}
static void stays_near_guard(unsigned long secret)
{
    stays_near(secret, before_guard());
}
static void stays_near_guard_by_sign(unsigned long secret)
{
    stays_near_by_sign(secret, before_guard());
}

static void faults_here(unsigned long secret)
{
    fault(faults, secret);
}
static void faults_here_avx2(unsigned long secret)
{
    fault(faults_avx2, secret);
}
static void faults_here_avx512(unsigned long secret)
{
    fault(faults_avx512, secret);
}
#endif

static const struct {
    const char *name;
    void (*run)(unsigned long);
} cases[] = {
    {"branches", branches},
    {"looks_up", looks_up},
    {"scans", scans},
    {"recurses", recurses},
    {"crashes", crashes},
#if defined __x86_64__
    {"counts", counts},
    {"calls", calls},
    {"calls_with_arguments", calls_with_arguments},
    {"loops", loops},
    {"copies", copies},
    {"copies_down", copies_down},
    {"searches", searches},
    {"switches", switches},
    {"values", values},
    {"stack_values", stack_values},
    {"prefetches", prefetches},
    {"reads_fs", reads_fs},
    {"spins", spins},
    {"gathers", gathers},
    {"gathers_two", gathers_two},
    {"stores_by_sign", stores_by_sign},
    {"scatters", scatters},
    {"stores_masked", stores_masked},
    {"masks_with_more", masks_with_more},
    {"stays_near", stays_near_guard},
    {"stays_near_by_sign", stays_near_guard_by_sign},
    {"faults", faults_here},
    {"faults_avx2", faults_here_avx2},
    {"faults_avx512", faults_here_avx512},
#endif
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc != 2 || strcmp(argv[1], cases[i].name) != 0)
            continue;
        for (unsigned long secret = 0; secret < 4; secret++) {
            region_begin();
            cases[i].run(secret);
            region_end();
        }
        return 7;
    }
    return 2;
}
