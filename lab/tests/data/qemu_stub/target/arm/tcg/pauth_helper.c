/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the file of this name in QEMU: the names that patch-qemu looks for, with
 * functions of our own behind them, and a program that calls the helpers: pauth_helper ALGORITHM
 * LEVEL OPERATIONS [WHAT]. It prints a digest of all results, and how many authentications ended
 * with an exception. WHAT:
 *
 *   wrong   half of all codes are wrong
 *   unknown all codes are wrong: an algorithm that the library has not
 *   anew    halfway another vCPU, of another algorithm and level, begins where the first was
 *   once    the code is wrong in one authentication alone
 *   turns   a pointer is signed and authenticated under two keys in turns, each with its modifier
 */
#include "cpu.h"

extern const struct evc_qarma evc_qarma_c_ref;

static uint64_t pauth_computepac(CPUARMState *env, uint64_t data, uint64_t modifier, ARMPACKey key)
{
    const struct evc_pac_kernels kernels = {&evc_qarma_c_ref, NULL};
    struct evc_pac_key ready;

    if (evc_pac_set_key(&ready, env->algorithm, &kernels, key.hi, key.lo) != EVC_OK)
        abort();
    return evc_pac_mac(&ready, data, modifier) ^ env->wrong;
}

/* The rules of this vCPU, and a key whose algorithm is the function above. */
struct stub {
    struct evc_pac_rules rules;
    struct evc_pac_key key;
};
static CPUARMState *stub_env;
static ARMPACKey stub_key;

static uint64_t stub_mac(const void *cipher, uint64_t data, uint64_t modifier)
{
    (void)cipher;
    return pauth_computepac(stub_env, data, modifier, stub_key);
}

/* A code for any size and level, those too that evc_pac_set_rules refuses; and with bits of tags,
 * which it does not know. */
static struct stub stub_of(CPUARMState *env, uint64_t ptr, const ARMPACKey *key, bool data)
{
    const uint64_t tcr =
        env->cp15.tcr_el[env->mmu_idx == 2 || env->mmu_idx == 3 ? env->mmu_idx : 1];
    const unsigned half = ptr >> 55 & 1,
                   tbi = tcr >> (37 + half) & (data || !(tcr >> (51 + half) & 1)) & 1;
    const uint64_t address = (UINT64_C(1) << (64 - (tcr >> 16 * half & 63))) - 1;
    const uint64_t top = (uint64_t)tbi * 255 << 56, tag = (tcr >> 60 & 1) * 15 << 56;
    struct stub stub = {.key = {.mac = stub_mac}};

    stub.rules.level = (uint8_t)env->level;
    stub.rules.tbi = (uint8_t)tbi;
    stub.rules.extension = ~(address | top | tag);
    stub.rules.field = stub.rules.extension & ~(UINT64_C(1) << 55);
    stub_env = env;
    stub_key = key ? *key : (ARMPACKey){0, 0};
    return stub;
}

static uint64_t pauth_addpac(CPUARMState *env, uint64_t ptr, uint64_t modifier, ARMPACKey *key,
                             bool data)
{
    const struct stub stub = stub_of(env, ptr, key, data);

    return evc_pac_add(&stub.rules, &stub.key, ptr, modifier);
}

static uint64_t pauth_auth(CPUARMState *env, uint64_t ptr, uint64_t modifier, ARMPACKey *key,
                           bool data, int keynumber, uintptr_t ra, bool is_combined)
{
    const struct stub stub = stub_of(env, ptr, key, data);
    const struct evc_pac_result result = evc_pac_auth(
        &stub.rules, &stub.key, (enum evc_pac_letter)keynumber, is_combined, ptr, modifier);

    (void)ra;
    if (result.fault)
        longjmp(env->exception, 1);
    return result.value;
}

static uint64_t pauth_strip(CPUARMState *env, uint64_t ptr, bool data)
{
    const struct stub stub = stub_of(env, ptr, NULL, data);

    return evc_pac_strip(&stub.rules, ptr);
}

/* pauth_feature: its level is known */
uint64_t HELPER(pacia)(CPUARMState *env, uint64_t x, uint64_t y)
{
    return pauth_addpac(env, x, y, &env->keys.apia, false);
}

static uint64_t helper_pacdb(CPUARMState *env, uint64_t x, uint64_t y)
{
    return pauth_addpac(env, x, y, &env->keys.apdb, true);
}

static uint64_t helper_autia(CPUARMState *env, uint64_t x, uint64_t y)
{
    return pauth_auth(env, x, y, &env->keys.apia, false, 0, GETPC(), false);
}

static uint64_t helper_autdb(CPUARMState *env, uint64_t x, uint64_t y)
{
    return pauth_auth(env, x, y, &env->keys.apdb, true, 1, GETPC(), true);
}

static uint64_t helper_pacga(CPUARMState *env, uint64_t x, uint64_t y)
{
    return pauth_computepac(env, x, y, env->keys.apga) & UINT64_C(0xffffffff00000000);
}

/* ---- The program ----------------------------------------------------------------------------- */

