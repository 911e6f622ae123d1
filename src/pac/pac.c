/* SPDX-License-Identifier: MIT */
/* AddPAC and Auth of the Arm ARM (DDI 0487, 2024, shared/functions/pac), and the
 * rules that they follow. */
#include "everycore/pac.h"

#include "common/bytes.h"

#define BIT(n) (UINT64_C(1) << (n))

/* ---- Rules ----------------------------------------------------------------------------------- */

enum evc_status evc_pac_set_rules(struct evc_pac_rules *rules, unsigned level, unsigned va_bits,
                                  unsigned tbi, unsigned extend)
{
    if (level < EVC_PAC_PAUTH || level > EVC_PAC_FPACCOMBINE || va_bits < EVC_PAC_MIN_VA_BITS ||
        va_bits > EVC_PAC_MAX_VA_BITS || tbi > 1 || extend > EVC_PAC_EXTEND_55)
        return EVC_ERR_PARAMETER;
    rules->extension = ~(BIT(va_bits) - 1) & (tbi ? BIT(56) - 1 : ~UINT64_C(0));
    rules->field = rules->extension & ~BIT(55);
    rules->context =
        (uint32_t)((va_bits << 5 | level << 2 | tbi << 1 | extend) << EVC_PAC_CONTEXT_SHIFT);
    rules->level = (uint8_t)level;
    rules->va_bits = (uint8_t)va_bits;
    rules->tbi = (uint8_t)tbi;
    rules->extend = (uint8_t)extend;
    return EVC_OK;
}

unsigned evc_pac_va_bits(unsigned tsz, unsigned min_tsz, unsigned max_tsz,
                         enum evc_pac_size_choice choice)
{
    if (choice == EVC_PAC_SIZE_FORCED)
        tsz = tsz < min_tsz ? min_tsz : tsz > max_tsz ? max_tsz : tsz;
    return tsz < 64 ? 64 - tsz : 0;
}

enum evc_status evc_pac_set_regime(struct evc_pac_regime *regime, unsigned level, unsigned n_ranges,
                                   const unsigned *va_bits, const unsigned *tbi, unsigned select)
{
    unsigned extend = EVC_PAC_EXTEND_BY_TBI;

    if (n_ranges < 1 || n_ranges > 2 || select > EVC_PAC_SELECT_55)
        return EVC_ERR_PARAMETER;
    if (select == EVC_PAC_SELECT_55 ||
        (select == EVC_PAC_SELECT_ARM && n_ranges == 2 && (tbi[0] || tbi[1])))
        extend = EVC_PAC_EXTEND_55;
    regime->add_half_bit = select == EVC_PAC_SELECT_QEMU || extend == EVC_PAC_EXTEND_55 ? 55 : 63;
    for (unsigned i = 0; i < 2; i++) {
        const unsigned range = n_ranges == 2 ? i : 0;
        const enum evc_status status =
            evc_pac_set_rules(&regime->half[i], level, va_bits[range], tbi[range], extend);
        if (status != EVC_OK)
            return status;
    }
    return EVC_OK;
}

/* ---- Pointers -------------------------------------------------------------------------------- */

/* The pointer with copies of that bit, 0 or 1, in its extension. */
static uint64_t evc_pac_extended(const struct evc_pac_rules *rules, uint64_t pointer, uint64_t bit)
{
    return (pointer & ~rules->extension) | (((uint64_t)0 - bit) & rules->extension);
}

uint64_t evc_pac_add(const struct evc_pac_rules *rules, const struct evc_pac_key *key,
                     uint64_t pointer, uint64_t modifier)
{
    const unsigned top_bit = rules->tbi ? 55 : 63;
    const uint64_t bit = pointer >> (rules->extend == EVC_PAC_EXTEND_55 ? 55 : top_bit) & 1;
    const uint64_t canonical = evc_pac_extended(rules, pointer, bit),
                   kept = pointer & rules->extension;
    uint64_t mac = evc_pac_mac(key, canonical, modifier);

    if (rules->level >= EVC_PAC_PAUTH2)
        mac ^= pointer;
    else if (kept != 0 && kept != rules->extension)
        mac = rules->level == EVC_PAC_EPAC ? 0 : mac ^ BIT(top_bit - 1);
    return (canonical & ~rules->field) | (mac & rules->field);
}

/* Levels below PAUTH2: a code that is not right becomes an error code below the top bit. */
static struct evc_pac_result evc_pac_compared(const struct evc_pac_rules *rules,
                                              enum evc_pac_letter letter, uint64_t pointer,
                                              uint64_t canonical, uint64_t mac)
{
    const unsigned shift = rules->tbi ? 53 : 61;
    struct evc_pac_result result = {canonical, ((pointer ^ mac) & rules->field) == 0, 0};

    if (!result.valid)
        result.value = (canonical & ~(UINT64_C(3) << shift)) |
                       (uint64_t)(letter == EVC_PAC_KEY_B ? 2 : 1) << shift;
    return result;
}

struct evc_pac_result evc_pac_auth(const struct evc_pac_rules *rules, const struct evc_pac_key *key,
                                   enum evc_pac_letter letter, int combined, uint64_t pointer,
                                   uint64_t modifier)
{
    const uint64_t canonical = evc_pac_strip(rules, pointer);
    const uint64_t mac = evc_pac_mac(key, canonical, modifier);
    struct evc_pac_result result;

    if (rules->level < EVC_PAC_PAUTH2)
        return evc_pac_compared(rules, letter, pointer, canonical, mac);
    result.value = pointer ^ (mac & rules->field);
    result.valid = result.value == canonical;
    result.fault = !result.valid && rules->level >= (combined ? EVC_PAC_FPACCOMBINE : EVC_PAC_FPAC);
    return result;
}
