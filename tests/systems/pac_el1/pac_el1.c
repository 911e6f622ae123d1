/* SPDX-License-Identifier: MIT */
/*
 * A program without an operating system that asks a CPU, real or emulated, what its pointer
 * authentication does. It runs at EL1, sets keys, TCR_EL1 and SCTLR_EL1, executes the instructions
 * on pointers of all kinds, and writes down, by semihosting, what it set, in the bits of the
 * registers, and what came out. Started at EL2, it stays there: with HCR_EL2.E2H, by which the
 * registers of EL1 are those of EL2; at last also without, where addresses have one range.
 *
 *   cpu MIDR_EL1 ID_AA64ISAR1_EL1 ID_AA64ISAR2_EL1 ID_AA64MMFR2_EL1 ID_AA64MMFR0_EL1
 *   hcr VALUE                         at EL2
 *   tcr|sctlr VALUE
 *   key ia|ib|da|db|ga HI LO
 *   INSTRUCTION X Y RESULT            pacia X, Y
 *   INSTRUCTION X Y ! ESR_EL1 FAR_EL1
 *   end                               the last line
 *
 * Command line: SEED of all that is random, and STRIDE: one in so many of the settings is used.
 */
#include <stddef.h>
#include <stdint.h>

#include "instructions.h"

uint64_t semihosting(uint64_t operation, void *block); /* start.S */
extern char landing[];
int pac_el1_main(void);

/* Options of the command line. */
static uint64_t seed = 1, stride = 1;

/* ---- Output, and the command line ------------------------------------------------------------ */

/* Operations of Semihosting for AArch32 and AArch64 (Arm, 2024). */
enum { SYS_OPEN = 0x01, SYS_WRITE = 0x05, SYS_GET_CMDLINE = 0x15 };
enum { OPEN_W = 4 };

static char text[1 << 16];
static size_t text_len_bytes;
static uint64_t terminal; /* a handle; ":tt" is the console, opened for writing standard output */

static void open_terminal(void)
{
    uint64_t block[3] = {(uint64_t)(uintptr_t) ":tt", OPEN_W, 3};

    terminal = semihosting(SYS_OPEN, block);
}

static void flush(void)
{
    uint64_t block[3] = {terminal, (uint64_t)(uintptr_t)text, text_len_bytes};

    semihosting(SYS_WRITE, block);
    text_len_bytes = 0;
}

static void put(char c)
{
    text[text_len_bytes++] = c;
}

static void put_word(const char *word)
{
    while (*word)
        put(*word++);
}

/* Lower-case, without leading zeros. */
static void put_number(uint64_t number)
{
    unsigned shift = 60;

    while (shift && number >> shift == 0)
        shift -= 4;
    put(' ');
    for (;; shift -= 4) {
        put("0123456789abcdef"[number >> shift & 15]);
        if (!shift)
            return;
    }
}

static void end_line(void)
{
    put('\n');
    if (text_len_bytes > sizeof text - 256) /* no line is longer */
        flush();
}

/* "program SEED STRIDE", decimal; what is not there stays. */
static void read_command_line(void)
{
    static char line[256];
    uint64_t block[2] = {(uint64_t)(uintptr_t)line, sizeof line};
    uint64_t *const numbers[] = {&seed, &stride};
    const char *c = line;

    if (semihosting(SYS_GET_CMDLINE, block) != 0)
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        while (*c && *c != ' ')
            c++;
        if (*c++ != ' ')
            return;
        for (*numbers[i] = 0; *c >= '0' && *c <= '9'; c++)
            *numbers[i] = *numbers[i] * 10 + (uint64_t)(*c - '0');
    }
}

/* ---- Random numbers -------------------------------------------------------------------------- */

static uint64_t state = 1;

