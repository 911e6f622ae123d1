/* SPDX-License-Identifier: MIT */
/*
 * Pointer authentication: its instructions against a model that follows the pseudocode of the Arm
 * ARM bit by bit, for all parameters; algorithms against published answers and QEMU's; keys that
 * are kept; the memo against none.
 */
#include "everycore/pac.h"

#include "tap.h"

static const struct evc_pac_algorithm *const algorithms[] = {&evc_pac_qarma5, &evc_pac_qarma3,
                                                             &evc_pac_impdef, &evc_pac_aes128};
#define N_ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

static uint64_t random64(void)
{
    uint64_t x = 0;

    for (int i = 0; i < 4; i++)
        x = x << 16 | random_below(1 << 16);
    return x;
}

static struct evc_pac_kernels portable(void)
{
    const struct evc_pac_kernels kernels = {evc_qarma_select(0, 0, EVC_USE_SERIAL),
                                            evc_aes_select(0, 0, EVC_USE_SERIAL)};

    return kernels;
}

static struct evc_pac_key key_with(const struct evc_pac_algorithm *algorithm, uint64_t hi,
                                   uint64_t lo)
{
    const struct evc_pac_kernels kernels = portable();
    struct evc_pac_key key;

    EXPECT(evc_pac_set_key(&key, algorithm, &kernels, hi, lo) == EVC_OK);
    return key;
}

static struct evc_pac_key random_key(const struct evc_pac_algorithm *algorithm)
{
    const uint64_t hi = random64(), lo = random64();

    return key_with(algorithm, hi, lo);
}

/* ---- Algorithms ------------------------------------------------------------------------------ */

struct answer {
    const struct evc_pac_algorithm *algorithm;
    uint64_t hi, lo, data, modifier, mac, known_bits;
};

static void check_answers(const struct answer *answers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct answer *a = &answers[i];
        const struct evc_pac_key key = key_with(a->algorithm, a->hi, a->lo);
        EXPECT((evc_pac_mac(&key, a->data, a->modifier) & a->known_bits) == a->mac);
    }
}

/* QARMA: the paper's vector of 5 rounds and sigma 2 (Avanzi, ToSC 2017, issue 1, appendix). AES:
 * FIPS 197, appendix C.1. */
static void algorithms_give_published_answers(void)
{
    static const struct answer answers[] = {
        {&evc_pac_qarma5, UINT64_C(0x84be85ce9804e94b), UINT64_C(0xec2802d4e0a488e9),
         UINT64_C(0xfb623599da6e8127), UINT64_C(0x477d469dec0b8762), UINT64_C(0xc003b93999b33765),
         ~UINT64_C(0)},
        {&evc_pac_aes128, UINT64_C(0x0001020304050607), UINT64_C(0x08090a0b0c0d0e0f),
         UINT64_C(0x0011223344556677), UINT64_C(0x8899aabbccddeeff), UINT64_C(0x69c4e0d86a7b0430),
         ~UINT64_C(0)},
    };

    check_answers(answers, sizeof answers / sizeof answers[0]);
}

/* PACGA of qemu-aarch64 10.0.13 (Debian 13), user mode, -seed 0x123456789abcdef1, -cpu max with
 * pauth-qarma5, pauth-qarma3 and pauth-impdef on. The seed makes the key: words 20 to 23 of MT19937
 * (Matsumoto, Nishimura 1998), which begins with the array of its two halves. */
static void algorithms_give_the_answers_of_an_emulator(void)
{
#define HI UINT64_C(0x1ed0a975dd8de563)
#define LO UINT64_C(0x4616f8ca7d4d36bb)
#define QEMU(algorithm, data, modifier, mac)                                  \
    {                                                                         \
        algorithm, HI, LO, UINT64_C(data), UINT64_C(modifier), UINT64_C(mac), \
            UINT64_C(0xffffffff00000000)                                      \
    }
    static const struct answer answers[] = {
        QEMU(&evc_pac_qarma5, 0, 0, 0xa7f99e8400000000),
        QEMU(&evc_pac_qarma5, 0x123456789abcdef0, 0x55, 0xcbf8bdc400000000),
        QEMU(&evc_pac_qarma5, 0xfedcba9876543210, 0x8000000000000001, 0x1eca5d7800000000),
        QEMU(&evc_pac_qarma3, 0, 0, 0x71f3043300000000),
        QEMU(&evc_pac_qarma3, 0x123456789abcdef0, 0x55, 0xb736953500000000),
        QEMU(&evc_pac_qarma3, 0xfedcba9876543210, 0x8000000000000001, 0x68cead5600000000),
        QEMU(&evc_pac_impdef, 0, 0, 0x5316392400000000),
        QEMU(&evc_pac_impdef, 0x123456789abcdef0, 0x55, 0x8f168ffd00000000),
        QEMU(&evc_pac_impdef, 0xfedcba9876543210, 0x8000000000000001, 0xbd11112000000000),
    };
#undef QEMU
#undef LO
#undef HI

    check_answers(answers, sizeof answers / sizeof answers[0]);
}

static void same_codes(const struct evc_pac_algorithm *algorithm,
                       const struct evc_pac_kernels *kernels)
{
    for (int i = 0; i < 200; i++) {
        const struct evc_pac_key expected = random_key(algorithm);
        const uint64_t data = random64(), modifier = random64();
        struct evc_pac_key key;

        EXPECT(evc_pac_set_key(&key, algorithm, kernels, expected.hi, expected.lo) == EVC_OK);
        EXPECT(evc_pac_mac(&key, data, modifier) == evc_pac_mac(&expected, data, modifier));
        EXPECT(evc_pac_generic(&key, data, modifier) ==
               evc_pac_mac(&key, data, modifier) >> 32 << 32);
    }
}

