/* SPDX-License-Identifier: MIT */
/* Pointer authentication for QEMU's Arm target: settings, the vCPU of a thread, counters. */
#include "pauth.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everycore/cpu.h"

__thread struct evc_qemu_cpu evc_qemu_here;

static enum evc_qemu_mode mode;
static struct evc_qemu_counts *counts;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void evc_qemu_refuse(const char *what, const char *value, const char *why)
{
    fprintf(stderr, "everycore: %s=%s: %s\n", what, value, why);
    _exit(2);
}

static void evc_qemu_read_mode(void)
{
    /* names in the order of enum evc_qemu_mode */
    static const char *const names[] = {"qemu", "mac", "plain", "memo", "check"};
    const char *wanted = getenv("EVERYCORE_PAUTH");

    mode = EVC_QEMU_MEMO;
    if (!wanted || !*wanted)
        return;
    for (mode = EVC_QEMU_OWN; mode <= EVC_QEMU_CHECK; mode++)
        if (strcmp(wanted, names[mode]) == 0)
            return;
    evc_qemu_refuse("EVERYCORE_PAUTH", wanted, "not one of qemu, mac, plain, memo, check");
}

/* An empty file begins with zeros; another must have been begun so. NULL, or why not. Under a lock,
 * because processes may begin together. */
static const char *evc_qemu_begin_counts(int file)
{
    struct evc_qemu_counts begun = {"evcpac1", {0}, "", ""};
    char magic[sizeof begun.magic];
    struct stat status;

    if (flock(file, LOCK_EX) != 0 || fstat(file, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "not a regular file";
    if (status.st_size == 0)
        return pwrite(file, &begun, sizeof begun, 0) == sizeof begun ? NULL : "cannot be written";
    if (status.st_size != sizeof begun || pread(file, magic, sizeof magic, 0) != sizeof magic ||
        memcmp(magic, begun.magic, sizeof magic) != 0)
        return "has something else in it; name a new file";
    return NULL;
}

/* Counted in place, so that it does not matter how a process ends. The name is absolute, because
 * the guest may have changed its folder before its first operation. */
static void evc_qemu_open_counts(void)
{
    const char *name = getenv("EVERYCORE_PAUTH_COUNTS"), *why;
    int file;

    if (!name || !*name)
        return;
    if (!EVC_QEMU_CAN_COUNT)
        evc_qemu_refuse("EVERYCORE_PAUTH_COUNTS", name,
                        "this host adds no 64 bits at once; operations cannot be counted");
    if (*name != '/')
        evc_qemu_refuse("EVERYCORE_PAUTH_COUNTS", name, "not an absolute name");
    file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    why = file < 0 ? strerror(errno) : evc_qemu_begin_counts(file);
    if (why)
        evc_qemu_refuse("EVERYCORE_PAUTH_COUNTS", name, why);
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counts == MAP_FAILED)
        evc_qemu_refuse("EVERYCORE_PAUTH_COUNTS", name, strerror(errno));
    close(file);
}

static void evc_qemu_read_settings(void)
{
    evc_qemu_read_mode();
    evc_qemu_open_counts();
}

/* Whether the algorithm gives QEMU's answers. */
static int evc_qemu_agrees(const struct evc_pac_algorithm *algorithm,
                           const struct evc_pac_kernels *kernels, void *env, evc_qemu_own_mac *own)
{
    struct evc_pac_key key;
    uint64_t x = UINT64_C(0x9e3779b97f4a7c15);

    for (unsigned i = 0; i < 4; i++, x = x * UINT64_C(6364136223846793005) + 1) {
        if (evc_pac_set_key(&key, algorithm, kernels, x, x >> 7 ^ x << 9) != EVC_OK ||
            evc_pac_mac(&key, ~x, x << 3) != own(env, ~x, x << 3, key.hi, key.lo))
            return 0;
    }
    return 1;
}

static const struct evc_pac_algorithm *evc_qemu_algorithm_of(const struct evc_pac_kernels *kernels,
                                                             void *env, evc_qemu_own_mac *own)
{
    static const struct evc_pac_algorithm *const known[] = {&evc_pac_qarma5, &evc_pac_qarma3,
                                                            &evc_pac_impdef};

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (evc_qemu_agrees(known[i], kernels, env, own))
            return known[i];
    return NULL;
}

static void evc_qemu_describe(const struct evc_pac_algorithm *algorithm,
                              const struct evc_pac_kernels *kernels)
{
    snprintf(counts->algorithm, sizeof counts->algorithm, "%s", evc_pac_algorithm_name(algorithm));
    snprintf(counts->kernel, sizeof counts->kernel, "%s",
             algorithm == &evc_pac_impdef ? "-" : evc_qarma_kernel(kernels->qarma)->name);
}

/* Once: a thread with several vCPUs comes here at each turn. */
static void evc_qemu_say_unknown(void)
{
    static int said;

    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "everycore: a vCPU has an unknown algorithm; QEMU's own is used\n");
}

static int evc_qemu_begin(struct evc_qemu_cpu *cpu, const struct evc_pac_algorithm *algorithm,
                          const struct evc_pac_kernels *kernels)
{
    memset(cpu->regimes, 0, sizeof cpu->regimes);
    memset(cpu->registers, 0, sizeof cpu->registers);
    return evc_pac_keys_init(&cpu->keys, algorithm, kernels) == EVC_OK &&
           evc_pac_memo_init(&cpu->memo, cpu->sets, EVC_QEMU_SETS) == EVC_OK;
}

void evc_qemu_setup(struct evc_qemu_cpu *cpu, void *env, int index, unsigned level,
                    evc_qemu_own_mac *own)
{
    const struct evc_pac_kernels kernels = {
        evc_qarma_select(evc_cpu_features(), EVC_ALLOW_VARTIME, EVC_USE_SERIAL), NULL};
    const struct evc_pac_algorithm *algorithm;

    pthread_once(&once, evc_qemu_read_settings);
    cpu->env = env;
    cpu->index = index;
    cpu->level = level;
    cpu->mode = EVC_QEMU_OWN; /* while QEMU's algorithm is asked below */
    cpu->counts = NULL;
    if (mode == EVC_QEMU_OWN && !counts)
        return;
    algorithm = evc_qemu_algorithm_of(&kernels, env, own);
    if (!algorithm || (mode != EVC_QEMU_OWN && !evc_qemu_begin(cpu, algorithm, &kernels))) {
        evc_qemu_say_unknown();
        return;
    }
    cpu->mode = mode;
    cpu->counts = counts;
    if (counts)
        evc_qemu_describe(algorithm, &kernels);
}

void evc_qemu_set_rules(const struct evc_qemu_cpu *cpu, struct evc_qemu_regime *regime,
                        unsigned data, unsigned half, uint64_t mask)
{
    struct evc_pac_rules *rules = &regime->rules[data][half];
    const unsigned va_bits = mask ? (unsigned)__builtin_ctzll(mask) : 64;

    if (evc_pac_set_rules(rules, cpu->level, va_bits, !(mask >> 63), EVC_PAC_EXTEND_BY_TBI) !=
            EVC_OK ||
        ((rules->extension ^ mask) & ~(UINT64_C(1) << 55)) != 0)
        regime->usable = 0;
}

void evc_qemu_differs(const char *what, uint64_t value, uint64_t modifier, uint64_t expected,
                      uint64_t got)
{
    fprintf(stderr,
            "everycore: %s of %016llx, modifier %016llx: QEMU has %016llx, everycore %016llx\n",
            what, (unsigned long long)value, (unsigned long long)modifier,
            (unsigned long long)expected, (unsigned long long)got);
    abort();
}
