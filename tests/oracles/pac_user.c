/* SPDX-License-Identifier: MIT */
/*
 * Is the layer of pointer authentication at one with the CPU that this program runs on, real or
 * emulated? A program of Linux cannot read its keys. So the layer takes the CPU's codes of
 * canonical pointers for those of its algorithm, and has to say what the CPU does with all other
 * pointers and codes. Sizes and ignored bytes are read off XPAC.
 */
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "everycore/pac.h"

#include "../systems/pac_el1/instructions.h"
#include "tap.h"

/* linux/Documentation/arch/arm64/elf_hwcaps.rst */
#define HAS_CPUID (1UL << 11)
#define HAS_PACA (1UL << 30)
#define HAS_PACG (1UL << 31)

/* ---- Instructions ---------------------------------------------------------------------------- */

static volatile sig_atomic_t faults;

/* A PAC Fail exception is a SIGILL; execution goes on behind the instruction. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *at = context;

    (void)number;
    (void)info;
    faults = 1;
    at->uc_mcontext.pc += 4;
}

/* Those of EL1 and those with the stack pointer are made, and not run. */
#define DEFINE(name, what, key, before, instruction, after)                                  \
    __attribute__((unused)) static uint64_t name(uint64_t x, uint64_t y)                     \
    {                                                                                        \
        register uint64_t x0 __asm__("x0") = x;                                              \
        register uint64_t x1 __asm__("x1") = y;                                              \
                                                                                             \
        __asm__ volatile("mov x13, sp\n " before "\n " instruction "\n mov sp, x13\n " after \
                         : "+r"(x0), "+r"(x1)                                                \
                         :                                                                   \
                         : "x2", "x13", "x16", "x17", "x30", "cc", "memory");                \
        return x0;                                                                           \
    }
INSTRUCTIONS(DEFINE)

typedef uint64_t instruction(uint64_t x, uint64_t y);

static const struct form {
    instruction *add, *auth, *strip;
    enum evc_pac_letter letter;
} forms[] = {
    {pacia, autia, xpaci, EVC_PAC_KEY_A},         {pacib, autib, xpaci, EVC_PAC_KEY_B},
    {pacda, autda, xpacd, EVC_PAC_KEY_A},         {pacdb, autdb, xpacd, EVC_PAC_KEY_B},
    {pacia1716, autia1716, xpaci, EVC_PAC_KEY_A}, {pacib1716, autib1716, xpaci, EVC_PAC_KEY_B},
};
#define N_FORMS (sizeof forms / sizeof *forms)

/* ---- The layer, by the CPU's codes ----------------------------------------------------------- */

static unsigned level;

static unsigned level_of_this_cpu(void)
{
    uint64_t isar1, isar2;

    __asm__("mrs %0, id_aa64isar1_el1" : "=r"(isar1));
    __asm__("mrs %0, s3_0_c0_c6_2" : "=r"(isar2)); /* ID_AA64ISAR2_EL1 */
    /* APA, API, APA3: two of them are 0 */
    return (unsigned)((isar1 >> 4 | isar1 >> 8 | isar2 >> 12) & 15);
}

/* The rules of a form: the bits that XPAC clears in a pointer into the lower half, and sets
 * in one into the upper. */
static struct evc_pac_rules rules_of(const struct form *form, unsigned upper)
{
    const uint64_t bit55 = UINT64_C(1) << 55;
    const uint64_t field =
        upper ? form->strip(bit55, 0) & ~bit55 : ~form->strip(~bit55, 0) & ~bit55;
    struct evc_pac_rules rules = {0}; /* as they stay if they are refused */
    unsigned va_bits = 0;

    while (va_bits < 55 && (field >> va_bits & 1) == 0)
        va_bits++;
    EXPECT(evc_pac_set_rules(&rules, level, va_bits, !(field >> 63), EVC_PAC_EXTEND_BY_TBI) ==
           EVC_OK);
    EXPECT(rules.field == field);
    return rules;
}

/* cipher: the form, by its address. From FEAT_PAuth2 on a code is
 * exclusive-ored into the pointer. */