static void codes_are_right(const struct evc_registry_line *line)
{
    struct evc_pac_kernels kernels = {NULL, NULL};

    if (strcmp(line->primitive, "qarma") == 0) {
        kernels.qarma = evc_qarma_named(line->name);
        same_codes(&evc_pac_qarma5, &kernels);
        same_codes(&evc_pac_qarma3, &kernels);
    } else {
        kernels.aes = evc_aes_named(line->name);
        same_codes(&evc_pac_aes128, &kernels);
    }
    tap_result("codes_are_right", line->name);
}

static void with_every_kernel_of_a_code(void)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        const char *why = line->built ? missing_feature(line) : "another architecture";
        if (strcmp(line->primitive, "qarma") != 0 && strcmp(line->primitive, "aes") != 0)
            continue;
        if (why)
            printf("ok %u - codes_are_right with %s # SKIP needs %s\n", ++tap_tests, line->name,
                   why);
        else
            codes_are_right(line);
    }
}

static void algorithms_have_names_and_ask_for_their_kernels(void)
{
    static const char *const names[N_ALGORITHMS] = {"qarma5", "qarma3", "impdef", "aes128"};
    const struct evc_pac_kernels none = {NULL, NULL};
    static struct evc_pac_keys keys;
    struct evc_pac_key key;

    for (size_t i = 0; i < N_ALGORITHMS; i++) {
        const enum evc_status expected = algorithms[i] == &evc_pac_impdef ? EVC_OK : EVC_ERR_KERNEL;
        EXPECT(strcmp(evc_pac_algorithm_name(algorithms[i]), names[i]) == 0);
        EXPECT(evc_pac_set_key(&key, algorithms[i], &none, 1, 2) == expected);
        EXPECT(evc_pac_keys_init(&keys, algorithms[i], &none) == expected);
        if (expected != EVC_OK) { /* every key is not set up, and gives zeros */
            EXPECT(evc_pac_mac(&key, 1, 2) == 0 && key.hi == 0 && key.lo == 0 && key.id == 0);
            EXPECT(evc_pac_mac(evc_pac_keys_get(&keys, 0, 0), 1, 2) == 0);
            EXPECT(evc_pac_mac(evc_pac_keys_get(&keys, 1, 2), 1, 2) == 0);
        }
    }
}

/* ---- A model: bits one by one, as the pseudocode has them ------------------------------------ */

/* TCR_EL1, and the level. */
struct machine {
    unsigned level, n_ranges, va_bits[2], tbi[2], select;
};

static unsigned bit(uint64_t x, int i)
{
    return (unsigned)(x >> i & 1);
}

static void put(uint64_t *x, int i, unsigned value)
{
    *x = (*x & ~(UINT64_C(1) << i)) | (uint64_t)value << i;
}

/* Bits low to high all have that value. */
static int all_bits(uint64_t x, int high, int low, unsigned value)
{
    for (int i = low; i <= high; i++)
        if (bit(x, i) != value)
            return 0;
    return 1;
}

static uint64_t fill(uint64_t x, int high, int low, unsigned value)
{
    for (int i = low; i <= high; i++)
        put(&x, i, value);
    return x;
}

/* The range of that half; there may be one alone. */
static unsigned range_of(const struct machine *m, unsigned half)
{
    return m->n_ranges == 2 ? half : 0;
}

/* Arm ARM, DDI 0487, 2024, AddPAC; or what QEMU does with bits 63 and 55 that differ. */
static uint64_t model_add(const struct machine *m, const struct evc_pac_key *key, uint64_t ptr,
                          uint64_t modifier)
{
    const unsigned tbi = m->tbi[range_of(m, bit(ptr, 55))];
    const int top_bit = tbi ? 55 : 63;
    const unsigned own = m->select == EVC_PAC_SELECT_QEMU || m->n_ranges == 1;
    const unsigned by_55 = m->select == EVC_PAC_SELECT_55 || (own ? tbi : m->tbi[0] || m->tbi[1]);
    const unsigned selbit = bit(ptr, by_55 ? 55 : 63);
    const int bottom =
        (int)m->va_bits[range_of(m, m->select == EVC_PAC_SELECT_QEMU ? bit(ptr, 55) : selbit)];
    uint64_t pac = evc_pac_mac(key, fill(ptr, top_bit, bottom, selbit), modifier), result = ptr;

    if (!all_bits(ptr, top_bit, bottom, 0) && !all_bits(ptr, top_bit, bottom, 1)) {
        if (m->level == EVC_PAC_EPAC)
            pac = 0;
        else if (m->level == EVC_PAC_PAUTH)
            put(&pac, top_bit - 1, !bit(pac, top_bit - 1));
    }
    for (int i = bottom; i <= top_bit; i++)
        put(&result, i,
            i == 55                      ? selbit
            : m->level >= EVC_PAC_PAUTH2 ? bit(ptr, i) ^ bit(pac, i)
                                         : bit(pac, i));
    return result;
}

static struct evc_pac_result model_auth(const struct machine *m, const struct evc_pac_key *key,
                                        unsigned key_number, int is_combined, uint64_t ptr,
                                        uint64_t modifier)
{
    const unsigned selbit = bit(ptr, 55), tbi = m->tbi[range_of(m, selbit)];
    const int top_bit = tbi ? 55 : 63, bottom = (int)m->va_bits[range_of(m, selbit)];
    const uint64_t original = fill(ptr, top_bit, bottom, selbit),
                   pac = evc_pac_mac(key, original, modifier);
    struct evc_pac_result result = {m->level >= EVC_PAC_PAUTH2 ? ptr : original, 1, 0};

    for (int i = bottom; i <= top_bit; i++) {
        if (i == 55)
            continue;
        if (m->level < EVC_PAC_PAUTH2) {
            result.valid = result.valid && bit(ptr, i) == bit(pac, i);
        } else {
            put(&result.value, i, bit(ptr, i) ^ bit(pac, i));
            result.valid = result.valid && bit(result.value, i) == selbit;
        }
    }
    if (m->level < EVC_PAC_PAUTH2 && !result.valid) {
        put(&result.value, tbi ? 54 : 62, key_number);
        put(&result.value, tbi ? 53 : 61, !key_number);
    }
    result.fault = !result.valid &&
                   (m->level == EVC_PAC_FPACCOMBINE || (m->level == EVC_PAC_FPAC && !is_combined));
    return result;
}