/* splitmix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"). */
static uint64_t any(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- Registers ------------------------------------------------------------------------------- */

#define READ(register_)                                        \
    __extension__({                                            \
        uint64_t value_;                                       \
        __asm__ volatile("mrs %0, " register_ : "=r"(value_)); \
        value_;                                                \
    })
#define WRITE(register_, value) \
    __asm__ volatile("msr " register_ ", %0\n isb" : : "r"(value) : "memory")

static void set_tcr(uint64_t tcr)
{
    WRITE("tcr_el1", tcr);
    put_word("tcr");
    put_number(READ("tcr_el1"));
    end_line();
}

static void set_sctlr(uint64_t sctlr)
{
    WRITE("sctlr_el1", sctlr);
    put_word("sctlr");
    put_number(READ("sctlr_el1"));
    end_line();
}

/* HCR_EL2 (DDI 0487, D24.2): EL1 is A64, keys and their instructions are not trapped. */
#define HCR_TGE (UINT64_C(1) << 27)
#define HCR_RW (UINT64_C(1) << 31)
#define HCR_E2H (UINT64_C(1) << 34)
#define HCR_APK_API (UINT64_C(3) << 40)

static void set_hcr(uint64_t two_ranges)
{
    WRITE("hcr_el2", HCR_RW | HCR_APK_API | two_ranges);
    put_word("hcr");
    put_number(READ("hcr_el2"));
    end_line();
}

#define SET_KEY(name, hi, lo)              \
    do {                                   \
        WRITE("ap" #name "keyhi_el1", hi); \
        WRITE("ap" #name "keylo_el1", lo); \
        put_word("key " #name);            \
        put_number(hi);                    \
        put_number(lo);                    \
        end_line();                        \
    } while (0)

/* Some have the same value, so that what holds for code and for data is not
 * told apart by the key. */
static void set_keys(void)
{
    const uint64_t hi = any(), lo = any(), hi_b = any(), same = any();
    const uint64_t lo_da = same & 1 ? lo : any(), lo_db = same & 2 ? lo : any(),
                   lo_ga = same & 4 ? lo : any();

    SET_KEY(ia, hi, lo);
    SET_KEY(ib, hi_b, lo);
    SET_KEY(da, hi, lo_da);
    SET_KEY(db, hi_b, lo_db);
    SET_KEY(ga, hi, lo_ga);
}

/* SCTLR_EL1 (DDI 0487, D24.2): which keys are in use. */
#define EN_IA (UINT64_C(1) << 31)
#define EN_IB (UINT64_C(1) << 30)
#define EN_DA (UINT64_C(1) << 27)
#define EN_DB (UINT64_C(1) << 13)
#define EN_ALL (EN_IA | EN_IB | EN_DA | EN_DB)

/* TCR_EL1, and what is in it. */
enum { GRANULE_4K, GRANULE_64K, GRANULE_16K }; /* as TG0 counts */
struct setting {
    unsigned t0sz, t1sz;
    unsigned ignore; /* bits 0 to 3: TBI0, TBI1, TBID0, TBID1 */
    unsigned granule, ds;
};

static uint64_t tcr_of(const struct setting *setting)
{
    static const uint8_t tg1[] = {[GRANULE_4K] = 2, [GRANULE_64K] = 3, [GRANULE_16K] = 1};

    return setting->t0sz | (uint64_t)setting->granule << 14 | (uint64_t)setting->t1sz << 16 |
           /* TBI0, TBI1 */
           (uint64_t)tg1[setting->granule] << 30 | (uint64_t)(setting->ignore & 3) << 37 |
           /* TBID0, TBID1 */
           (uint64_t)(setting->ignore >> 2 & 3) << 51 |
           /* TBID at EL2 with one range, whose TBI is in T1SZ */
           (uint64_t)(setting->ignore >> 2 & 1) << 29 |
           (uint64_t)setting->ds << 59;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

struct answer {
    uint64_t result, esr, far;
    uint64_t faulted;
};

static struct answer say(const char *name, uint64_t x, uint64_t y, struct answer answer)
{
    put_word(name);
    put_number(x);
    put_number(y);
    if (answer.faulted) {
        put_word(" !");
        put_number(answer.esr);
        put_number(answer.far);
    } else {
        put_number(answer.result);
    }
    end_line();
    return answer;
}

#define DEFINE(name, what, key, before, instruction, after)                                       \
    static struct answer name(uint64_t x, uint64_t y)                                             \
    {                                                                                             \
        register uint64_t x0 __asm__("x0") = x;                                                   \
        register uint64_t x1 __asm__("x1") = y;                                                   \
        register uint64_t x9 __asm__("x9");                                                       \
        register uint64_t x10 __asm__("x10");                                                     \
        register uint64_t x11 __asm__("x11");                                                     \
                                                                                                  \
        __asm__ volatile("mov x13, sp\n mov x11, #0\n adr x14, 1f\n msr tpidr_el1, x14\n "        \
                         before "\n " instruction "\n1:\n msr tpidr_el1, xzr\n mov sp, x13\n "     \
                         after                                                                    \
                         : "+r"(x0), "+r"(x1), "=r"(x9), "=r"(x10), "=r"(x11)                     \
                         :                                                                        \
                         : "x2", "x12", "x13", "x14", "x16", "x17", "x30", "cc", "memory");       \
        return say(#name, x, y, (struct answer){x0, x9, x10, x11});                               \
    }
INSTRUCTIONS(DEFINE)

typedef struct answer instruction(uint64_t x, uint64_t y);

/* ---- What is asked --------------------------------------------------------------------------- */

/* An address in the half that bit 55 selects, with nothing or something in the
 * bits where a PAC goes. */
enum kind { CANONICAL, TAGGED, ONE_OFF, ANY, N_KINDS };

static uint64_t pointer(enum kind kind, unsigned upper, unsigned va_bits)
{
    const uint64_t low = any() & (UINT64_MAX >> (64 - va_bits));
    const uint64_t canonical = upper ? ~(UINT64_MAX >> (64 - va_bits)) | low : low;
    const uint64_t bit55 = UINT64_C(1) << 55;

    switch (kind) {
    case TAGGED:
        return (canonical & UINT64_MAX >> 8) | any() << 56;
    case ONE_OFF:
        return canonical ^ UINT64_C(1) << (va_bits + any() % (64 - va_bits));
    case ANY:
        return (any() & ~bit55) | (upper ? bit55 : 0);
    default:
        return canonical;
    }
}

/* Adds a code, and authenticates it: right, with a bit flipped, for another modifier,
 * and where there is none. */
static uint64_t there_and_back(instruction *add, instruction *auth, uint64_t x, uint64_t y,
                               uint64_t other_y)
{
    const uint64_t signed_x = add(x, y).result;

    auth(signed_x, y);
    auth(signed_x ^ UINT64_C(1) << (any() % 64), y);
    auth(signed_x, other_y);
    auth(x, y);
    return signed_x;
}

static void pointers(unsigned first, unsigned upper, unsigned va_bits)
{
    static instruction *const with[4][2] = {
        {pacia, autia}, {pacib, autib}, {pacda, autda}, {pacdb, autdb}};

    for (unsigned i = 0; i < 4; i++) {
        const uint64_t x = pointer((enum kind)((first + i) % N_KINDS), upper, va_bits);
        const uint64_t signed_x = there_and_back(with[i][0], with[i][1], x, any(), any());
        xpaci(signed_x, 0);
        xpacd(signed_x, 0);
    }
}

static void zero_forms(uint64_t x)
{
    static instruction *const with[][2] = {{paciza, autiza}, {pacizb, autizb}, {pacdza, autdza},
                                           {pacdzb, autdzb}, {paciaz, autiaz}, {pacibz, autibz}};

    for (unsigned i = 0; i < sizeof with / sizeof *with; i++)
        xpaclri(there_and_back(with[i][0], with[i][1], x, 0, 0), 0);
}

static void hint_forms(uint64_t x)
{
    static instruction *const with[][2] = {
        {pacia1716, autia1716}, {pacib1716, autib1716}, {paciasp, autiasp}, {pacibsp, autibsp}};

    for (unsigned i = 0; i < sizeof with / sizeof *with; i++)
        there_and_back(with[i][0], with[i][1], x, any(), any());
}

/* With a right pointer, with one that is wrong by a bit, and without a code; none is another
 * address of the program. */
static void use(instruction *add, instruction *use_it, const void *target, uint64_t y)
{
    const uint64_t right = add((uint64_t)(uintptr_t)target, y).result;

    use_it(right, y);
    use_it(right ^ UINT64_C(1) << 54, y);
    use_it((uint64_t)(uintptr_t)target, y);
}

static void combined(void)
{
    static const uint64_t data[16];
    static instruction *const branches[][2] = {{pacia, braa},   {pacia, blraa}, {pacia, retaa},
                                               {pacia, eretaa}, {pacib, brab},  {pacib, blrab},
                                               {pacib, retab},  {pacib, eretab}};

    use(pacda, ldraa, data, 0);
    use(pacdb, ldrab, data, 0);
    use(pacia, braaz, landing, 0);
    use(pacib, brabz, landing, 0);
    use(pacia, blraaz, landing, 0);
    use(pacib, blrabz, landing, 0);
    for (unsigned i = 0; i < sizeof branches / sizeof *branches; i++)
        use(branches[i][0], branches[i][1], landing, any());
}

/* ---- In which settings ----------------------------------------------------------------------- */

enum { N_IGNORE = 16 };

/* A pointer and a modifier that come again in four settings, with the same keys: what remembers
 * results must see what else has changed. To and fro, since few places of a memo are asked. */
static uint64_t again_x, again_y;

static void again(void)
{
    static unsigned fro;

    for (unsigned i = 0; i < 2; i++) {
        if (i == (fro & 1))
            there_and_back(pacia, autia, again_x, again_y, any());
        else
            there_and_back(pacda, autda, again_x, again_y, any());
    }
    fro++;
}

/* Every `stride`th setting is used: 1 if this one is. */
static int set(const struct setting *setting)
{
    static uint64_t n, n_used;

    if ((seed + n++) % stride != 0)
        return 0;
    if (n_used++ % 4 == 0) {
        set_keys();
        again_x = pointer((enum kind)(n_used / 4 % N_KINDS), n_used / 4 & 1, 39);
        again_y = any();
    }
    set_tcr(tcr_of(setting));
    return 1;
}

static unsigned va_bits(unsigned tsz)
{
    return 64 - (tsz < 12 ? 12 : tsz > 48 ? 48 : tsz);
}

static void both_halves(const struct setting *setting)
{
    const unsigned first_kind = (unsigned)any();

    pointers(first_kind, 0, va_bits(setting->t0sz));
    pointers(first_kind, 1, va_bits(setting->t1sz));
    pacga(any(), any());
    again();
}

/* Every T0SZ that a CPU may know and some more, each with another T1SZ; both ignored bytes,
 * for data alone or not. */
static void sizes(void)
{
    const unsigned first = 10, n = 41;

    for (unsigned t = 0; t < n; t++) {
        for (unsigned ignore = 0; ignore < N_IGNORE; ignore++) {
            const struct setting setting = {first + t, first + (t * 17 + 5) % n, ignore, GRANULE_4K,
                                            0};
            if (set(&setting))
                both_halves(&setting);
        }
    }
}

/* The largest and the smallest addresses depend on the size of pages, and on
 * TCR_EL1.DS (FEAT_LPA2). */
static void granules(void)
{
    static const uint8_t t[][2] = {{10, 17}, {11, 16}, {12, 15}, {13, 14}, {14, 13}, {15, 12},
                                   {16, 11}, {17, 10}, {46, 49}, {47, 48}, {48, 47}, {49, 46}};

    for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
        for (unsigned form = 1; form < 6; form++) { /* 0 is among sizes() */
            const struct setting setting = {t[i][0], t[i][1], i % N_IGNORE, form % 3, form / 3};
            if (set(&setting))
                both_halves(&setting);
        }
    }
}

/* All instructions; no address of the program is above 2^31. */
static void other_forms(unsigned t0sz, unsigned ignore)
{
    const struct setting setting = {t0sz, 16 + ignore, ignore, GRANULE_4K, 0};

    if (!set(&setting))
        return;
    both_halves(&setting);
    zero_forms(pointer(CANONICAL, ignore & 1, 64 - t0sz));
    hint_forms(pointer(CANONICAL, ~ignore & 1, 64 - t0sz));
    combined();
}

/* Not all of them at once: QEMU then does not strip either, of which the Arm ARM (DDI
 * 0487, XPAC) says nothing. */
static void keys_not_in_use(void)
{
    static const uint64_t clear[] = {EN_IA, EN_IB, EN_DA, EN_DB, EN_IA | EN_IB, EN_DA | EN_DB};
    const uint64_t sctlr = READ("sctlr_el1");

    for (unsigned i = 0; i < sizeof clear / sizeof *clear; i++) {
        set_sctlr(sctlr & ~clear[i]);
        other_forms(25, i * 3);
    }
    set_sctlr(sctlr);
}

/* The same TCR_EL2 read in two ways. */
static void one_range_and_two(void)
{
    for (unsigned t = 10; t < 50; t++) {
        const struct setting setting = {t, 10 + t * 11 % 40, t % N_IGNORE, GRANULE_4K, 0};

        if (!set(&setting))
            continue;
        for (unsigned i = 0; i < 4; i++) {
            set_hcr(i & 1 ? HCR_E2H | HCR_TGE : 0);
            both_halves(&setting);
        }
    }
}

int pac_el1_main(void)
{
    const int at_el2 = READ("currentel") == 2 << 2;

    read_command_line();
    open_terminal();
    put_word("cpu");
    put_number(READ("midr_el1"));
    put_number(READ("id_aa64isar1_el1"));
    put_number(READ("s3_0_c0_c6_2")); /* ID_AA64ISAR2_EL1 */
    put_number(READ("s3_0_c0_c7_2")); /* ID_AA64MMFR2_EL1 */
    put_number(READ("id_aa64mmfr0_el1"));
    end_line();
    if (at_el2)
        set_hcr(HCR_E2H | HCR_TGE);
    set_sctlr(READ("sctlr_el1") | EN_ALL);
    state = seed;
    sizes();
    granules();
    for (unsigned ignore = 0; ignore < N_IGNORE; ignore++) {
        other_forms(16, ignore);
        other_forms(25, ignore);
        other_forms(33, ignore);
    }
    keys_not_in_use();
    if (at_el2)
        one_range_and_two();
    put_word("end");
    end_line();
    flush();
    return 0;
}