static uint64_t mac_of_this_cpu(const void *cipher, uint64_t data, uint64_t modifier)
{
    const uint64_t *number = cipher;

    return forms[*number].add(data, modifier) ^ (level >= EVC_PAC_PAUTH2 ? data : 0);
}

static struct evc_pac_key key_of(size_t form)
{
    struct evc_pac_key key;

    memset(&key, 0, sizeof key);
    key.mac = mac_of_this_cpu;
    key.cipher.hash[0] = form;
    return key;
}

static uint64_t random64(void)
{
    uint64_t x;

    random_fill((uint8_t *)&x, sizeof x);
    return x;
}

/* A random pointer into either half, with all that may be in the upper bits. Bits 63 and 55
 * agree where the top byte is not ignored: AddPAC of a pointer where they do not is another in
 * the Arm ARM and in QEMU. */
static uint64_t random_pointer(const struct evc_pac_rules *rules, unsigned upper)
{
    const uint64_t sign = UINT64_C(1) << 55 | (rules->tbi ? 0 : UINT64_C(1) << 63);
    const uint64_t any = random64(), low = any & ~rules->extension;

    switch (random_below(3)) {
    case 0:
        return upper ? low | rules->extension : low;
    case 1:
        return (upper ? low | rules->extension : low) ^ (UINT64_C(1) << random_below(55));
    default:
        return upper ? any | sign : any & ~sign;
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void authenticate(const struct form *form, const struct evc_pac_rules *rules,
                         const struct evc_pac_key *key, uint64_t x, uint64_t y)
{
    const struct evc_pac_result result = evc_pac_auth(rules, key, form->letter, 0, x, y);

    faults = 0;
    const uint64_t value = form->auth(x, y);
    EXPECT(faults == result.fault);
    EXPECT(faults || value == result.value);
}

static void both_ways(const struct form *form, const struct evc_pac_rules *rules,
                      const struct evc_pac_key *key, unsigned upper)
{
    const uint64_t x = random_pointer(rules, upper), y = random64(), added = form->add(x, y);

    EXPECT(added == evc_pac_add(rules, key, x, y));
    EXPECT(form->strip(added, 0) == evc_pac_strip(rules, added));
    authenticate(form, rules, key, added, y);
    authenticate(form, rules, key, added ^ UINT64_C(1) << random_below(55), y);
    authenticate(form, rules, key, added, y ^ 16);
    authenticate(form, rules, key, x, y);
}

static void the_layer_does_what_this_cpu_does(void)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        for (unsigned upper = 0; upper < 2; upper++) {
            const struct evc_pac_rules rules = rules_of(&forms[i], upper);
            const struct evc_pac_key key = key_of(i);
            for (unsigned n = 0; n < 2000; n++)
                both_ways(&forms[i], &rules, &key, upper);
        }
    }
}

static void what_is_added_authenticates(void)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        const struct evc_pac_rules rules = rules_of(&forms[i], 0);
        for (unsigned n = 0; n < 2000; n++) {
            const uint64_t x = random64() & ~rules.extension, y = random64();
            EXPECT(forms[i].auth(forms[i].add(x, y), y) == x);
        }
    }
}

static void generic_codes_are_upper_halves(void)
{
    for (unsigned n = 0; n < 2000; n++) {
        const uint64_t x = random64(), y = random64(), code = pacga(x, y);
        EXPECT(code << 32 == 0 && code == pacga(x, y));
    }
}

int main(void)
{
    const unsigned long has = getauxval(AT_HWCAP);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    if (!(has & HAS_PACA) || !(has & HAS_PACG) || !(has & HAS_CPUID)) {
        printf("1..0 # SKIP this CPU has no pointer authentication\n");
        return 0;
    }
    if (sigaction(SIGILL, &action, NULL) != 0) {
        printf("Bail out! no handler of SIGILL: %s\n", strerror(errno));
        return 1;
    }
    level = level_of_this_cpu();
    printf("# level %u\n", level);
    RUN(the_layer_does_what_this_cpu_does);
    RUN(what_is_added_authenticates);
    RUN(generic_codes_are_upper_halves);
    return tap_done();
}