static int same_result(struct evc_pac_result a, struct evc_pac_result b)
{
    return a.value == b.value && a.valid == b.valid && a.fault == b.fault;
}

/* Any pointer; canonical ones, and those with a bit or two beside, are most. */
static uint64_t some_pointer(const struct machine *m)
{
    uint64_t ptr = random64();
    const unsigned half = bit(ptr, 55), range = range_of(m, half);
    const int top_bit = m->tbi[range] ? 55 : 63;

    if (random_below(4))
        ptr = fill(ptr, top_bit, (int)m->va_bits[range], half);
    for (size_t i = random_below(3); i && random_below(2); i--)
        ptr ^= UINT64_C(1) << random_below(64);
    return ptr;
}

static void compare_with_model(const struct machine *m, const struct evc_pac_key *key)
{
    struct evc_pac_regime regime;

    EXPECT(evc_pac_set_regime(&regime, m->level, m->n_ranges, m->va_bits, m->tbi, m->select) ==
           EVC_OK);
    for (int i = 0; i < 12; i++) {
        const uint64_t ptr = some_pointer(m), modifier = random64();
        const uint64_t added = evc_pac_add(evc_pac_rules_to_add(&regime, ptr), key, ptr, modifier);
        const uint64_t wrong = added ^ (random_below(2) ? UINT64_C(1) << random_below(64) : 0);
        const struct evc_pac_rules *rules = evc_pac_rules_to_auth(&regime, wrong);
        const unsigned letter = (unsigned)random_below(2);
        const int combined = (int)random_below(2);

        EXPECT(added == model_add(m, key, ptr, modifier));
        EXPECT(same_result(evc_pac_auth(rules, key, letter ? EVC_PAC_KEY_B : EVC_PAC_KEY_A,
                                        combined, wrong, modifier),
                           model_auth(m, key, letter, combined, wrong, modifier)));
        EXPECT(evc_pac_strip(rules, wrong) ==
               fill(wrong, rules->tbi ? 55 : 63, rules->va_bits, bit(wrong, 55)));
    }
}

/* All levels, sizes of the lower half, TBI of both, all selections, one range and two; sizes of the
 * upper half by chance. */
static void instructions_do_what_the_pseudocode_says(void)
{
    for (size_t i = 0; i < N_ALGORITHMS; i++) {
        struct machine m;
        for (m.level = EVC_PAC_PAUTH; m.level <= EVC_PAC_FPACCOMBINE; m.level++)
            for (m.va_bits[0] = EVC_PAC_MIN_VA_BITS; m.va_bits[0] <= EVC_PAC_MAX_VA_BITS;
                 m.va_bits[0]++)
                for (unsigned form = 0; form < 24; form++) {
                    const struct evc_pac_key key = random_key(algorithms[i]);
                    m.va_bits[1] = EVC_PAC_MIN_VA_BITS + (unsigned)random_below(40);
                    m.tbi[0] = form & 1;
                    m.tbi[1] = form >> 1 & 1;
                    m.select = form / 4 % 3;
                    m.n_ranges = 1 + form / 12;
                    compare_with_model(&m, &key);
                }
    }
}

/* Whatever the level: canonical pointers come back, and no other code of the same pointer does. */
static void what_is_added_authenticates_and_nothing_else(void)
{
    for (unsigned level = EVC_PAC_PAUTH; level <= EVC_PAC_FPACCOMBINE; level++)
        for (unsigned form = 0; form < 4; form++) {
            const struct evc_pac_key key = random_key(&evc_pac_qarma5);
            struct evc_pac_rules rules;
            uint64_t ptr = random64(), added;

            EXPECT(evc_pac_set_rules(&rules, level, 48, form & 1, EVC_PAC_EXTEND_BY_TBI) == EVC_OK);
            ptr = form & 2 ? ptr | rules.extension : ptr & ~rules.extension;
            added = evc_pac_add(&rules, &key, ptr, 99);
            EXPECT(((added ^ ptr) & ~rules.field) == 0);
            for (int i = -1; i < 64; i++) {
                const uint64_t changed = i < 0 ? 0 : UINT64_C(1) << i;
                const struct evc_pac_result result =
                    evc_pac_auth(&rules, &key, EVC_PAC_KEY_A, 0, added ^ changed, 99);
                if (!(changed & ~rules.field))
                    EXPECT(result.valid == !changed && (result.value == ptr) == !changed);
                EXPECT(result.fault == (!result.valid && level >= EVC_PAC_FPAC));
            }
        }
}

/* By hand, from the pseudocode; of no model. The code is 1234567890abcdef of the one block that the
 * pseudocode makes, and every other block has another code. 48 bits of address: the code goes to
 * bits 63 to 56 (12, without TBI) and 54 to 48 (34). */
#define CODE UINT64_C(0x1234567890abcdef)

static uint64_t code_of_one_block(const void *cipher, uint64_t data, uint64_t modifier)
{
    const uint64_t *block = cipher;

    return data == *block && modifier == 7 ? CODE : ~CODE;
}

static struct evc_pac_key key_of_block(uint64_t block)
{
    struct evc_pac_key key;

    memset(&key, 0, sizeof key);
    key.mac = code_of_one_block;
    key.cipher.hash[0] = block;
    return key;
}