static uint64_t state = 1;

static uint64_t drawn(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33 ^ state << 31;
}

/* Few pointers and modifiers, so that they come back; of all kinds. */
static uint64_t pointer(void)
{
    static const uint64_t tops[] = {0, UINT64_C(0xffff) << 48, UINT64_C(0x5a) << 56,
                                    UINT64_C(0x8080) << 48};

    return tops[drawn() % 4] | UINT64_C(0x00007f0012345600) | (drawn() % 8) << 2;
}

/* Another key, regime or size, now and then: as operating systems do, and as they do not. Regimes 2
 * and 3 have TCR_EL2 and TCR_EL3, all others TCR_EL1; the last two sizes have a half of 15 or 14
 * bits, too few for the library. */
static void change(CPUARMState *env)
{
    static const uint64_t sizes[] = {0x190019, 0x100010, 0x100019, 0x270027,
                                     0x190019, 0x100010, 0x310010, 0x100032};
    const uint64_t key = drawn() % 12;

    env->keys.apia = (ARMPACKey){key, ~key};
    if (drawn() % 4 == 0)
        env->keys.apdb = env->keys.apga = (ARMPACKey){drawn() % 4, 7};
    env->mmu_idx = drawn() % 4 + (drawn() % 8 == 0 ? 8 : 0);
    if (drawn() % 2)
        env->cp15.tcr_el[1 + drawn() % 3] = sizes[drawn() % 8] | drawn() % 4 << 37 |
                                            drawn() % 4 << 51 | (uint64_t)(drawn() % 4 == 0) << 60;
}

static uint64_t operation(CPUARMState *env, unsigned *exceptions)
{
    static volatile uint64_t x, y; /* live across longjmp */

    x = pointer();
    y = drawn() % 4 << 4;
    if (setjmp(env->exception)) {
        ++*exceptions;
        return 1;
    }
    switch (drawn() % 8) {
    case 0: return helper_pacga(env, x, y);
    case 1: return helper_pacdb(env, x, y);
    case 2: return helper_autia(env, x, y);
    case 3: return helper_autdb(env, x, y);
    case 4: return helper_autdb(env, helper_pacdb(env, x, y), y);
    case 5: return helper_pacia(env, x, y);
    default: return helper_autia(env, helper_pacia(env, x, y), y);
    }
}

/* A pointer is signed, and while it is authenticated codes are wrong. */
static void authenticate_wrongly(CPUARMState *env)
{
    const uint64_t x = UINT64_C(0x1234560), sign = helper_pacia(env, x, 16);

    env->wrong = ~UINT64_C(0);
    if (setjmp(env->exception) == 0)
        (void)helper_autia(env, sign, 16);
    env->wrong = 0;
}

static void begin_anew(CPUARMState *env)
{
    env->algorithm = env->algorithm == &evc_pac_impdef ? &evc_pac_qarma5 : &evc_pac_impdef;
    env->level = env->level % 5 + 1;
    env->cpu_index++;
}

static uint64_t turn(CPUARMState *env, unsigned long i)
{
    const uint64_t x = UINT64_C(0x1234560), y = i % 2 ? 16 : 32;

    env->keys.apia = (ARMPACKey){i % 2, 5};
    return helper_autia(env, helper_pacia(env, x, y), y);
}

static const struct evc_pac_algorithm *named(const char *name)
{
    return strcmp(name, "qarma5") == 0 ? &evc_pac_qarma5
           : strcmp(name, "qarma3") == 0 ? &evc_pac_qarma3
                                         : &evc_pac_impdef;
}

int main(int argc, char **argv)
{
    static CPUARMState vcpus[2];
    uint64_t digest = 0;
    unsigned exceptions = 0;
    const unsigned long n = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    const char *what = argc > 4 ? argv[4] : "";

    for (unsigned i = 0; i < 2 && argc > 3; i++) {
        vcpus[i].algorithm = named(argv[1]);
        vcpus[i].level = (unsigned)strtoul(argv[2], NULL, 10);
        vcpus[i].cp15.tcr_el[1] = vcpus[i].cp15.tcr_el[2] = vcpus[i].cp15.tcr_el[3] = 0x100010;
    }
    for (unsigned long i = 0; i < n; i++) {
        CPUARMState *env = &vcpus[i / 1000 % 2];
        if (strcmp(what, "anew") == 0) {
            env = vcpus;
            if (i == n / 2)
                begin_anew(env);
        }
        if (strcmp(what, "turns") == 0) {
            digest = digest * 31 + turn(vcpus, i);
            continue;
        }
        if (drawn() % 16 == 0)
            change(env);
        env->wrong = (strcmp(what, "wrong") == 0 && i % 1000 > 500) || strcmp(what, "unknown") == 0
                         ? ~UINT64_C(0)
                         : 0;
        if (strcmp(what, "once") == 0 && i == n / 2)
            authenticate_wrongly(env);
        digest = digest * 31 + operation(env, &exceptions);
    }
    printf("%016llx %u\n", (unsigned long long)digest, exceptions);
    return 0;
}