static void adding_gives_what_the_pseudocode_gives_by_hand(void)
{
    static const struct {
        unsigned level, select, n_ranges, tbi[2];
        uint64_t ptr, block, result;
    } cases[] = {
#define ARM EVC_PAC_SELECT_ARM
#define QEMU EVC_PAC_SELECT_QEMU
#define BY_55 EVC_PAC_SELECT_55
#define CASE(level, select, n_ranges, tbi0, tbi1, ptr, block, result) \
    {level, select, n_ranges, {tbi0, tbi1}, UINT64_C(ptr), UINT64_C(block), UINT64_C(result)}
        /* Canonical: the code. */
        CASE(1, ARM, 2, 0, 0, 0x0000111122223333, 0x0000111122223333, 0x1234111122223333),
        CASE(2, ARM, 2, 0, 0, 0x0000111122223333, 0x0000111122223333, 0x1234111122223333),
        CASE(2, ARM, 2, 1, 1, 0xab00111122223333, 0xab00111122223333, 0xab34111122223333),
        CASE(4, ARM, 2, 0, 0, 0xffff111122223333, 0xffff111122223333, 0xedcb111122223333),
        /* Bit 60 is set. Level 1 inverts bit 62 of the code, level 2 makes it 0, later ones
         * add it to the pointer. */
        CASE(1, ARM, 2, 0, 0, 0x1000111122223333, 0x0000111122223333, 0x5234111122223333),
        CASE(2, ARM, 2, 0, 0, 0x1000111122223333, 0x0000111122223333, 0x0000111122223333),
        CASE(3, ARM, 2, 0, 0, 0x1000111122223333, 0x0000111122223333, 0x0234111122223333),
        CASE(4, ARM, 2, 0, 0, 0x1000111122223333, 0x0000111122223333, 0x0234111122223333),
        CASE(5, ARM, 2, 0, 0, 0x1000111122223333, 0x0000111122223333, 0x0234111122223333),
        /* With TBI bit 54 of the code, and of the pointer. */
        CASE(1, ARM, 2, 1, 1, 0xab40111122223333, 0xab00111122223333, 0xab74111122223333),
        CASE(2, ARM, 2, 1, 1, 0xab40111122223333, 0xab00111122223333, 0xab00111122223333),
        CASE(4, ARM, 2, 1, 1, 0xab40111122223333, 0xab00111122223333, 0xab74111122223333),
        /* Bit 63 is set and bit 55 is not: bit 63 extends if neither range has TBI, else bit 55. */
        CASE(1, ARM, 2, 0, 0, 0x8000111122223333, 0xffff111122223333, 0x52b4111122223333),
        CASE(2, ARM, 2, 0, 0, 0x8000111122223333, 0xffff111122223333, 0x0080111122223333),
        CASE(1, ARM, 2, 0, 1, 0x8000111122223333, 0x0000111122223333, 0x5234111122223333),
        CASE(2, ARM, 2, 0, 1, 0x8000111122223333, 0x0000111122223333, 0x0000111122223333),
        CASE(1, QEMU, 2, 0, 1, 0x8000111122223333, 0xffff111122223333, 0x52b4111122223333),
        CASE(1, BY_55, 2, 0, 0, 0x8000111122223333, 0x0000111122223333, 0x5234111122223333),
        /* One range: bit 55 with TBI, else 63; with FEAT_CONSTPACFIELD bit 55. The
         * second TBI does not count. */
        CASE(1, ARM, 1, 0, 1, 0x8000111122223333, 0xffff111122223333, 0x52b4111122223333),
        CASE(1, ARM, 1, 1, 0, 0xab80111122223333, 0xabff111122223333, 0xabf4111122223333),
        CASE(1, BY_55, 1, 0, 1, 0x8000111122223333, 0x0000111122223333, 0x5234111122223333),
    };
    static const unsigned va_bits[2] = {48, 48};
    struct evc_pac_regime regime;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct evc_pac_key key = key_of_block(cases[i].block);
        EXPECT(evc_pac_set_regime(&regime, cases[i].level, cases[i].n_ranges, va_bits, cases[i].tbi,
                                  cases[i].select) == EVC_OK);
        EXPECT(evc_pac_add(evc_pac_rules_to_add(&regime, cases[i].ptr), &key, cases[i].ptr, 7) ==
               cases[i].result);
    }
}

static void authentication_gives_what_the_pseudocode_gives_by_hand(void)
{
    static const struct {
        unsigned level, letter;
        int combined;
        uint64_t ptr, value;
        unsigned valid, fault;
    } cases[] = {
#undef CASE
#define CASE(level, letter, combined, ptr, value, valid, fault) \
    {level, letter, combined, UINT64_C(ptr), UINT64_C(value), valid, fault}
        CASE(2, 0, 0, 0x1234111122223333, 0x0000111122223333, 1, 0),
        CASE(4, 0, 0, 0x1234111122223333, 0x0000111122223333, 1, 0),
        CASE(5, 0, 1, 0x1234111122223333, 0x0000111122223333, 1, 0),
        /* Bit 48 is wrong: a number in bits 62 and 61, or the sum of pointer and
         * code and perhaps a fault. */
        CASE(2, 0, 0, 0x1235111122223333, 0x2000111122223333, 0, 0),
        CASE(2, 1, 1, 0x1235111122223333, 0x4000111122223333, 0, 0),
        CASE(3, 0, 0, 0x1235111122223333, 0x0001111122223333, 0, 0),
        CASE(4, 0, 0, 0x1235111122223333, 0x0001111122223333, 0, 1),
        CASE(4, 0, 1, 0x1235111122223333, 0x0001111122223333, 0, 0),
        CASE(5, 0, 0, 0x1235111122223333, 0x0001111122223333, 0, 1),
        CASE(5, 1, 1, 0x1235111122223333, 0x0001111122223333, 0, 1),
#undef CASE
#undef ARM
#undef QEMU
#undef BY_55
    };
    const struct evc_pac_key key = key_of_block(UINT64_C(0x0000111122223333));
    struct evc_pac_rules rules;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct evc_pac_result expected = {cases[i].value, (uint8_t)cases[i].valid,
                                                (uint8_t)cases[i].fault};
        EXPECT(evc_pac_set_rules(&rules, cases[i].level, 48, 0, EVC_PAC_EXTEND_55) == EVC_OK);
        EXPECT(
            same_result(evc_pac_auth(&rules, &key, cases[i].letter ? EVC_PAC_KEY_B : EVC_PAC_KEY_A,
                                     cases[i].combined, cases[i].ptr, 7),
                        expected));
    }
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static void rules_out_of_range_are_refused(void)
{
    static const unsigned bad[][4] = {{0, 48, 0, 0},         {6, 48, 0, 0}, {1, 15, 0, 0},
                                      {1, 56, 0, 0},         {1, 0, 0, 0},  {1, 64, 0, 0},
                                      {1, UINT32_MAX, 0, 0}, {1, 48, 2, 0}, {1, 48, 0, 2}};
    static const unsigned sizes[] = {48, 48}, bad_sizes[] = {48, 60}, tbi[] = {0, 0},
                          bad_tbi[] = {0, 2};
    struct evc_pac_rules rules;
    struct evc_pac_regime regime;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT(evc_pac_set_rules(&rules, bad[i][0], bad[i][1], bad[i][2], bad[i][3]) ==
               EVC_ERR_PARAMETER);
    EXPECT(evc_pac_set_regime(&regime, 1, 2, sizes, tbi, 0) == EVC_OK);
    EXPECT(evc_pac_set_regime(&regime, 0, 2, sizes, tbi, 0) == EVC_ERR_PARAMETER);
    EXPECT(evc_pac_set_regime(&regime, 1, 2, bad_sizes, tbi, 0) == EVC_ERR_PARAMETER);
    EXPECT(evc_pac_set_regime(&regime, 1, 2, sizes, bad_tbi, 0) == EVC_ERR_PARAMETER);
    EXPECT(evc_pac_set_regime(&regime, 1, 0, sizes, tbi, 0) == EVC_ERR_PARAMETER);
    EXPECT(evc_pac_set_regime(&regime, 1, 3, sizes, tbi, 0) == EVC_ERR_PARAMETER);
    EXPECT(evc_pac_set_regime(&regime, 1, 2, sizes, tbi, 3) == EVC_ERR_PARAMETER);
    EXPECT(evc_pac_set_regime(&regime, 1, 1, bad_sizes, bad_tbi, 0) == EVC_OK);
    EXPECT(regime.half[0].va_bits == 48 && regime.half[1].va_bits == 48);
}

/* Extended by bit 63 without TBI, whatever else; but by bit 55 with FEAT_CONSTPACFIELD. */
static void regimes_of_one_range_follow_their_own_tbi(void)
{
    static const unsigned select[] = {EVC_PAC_SELECT_ARM, EVC_PAC_SELECT_QEMU, EVC_PAC_SELECT_55};
    const unsigned va_bits = 48;
    struct evc_pac_regime regime;

    for (unsigned tbi = 0; tbi < 2; tbi++)
        for (size_t i = 0; i < 3; i++) {
            EXPECT(evc_pac_set_regime(&regime, EVC_PAC_EPAC, 1, &va_bits, &tbi, select[i]) ==
                   EVC_OK);
            for (size_t j = 0; j < 2; j++)
                EXPECT(regime.half[j].tbi == tbi && regime.half[j].extend == (i == 2));
        }
}

static void sizes_out_of_range_are_forced_or_kept(void)
{
    for (unsigned tsz = 0; tsz < 64; tsz++) {
        const unsigned forced = tsz < 16 ? 48 : tsz > 39 ? 25 : 64 - tsz;
        EXPECT(evc_pac_va_bits(tsz, 16, 39, EVC_PAC_SIZE_FORCED) == forced);
        EXPECT(evc_pac_va_bits(tsz, 16, 39, EVC_PAC_SIZE_AS_IS) == 64 - tsz);
    }
    EXPECT(evc_pac_va_bits(UINT32_MAX, 16, 39, EVC_PAC_SIZE_AS_IS) == 0);
    EXPECT(evc_pac_va_bits(12, 12, 48, EVC_PAC_SIZE_FORCED) == 52);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void keys_are_those_of_their_values_and_ids_never_repeat(void)
{
    static struct evc_pac_keys keys;
    static uint64_t value_of[4096];
    const struct evc_pac_kernels kernels = portable();
    uint64_t highest = 0;

    EXPECT(evc_pac_keys_init(&keys, &evc_pac_impdef, &kernels) == EVC_OK);
    for (int i = 0; i < 4000; i++) {
        /* Few values for a while, then others. */
        const uint64_t hi = random_below(10), lo = random_below(2) + (uint64_t)(i / 500) % 3;
        const struct evc_pac_key *key = evc_pac_keys_get(&keys, hi, lo),
                                 expected = key_with(&evc_pac_impdef, hi, lo);

        EXPECT(evc_pac_mac(key, 1, 2) == evc_pac_mac(&expected, 1, 2));
        EXPECT(key->id > 0 && key->id < 4096);
        if (key->id <= highest)
            EXPECT(value_of[key->id] == (hi << 8 | lo));
        else
            highest = key->id;
        value_of[key->id & 4095] = hi << 8 | lo;
        EXPECT(evc_pac_keys_get(&keys, hi, lo) == key);
    }
    EXPECT(keys.schedules == keys.last_id - 1);
}

/* Five of a program and as many as there is room for of an operating system. */
static void keys_that_come_back_are_not_made_again(void)
{
    static struct evc_pac_keys keys;
    const struct evc_pac_kernels kernels = portable();

    EXPECT(evc_pac_keys_init(&keys, &evc_pac_qarma5, &kernels) == EVC_OK);
    for (uint64_t round = 0; round < 10; round++)
        for (uint64_t i = 0; i < EVC_PAC_KEY_SLOTS; i++)
            (void)evc_pac_keys_get(&keys, i, 1);
    EXPECT(keys.schedules == EVC_PAC_KEY_SLOTS);
}

static void keys_in_use_are_not_replaced(void)
{
    static struct evc_pac_keys keys;
    const struct evc_pac_kernels kernels = portable();

    EXPECT(evc_pac_keys_init(&keys, &evc_pac_impdef, &kernels) == EVC_OK);
    for (uint64_t i = 0; i < 50; i++) {
        (void)evc_pac_keys_get(&keys, 1, 1);
        (void)evc_pac_keys_get(&keys, 2, i);
    }
    EXPECT(keys.schedules == 51);
}

static void keys_without_an_id_are_not_remembered_in_a_memo(void)
{
    static struct evc_pac_keys keys;
    const struct evc_pac_kernels kernels = portable();
    const struct evc_pac_key *key;
    struct evc_pac_rules rules;

    EXPECT(evc_pac_set_rules(&rules, 1, 48, 0, 0) == EVC_OK);
    EXPECT(evc_pac_keys_init(&keys, &evc_pac_impdef, &kernels) == EVC_OK);
    keys.last_id = (UINT64_C(1) << 40) - 2;
    key = evc_pac_keys_get(&keys, 1, 1);
    EXPECT(key->id == (UINT64_C(1) << 40) - 1);
    EXPECT(evc_pac_context(key, &rules) >> EVC_PAC_ID_SHIFT == key->id);
    for (uint64_t i = 2; i < 30; i++)
        EXPECT(evc_pac_context(evc_pac_keys_get(&keys, i, i), &rules) == 0);
}

/* ---- The memo -------------------------------------------------------------------------------- */

#define MOST_SETS 512
static struct evc_pac_memo_set sets[MOST_SETS];
static struct evc_pac_keys memo_keys;
static struct evc_pac_memo memo;

static void fresh_memo(const struct evc_pac_algorithm *algorithm, size_t n_sets)
{
    const struct evc_pac_kernels kernels = portable();

    memset(sets, 0xa5, sizeof sets);
    EXPECT(evc_pac_memo_init(&memo, sets, n_sets) == EVC_OK);
    EXPECT(evc_pac_keys_init(&memo_keys, algorithm, &kernels) == EVC_OK);
}

static uint64_t calls_of(enum evc_pac_operation operation)
{
    return memo.hits[operation] + memo.misses[operation];
}

/* One instruction through the memo and without. The same few pointers and modifiers come again and
 * again, signed by keys and under regimes that are not those of now. */
static void same_as_without(const struct evc_pac_regime *regime, const struct evc_pac_key *key,
                            uint64_t *ptr, uint64_t modifier)
{
    const struct evc_pac_rules *to_add = evc_pac_rules_to_add(regime, *ptr);
    const struct evc_pac_rules *rules = evc_pac_rules_to_auth(regime, *ptr);
    const uint64_t context = evc_pac_context(key, rules);
    const enum evc_pac_letter letter = random_below(2) ? EVC_PAC_KEY_A : EVC_PAC_KEY_B;
    const int combined = (int)random_below(2);
    const struct evc_pac_result expected =
        evc_pac_auth(rules, key, letter, combined, *ptr, modifier);
    uint64_t added;

    switch (random_below(4)) {
    case 0:
        EXPECT(same_result(
            evc_pac_memo_auth(&memo, context, rules, key, letter, combined, *ptr, modifier),
            expected));
        *ptr = expected.value;
        return;
    case 1:
        EXPECT(evc_pac_memo_generic(&memo, context, key, *ptr, modifier) ==
               evc_pac_generic(key, *ptr, modifier));
        return;
    case 2: *ptr = evc_pac_strip(rules, *ptr); return;
    default:
        added = evc_pac_memo_add(&memo, evc_pac_context(key, to_add), to_add, key, *ptr, modifier);
        EXPECT(added == evc_pac_add(to_add, key, *ptr, modifier));
        *ptr = added;
        return;
    }
}

/* One of eight: of either half, some with a tag, some with bits 63 and 55 or
 * 47 and 48 that differ. */
static uint64_t pointer_at(size_t i)
{
    return (UINT64_C(0x1000) * i | (i % 2 ? ~UINT64_C(0) << 47 : 0)) ^
           (i & 2 ? UINT64_C(0xbc) << 56 : 0) ^ (i & 4 ? UINT64_C(1) << 47 : 0);
}

/* One of few, whose rules differ in one thing. */
static void some_regime(struct evc_pac_regime *regime)
{
    const unsigned level = EVC_PAC_PAUTH + (unsigned)random_below(5),
                   select = (unsigned)random_below(3);
    const unsigned va_bits[2] = {47 + (unsigned)random_below(2), 47 + (unsigned)random_below(2)};
    const unsigned tbi[2] = {(unsigned)random_below(2), (unsigned)random_below(2)};

    EXPECT(evc_pac_set_regime(regime, level, random_below(4) ? 2 : 1, va_bits, tbi, select) ==
           EVC_OK);
}

/* More values of keys than slots, other regimes, few sets of entries, flushes. */
static void memo_is_never_wrong(const struct evc_pac_algorithm *algorithm, size_t n_sets)
{
    uint64_t ptrs[8] = {0}, lo = 0;
    struct evc_pac_regime regime;

    fresh_memo(algorithm, n_sets);
    some_regime(&regime);
    for (int i = 0; i < 60000; i++) {
        const size_t at = random_below(8);
        if (!random_below(60))
            lo = random_below(11);
        if (!random_below(60))
            some_regime(&regime);
        if (!random_below(500))
            evc_pac_memo_flush(&memo);
        if (!random_below(3))
            ptrs[at] = pointer_at(at);
        same_as_without(&regime, evc_pac_keys_get(&memo_keys, 5, lo), &ptrs[at],
                        0x7ff000 + 16 * random_below(4));
    }
    for (unsigned operation = EVC_PAC_OP_ADD; operation <= EVC_PAC_OP_GENERIC; operation++)
        EXPECT(memo.hits[operation] > 40 && memo.misses[operation] > 1000);
}

static void memo_gives_what_none_gives(void)
{
    for (size_t i = 0; i < N_ALGORITHMS; i++) {
        memo_is_never_wrong(algorithms[i], 4);
        memo_is_never_wrong(algorithms[i], 16);
    }
}

static void memo_knows_what_it_has_added(void)
{
    const struct evc_pac_key *key;
    struct evc_pac_rules rules;
    uint64_t context, ptr;

    for (unsigned level = EVC_PAC_PAUTH; level <= EVC_PAC_FPACCOMBINE; level++) {
        fresh_memo(&evc_pac_qarma5, MOST_SETS);
        EXPECT(evc_pac_set_rules(&rules, level, 48, 0, EVC_PAC_EXTEND_BY_TBI) == EVC_OK);
        key = evc_pac_keys_get(&memo_keys, 1, 2);
        context = evc_pac_context(key, &rules);
        ptr = evc_pac_memo_add(&memo, context, &rules, key, 0x401234, 0x7ff0);
        ptr = evc_pac_memo_auth(&memo, context, &rules, key, EVC_PAC_KEY_A, 0, ptr, 0x7ff0).value;
        EXPECT(ptr == 0x401234);
        EXPECT(evc_pac_memo_add(&memo, context, &rules, key, ptr, 0x7ff0) != ptr);
        EXPECT(memo.misses[EVC_PAC_OP_ADD] == 1 && memo.hits[EVC_PAC_OP_ADD] == 1);
        EXPECT(memo.misses[EVC_PAC_OP_AUTH] == 0 && memo.hits[EVC_PAC_OP_AUTH] == 1);
        EXPECT(calls_of(EVC_PAC_OP_GENERIC) == 0);
    }
}

/* Two ways: the two newest of a set. */
static void memo_keeps_the_two_newest_of_a_set(void)
{
    uint64_t ptrs[3], result = 0;
    size_t n = 0;

    fresh_memo(&evc_pac_impdef, MOST_SETS);
    for (uint64_t ptr = 4; n < 3; ptr += 4)
        if (evc_pac_memo_set_of(&memo, EVC_PAC_OP_ADD, ptr, 8) == &sets[3])
            ptrs[n++] = ptr;
    for (n = 0; n < 3; n++)
        evc_pac_memo_keep(&memo, 1024, EVC_PAC_OP_ADD, ptrs[n], 8, 100 + n);
    /* again: it takes no second place */
    evc_pac_memo_keep(&memo, 1024, EVC_PAC_OP_ADD, ptrs[2], 8, 102);
    EXPECT(!evc_pac_memo_find(&memo, 1024, EVC_PAC_OP_ADD, ptrs[0], 8, &result));
    EXPECT(evc_pac_memo_find(&memo, 1024, EVC_PAC_OP_ADD, ptrs[1], 8, &result) && result == 101);
    EXPECT(evc_pac_memo_find(&memo, 1024, EVC_PAC_OP_ADD, ptrs[2], 8, &result) && result == 102);
    EXPECT(!evc_pac_memo_find(&memo, 2048, EVC_PAC_OP_ADD, ptrs[2], 8, &result));
    EXPECT(!evc_pac_memo_find(&memo, 1024, EVC_PAC_OP_AUTH, ptrs[2], 8, &result));
    EXPECT(!evc_pac_memo_find(&memo, 1024, EVC_PAC_OP_ADD, ptrs[2], 9, &result));
}

/* AddPAC and its authentication. */
static void sign_and_authenticate(const struct evc_pac_key *key, const struct evc_pac_rules *rules,
                                  uint64_t ptr, uint64_t modifier)
{
    const uint64_t context = evc_pac_context(key, rules);
    const uint64_t added = evc_pac_memo_add(&memo, context, rules, key, ptr, modifier);

    EXPECT(evc_pac_memo_auth(&memo, context, rules, key, EVC_PAC_KEY_A, 0, added, modifier).value ==
           ptr);
}

/* Frames of a stack that are not many for the memo; the last one that shares its set with the
 * first, or the second. */
#define FRAME(i) (UINT64_C(0x0000fffff7a5e8c0) - 48 * (i))

static uint64_t frame_like_the_first(uint64_t ptr)
{
    const struct evc_pac_memo_set *first =
        evc_pac_memo_set_of(&memo, EVC_PAC_OP_ADD, ptr, FRAME(0));
    uint64_t i = 1;

    while (evc_pac_memo_set_of(&memo, EVC_PAC_OP_ADD, ptr, FRAME(i)) != first)
        i++;
    return FRAME(i);
}

/* Whatever the size of addresses, even if there is no room for a code. */
static void memo_has_two_ways_for_each_place_of_a_program(void)
{
    static const unsigned va_bits[] = {39, 48, 52, 55};
    const uint64_t ptr = UINT64_C(0x2aaab5c01234);
    struct evc_pac_rules rules;

    for (unsigned form = 0; form < 8; form++) {
        const struct evc_pac_key *key;
        uint64_t other, modifier;

        fresh_memo(&evc_pac_qarma5, MOST_SETS);
        EXPECT(evc_pac_set_rules(&rules, EVC_PAC_PAUTH2, va_bits[form / 2], form % 2,
                                 EVC_PAC_EXTEND_55) == EVC_OK);
        key = evc_pac_keys_get(&memo_keys, 1, 2);
        modifier = FRAME(0);
        other = frame_like_the_first(ptr & ~rules.extension);
        for (int i = 0; i < 1000; i++) {
            sign_and_authenticate(key, &rules, ptr & ~rules.extension, modifier);
            sign_and_authenticate(key, &rules, ptr & ~rules.extension, other);
        }
        EXPECT(memo.misses[EVC_PAC_OP_ADD] == 2 && memo.misses[EVC_PAC_OP_AUTH] == 0);
    }
}

/* Two processes at the same addresses. */
static void memo_has_room_for_one_pointer_under_two_keys(void)
{
    struct evc_pac_rules rules;

    fresh_memo(&evc_pac_qarma5, MOST_SETS);
    EXPECT(evc_pac_set_rules(&rules, EVC_PAC_PAUTH2, 48, 1, EVC_PAC_EXTEND_55) == EVC_OK);
    for (uint64_t i = 0; i < 2000; i++)
        sign_and_authenticate(evc_pac_keys_get(&memo_keys, 1, i % 2), &rules, 0x401234, FRAME(0));
    EXPECT(memo.misses[EVC_PAC_OP_ADD] == 2 && memo.misses[EVC_PAC_OP_AUTH] == 0);
}

/* However often: numbers of flushes come again. */
static void memo_that_was_flushed_has_nothing(void)
{
    uint64_t result;

    for (int later = 0; later < 300; later += 299) {
        fresh_memo(&evc_pac_impdef, MOST_SETS);
        for (int i = 0; i < later; i++)
            evc_pac_memo_flush(&memo);
        evc_pac_memo_keep(&memo, 1024, EVC_PAC_OP_ADD, 1, 2, 3);
        EXPECT(evc_pac_memo_find(&memo, 1024, EVC_PAC_OP_ADD, 1, 2, &result) && result == 3);
        for (int i = 0; i < 600; i++) {
            evc_pac_memo_flush(&memo);
            EXPECT(!evc_pac_memo_find(&memo, 1024, EVC_PAC_OP_ADD, 1, 2, &result));
        }
    }
}

/* Then ids are given again, to other values. */
static void memo_that_was_flushed_is_right_for_keys_put_back(void)
{
    static struct evc_pac_keys snapshot;
    const struct evc_pac_key *key;
    struct evc_pac_rules rules;
    uint64_t id, added;

    fresh_memo(&evc_pac_qarma5, MOST_SETS);
    EXPECT(evc_pac_set_rules(&rules, EVC_PAC_PAUTH2, 48, 0, EVC_PAC_EXTEND_55) == EVC_OK);
    snapshot = memo_keys;
    key = evc_pac_keys_get(&memo_keys, 1, 1);
    id = key->id;
    added = evc_pac_memo_add(&memo, evc_pac_context(key, &rules), &rules, key, 0x401234, 8);
    EXPECT(added == evc_pac_add(&rules, key, 0x401234, 8));
    memo_keys = snapshot;
    evc_pac_memo_flush(&memo);
    key = evc_pac_keys_get(&memo_keys, 2, 2);
    EXPECT(key->id == id);
    EXPECT(evc_pac_memo_add(&memo, evc_pac_context(key, &rules), &rules, key, 0x401234, 8) !=
           added);
    EXPECT(memo.hits[EVC_PAC_OP_ADD] == 0);
}

static void memo_without_a_context_keeps_nothing(void)
{
    uint64_t result;

    fresh_memo(&evc_pac_impdef, 2);
    for (uint64_t ptr = 0; ptr < 8; ptr++) {
        evc_pac_memo_keep(&memo, 0, EVC_PAC_OP_ADD, ptr, 0, 3);
        EXPECT(!evc_pac_memo_find(&memo, 0, EVC_PAC_OP_ADD, ptr, 0, &result));
    }
    EXPECT(memo.misses[EVC_PAC_OP_ADD] == 8 && memo.hits[EVC_PAC_OP_ADD] == 0);
}

static void memo_refuses_numbers_of_sets(void)
{
    static const size_t bad[] = {0, 1, 3, 5, 12, 511, 513, (size_t)1 << 15, SIZE_MAX};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT(evc_pac_memo_init(&memo, sets, bad[i]) == EVC_ERR_LENGTH);
    EXPECT(sizeof(struct evc_pac_memo_set) == 64);
}

/* As allocators have it, which know of no lines. */
static void memo_asks_for_no_more_than_numbers_do(void)
{
    static struct {
        uint64_t before;
        struct evc_pac_memo_set sets[4];
        uint64_t behind;
    } room;
    uint64_t result;

    EXPECT(offsetof(struct evc_pac_memo_set, way) == 0 &&
           (char *)room.sets - (char *)&room == sizeof room.before);
    EXPECT(evc_pac_memo_init(&memo, room.sets, 4) == EVC_OK);
    for (uint64_t ptr = 0; ptr < 100; ptr++) {
        evc_pac_memo_keep(&memo, 1024, EVC_PAC_OP_ADD, ptr, 1, ptr + 5);
        EXPECT(evc_pac_memo_find(&memo, 1024, EVC_PAC_OP_ADD, ptr, 1, &result) &&
               result == ptr + 5);
    }
    EXPECT(room.before == 0 && room.behind == 0);
}

int main(void)
{
    RUN(algorithms_give_published_answers);
    RUN(algorithms_give_the_answers_of_an_emulator);
    with_every_kernel_of_a_code();
    RUN(algorithms_have_names_and_ask_for_their_kernels);
    RUN(instructions_do_what_the_pseudocode_says);
    RUN(adding_gives_what_the_pseudocode_gives_by_hand);
    RUN(authentication_gives_what_the_pseudocode_gives_by_hand);
    RUN(what_is_added_authenticates_and_nothing_else);
    RUN(rules_out_of_range_are_refused);
    RUN(regimes_of_one_range_follow_their_own_tbi);
    RUN(sizes_out_of_range_are_forced_or_kept);
    RUN(keys_are_those_of_their_values_and_ids_never_repeat);
    RUN(keys_that_come_back_are_not_made_again);
    RUN(keys_in_use_are_not_replaced);
    RUN(keys_without_an_id_are_not_remembered_in_a_memo);
    RUN(memo_gives_what_none_gives);
    RUN(memo_knows_what_it_has_added);
    RUN(memo_keeps_the_two_newest_of_a_set);
    RUN(memo_has_two_ways_for_each_place_of_a_program);
    RUN(memo_has_room_for_one_pointer_under_two_keys);
    RUN(memo_that_was_flushed_has_nothing);
    RUN(memo_that_was_flushed_is_right_for_keys_put_back);
    RUN(memo_without_a_context_keeps_nothing);
    RUN(memo_refuses_numbers_of_sets);
    RUN(memo_asks_for_no_more_than_numbers_do);
    return tap_done();
}
