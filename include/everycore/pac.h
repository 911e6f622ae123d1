/* SPDX-License-Identifier: MIT */
/*
 * Arm's pointer authentication (Arm ARM, DDI 0487, 2024, FEAT_PAuth and its
 * enhancements), for emulators.
 *
 *     struct evc_pac_kernels kernels = {
 *         evc_qarma_select(evc_cpu_features(), EVC_ALLOW_VARTIME, EVC_USE_SERIAL), NULL};
 *     enum evc_status status = evc_pac_keys_init(&keys, &evc_pac_qarma5, &kernels);
 *     if (status == EVC_OK)
 *         status = evc_pac_set_rules(&rules, EVC_PAC_PAUTH2, 48, 1, EVC_PAC_EXTEND_55);
 *
 *     key = evc_pac_keys_get(&keys, apiakey_hi, apiakey_lo);
 *     signed = evc_pac_add(&rules, key, pointer, modifier);
 *     result = evc_pac_auth(&rules, key, EVC_PAC_KEY_A, 0, signed, modifier);
 *
 * Timing: no function here is constant-time. An emulated key protects nothing on the host, so
 * emulators pass EVC_ALLOW_VARTIME, for the fastest kernel. Do not protect real pointers with these
 * functions: the time of evc_pac_keys_get and of a memo reveals which keys and pointers were used
 * before. struct evc_pac_key and struct evc_pac_keys hold keys and their round keys; evc_wipe wipes
 * them.
 *
 * The functions return a value and a fault; the emulator raises the exception. The emulator also
 * decides whether an instruction is enabled (SCTLR_ELx.EnIA and the like, traps). FEAT_PAuth_LR (a
 * second modifier) and the tag bits of FEAT_MTE_NO_ADDRESS_TAGS are not supported.
 */
#ifndef EVERYCORE_PAC_H
#define EVERYCORE_PAC_H

#include "everycore/aes.h"
#include "everycore/qarma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Algorithms ------------------------------------------------------------------------------ */

/* Constant descriptors; a program that names one of them links that one alone. */
struct evc_pac_algorithm;
extern EVC_API const struct evc_pac_algorithm
    evc_pac_qarma5, /* QARMA-64, sigma 2, 5 rounds: ID_AA64ISAR1_EL1.APA */
    evc_pac_qarma3, /* QARMA-64, sigma 1, 3 rounds: ID_AA64ISAR2_EL1.APA3 */
    evc_pac_impdef, /* ID_AA64ISAR1_EL1.API, with QEMU's values: a hash, which is no cipher */
    /* ID_AA64ISAR1_EL1.API too: AES-128 of data and modifier, the first half of the block */
    evc_pac_aes128;

/* "qarma5", "qarma3", "impdef" or "aes128". */
EVC_API const char *evc_pac_algorithm_name(const struct evc_pac_algorithm *algorithm);

/* The kernels of the algorithms. A kernel may be NULL if no algorithm of the program uses it. */
struct evc_pac_kernels {
    const struct evc_qarma *qarma; /* of evc_pac_qarma5 and evc_pac_qarma3 */
    const struct evc_aes *aes;     /* of evc_pac_aes128 */
};

/* ---- Keys ------------------------------------------------------------------------------------ */

/* A key, ready for use. May be copied. */
struct evc_pac_key {
    uint64_t hi, lo; /* the registers: APIAKeyHi_EL1 is bits 127 to 64 */
    uint64_t id;     /* as evc_pac_keys_get says; otherwise 0 */
    uint64_t (*mac)(const void *cipher, uint64_t data, uint64_t modifier);
    union {
        union evc_qarma_key qarma;
        union evc_aes_key aes;
        uint64_t hash[2]; /* lo, hi */
    } cipher;
};

/* EVC_ERR_KERNEL: the algorithm's kernel is NULL, or its key does not fit. EVC_ERR_ALIGNMENT: the
 * key is not aligned to 16 bytes. The key is wiped first. After an error it is all zeros, which
 * means that it is not set up. */
EVC_CHECKED enum evc_status evc_pac_set_key(struct evc_pac_key *key,
                                            const struct evc_pac_algorithm *algorithm,
                                            const struct evc_pac_kernels *kernels, uint64_t hi,
                                            uint64_t lo);

/* ComputePAC of the Arm ARM: all 64 bits. With a key that is not set up (all
 * zeros), the result is 0. */
static inline uint64_t evc_pac_mac(const struct evc_pac_key *key, uint64_t data, uint64_t modifier)
{
    return key->mac ? key->mac(&key->cipher, data, modifier) : 0;
}

/*
 * A cache of the keys that were used last, ready for use: operating systems exchange keys at every
 * entry and exit of the kernel, and the same keys come back. Each emulated CPU has one. It is
 * aligned to 16 bytes, like all keys.
 *
 * A memo belongs to one struct evc_pac_keys. If you initialise that again or assign to it (to
 * restore a copy, say), flush the memo and drop all contexts, because the same ids are then given
 * to other keys.
 */
#define EVC_PAC_KEY_SLOTS 8
struct evc_pac_keys {
    const struct evc_pac_algorithm *algorithm;
    struct evc_pac_kernels kernels;
    uint64_t last_id;
    uint64_t schedules; /* keys made ready so far */
    uint32_t last, next; /* slots: used last, replaced next */
    struct evc_pac_key slots[EVC_PAC_KEY_SLOTS];
};

/* Errors as evc_pac_set_key. The memory is wiped first. After an error it is all zeros, and
 * evc_pac_keys_get returns keys that are not set up. Ids begin at 1 again. */
EVC_CHECKED enum evc_status evc_pac_keys_init(struct evc_pac_keys *keys,
                                              const struct evc_pac_algorithm *algorithm,
                                              const struct evc_pac_kernels *kernels);

/*
 * Returns the key with that value. The pointer is valid until the next call, which may replace the
 * key.
 *
 * The id of a key stays the same while the key is in the cache, and no other value ever gets it, so
 * contexts of a memo use the id in place of the value. Ids are below 2^40; the id is 0 when no new
 * one is left.
 */
EVC_API const struct evc_pac_key *evc_pac_keys_find(struct evc_pac_keys *keys, uint64_t hi,
                                                    uint64_t lo);

static inline const struct evc_pac_key *evc_pac_keys_get(struct evc_pac_keys *keys, uint64_t hi,
                                                         uint64_t lo)
{
    const struct evc_pac_key *last = &keys->slots[keys->last];

    return last->lo == lo && last->hi == hi ? last : evc_pac_keys_find(keys, hi, lo);
}

/* ---- Rules for pointers ---------------------------------------------------------------------- */

/* The values of ID_AA64ISAR1_EL1.APA and API, and of ID_AA64ISAR2_EL1.APA3. */
enum evc_pac_level {
    EVC_PAC_PAUTH = 1,      /* FEAT_PAuth */
    EVC_PAC_EPAC = 2,       /* FEAT_EPAC */
    EVC_PAC_PAUTH2 = 3,     /* FEAT_PAuth2 */
    EVC_PAC_FPAC = 4,       /* FEAT_FPAC */
    EVC_PAC_FPACCOMBINE = 5 /* FEAT_FPACCOMBINE */
};

/* The bit that AddPAC takes as the sign of a pointer whose upper bits may differ. */
enum evc_pac_extend {
    /* Bit 55 with TBI, else 63: all regimes but those of the next line. QEMU does so in all. */
    EVC_PAC_EXTEND_BY_TBI = 0,
    /* Bit 55 always: regimes with two ranges, one of which or both have TBI for this kind of
     * pointer; all regimes with FEAT_CONSTPACFIELD. evc_pac_set_regime makes this choice. */
    EVC_PAC_EXTEND_55 = 1
};

/* The rules for pointers of one kind (to code or to data) into one half of the addresses, under one
 * regime. Made by evc_pac_set_rules; read-only. */
struct evc_pac_rules {
    uint64_t extension; /* the bits that are all equal in a canonical pointer */
    uint64_t field;     /* where the code goes: the extension without bit 55 */
    uint32_t context;   /* these rules as a part of a memo's context */
    uint8_t level, va_bits, tbi, extend;
};

#define EVC_PAC_MIN_VA_BITS 16
#define EVC_PAC_MAX_VA_BITS 55

/*
 * va_bits   the size of addresses, 64 - TxSZ (evc_pac_va_bits): 16 to 55
 * tbi       1: the top byte is ignored for this kind of pointer. For data TCR_ELx.TBIn, for
 *           code TBIn and not TBIDn.
 *
 * EVC_ERR_PARAMETER: level or extend is none of the above, va_bits is out of range, or tbi is not 0
 * or 1.
 */
EVC_CHECKED enum evc_status evc_pac_set_rules(struct evc_pac_rules *rules, unsigned level,
                                              unsigned va_bits, unsigned tbi, unsigned extend);

/* The treatment of a TxSZ out of range. The Arm ARM leaves it to implementations (RESTnSZ). */
enum evc_pac_size_choice {
    EVC_PAC_SIZE_FORCED = 0, /* the nearest in range. QEMU's choice */
    EVC_PAC_SIZE_AS_IS = 1   /* evc_pac_set_rules refuses what is out of its own range */
};

/* 64 - tsz. In range is min_tsz (16; 12 with 52 bits of address, which ask for
 * TCR_ELx.DS or a granule of 64 KiB; 9 with 56) to max_tsz (39; 48 with FEAT_TTST, 47
 * with it and a granule of 64 KiB). */
EVC_API unsigned evc_pac_va_bits(unsigned tsz, unsigned min_tsz, unsigned max_tsz,
                                 enum evc_pac_size_choice choice);

/* The rules of a translation regime, which has one or two ranges of addresses. Bit 55 of a pointer
 * selects one of two ranges. For AddPAC of the Arm ARM, bit 63 selects it if neither range has TBI.
 */
struct evc_pac_regime {
    struct evc_pac_rules half[2]; /* lower, upper; the same twice in a regime of one range */
    uint8_t add_half_bit;         /* the bit that chooses for AddPAC */
};

/* The rules that AddPAC follows for a pointer whose bits 63 and 55 differ. */
enum evc_pac_select {
    EVC_PAC_SELECT_ARM = 0,  /* the Arm ARM's */
    EVC_PAC_SELECT_QEMU = 1, /* QEMU's: the half that bit 55 names, extended by its own TBI */
    EVC_PAC_SELECT_55 = 2    /* the Arm ARM's with FEAT_CONSTPACFIELD: bit 55 for both */
};

/* va_bits, tbi: arrays with the values of the lower and the upper half, as for evc_pac_set_rules,
 * which also has the errors. n_ranges: 1 or 2; with 1 only the first value of each array is read.
 */
EVC_CHECKED enum evc_status evc_pac_set_regime(struct evc_pac_regime *regime, unsigned level,
                                               unsigned n_ranges, const unsigned *va_bits,
                                               const unsigned *tbi, unsigned select);

static inline const struct evc_pac_rules *evc_pac_rules_to_add(const struct evc_pac_regime *regime,
                                                               uint64_t pointer)
{
    return &regime->half[pointer >> regime->add_half_bit & 1];
}

/* The rules of authentication and XPAC. */
static inline const struct evc_pac_rules *evc_pac_rules_to_auth(const struct evc_pac_regime *regime,
                                                                uint64_t pointer)
{
    return &regime->half[pointer >> 55 & 1];
}

/* ---- The instructions ------------------------------------------------------------------------ */

/* PAC*: AddPAC of the Arm ARM. */
EVC_API uint64_t evc_pac_add(const struct evc_pac_rules *rules, const struct evc_pac_key *key,
                             uint64_t pointer, uint64_t modifier);

/* The letter of a key, for the error code of levels below PAUTH2. */
enum evc_pac_letter { EVC_PAC_KEY_A = 0, EVC_PAC_KEY_B = 1 };

struct evc_pac_result {
    uint64_t value; /* for the register; with a fault it is not written */
    uint8_t valid;  /* 1: the code was right */
    uint8_t fault;  /* 1: the level has a PAC Fail exception here */
};

/* AUT*: Auth of the Arm ARM. combined: 1 for instructions that also branch, return or load (RETAA,
 * BRAA, LDRAA, ERETAA ...). LDRAA and LDRAB have a modifier of 0, never SP, and keys for data. */
EVC_API struct evc_pac_result evc_pac_auth(const struct evc_pac_rules *rules,
                                           const struct evc_pac_key *key,
                                           enum evc_pac_letter letter, int combined,
                                           uint64_t pointer, uint64_t modifier);

/* XPAC*: Strip of the Arm ARM. */
static inline uint64_t evc_pac_strip(const struct evc_pac_rules *rules, uint64_t pointer)
{
    return pointer >> 55 & 1 ? pointer | rules->extension : pointer & ~rules->extension;
}

/* PACGA: the upper 32 bits, zeros below. */
static inline uint64_t evc_pac_generic(const struct evc_pac_key *key, uint64_t data,
                                       uint64_t modifier)
{
    return evc_pac_mac(key, data, modifier) & UINT64_C(0xffffffff00000000);
}

/* ---- The memo -------------------------------------------------------------------------------- */

/*
 * A memo is a cache of results. An entry is used only if pointer, modifier and context are all the
 * same. The context is a number for all else that a result depends on: the key, the sizes, TBI, the
 * level. Each struct evc_pac_keys has one memo, which is flushed when that is assigned to. There
 * are no locks. A copy of struct evc_pac_memo has the same sets: use one of the two only.
 *
 *     EVC_ALIGN(64) static struct evc_pac_memo_set sets[512];
 *     evc_pac_memo_init(&memo, sets, 512);
 *     signed = evc_pac_memo_add(&memo, evc_pac_context(key, rules), rules, key, pointer, modifier);
 *
 * An emulator may store the context of each key register until that register or a control register
 * is written. It then looks a result up (evc_pac_memo_find) without the key, and needs the key only
 * if there is no result.
 */
struct evc_pac_memo_entry {
    uint64_t pointer, modifier, tag, result;
};
struct evc_pac_memo_set {
    struct evc_pac_memo_entry way[2]; /* the newer one first */
};

/* The kind of result that is kept: bits 0 and 1 of a tag. */
enum evc_pac_operation { EVC_PAC_OP_ADD = 1, EVC_PAC_OP_AUTH = 2, EVC_PAC_OP_GENERIC = 3 };

struct evc_pac_memo {
    struct evc_pac_memo_set *sets;
    uint32_t mask;  /* the offset in bytes of the last set */
    uint32_t epoch; /* the flushes, modulo 256, in bits 2 to 9 */
    uint64_t hits[4], misses[4]; /* by operation; 0 is not used */
};

/* sets: memory of the caller for n_sets sets, a power of two from 2 to 2^14; 512 sets have 32 KiB.
 * EVC_ERR_LENGTH: another number. The memo points to the sets. If they are aligned to 64 bytes, a
 * set lies in one line of the cache, which is faster. */
EVC_CHECKED enum evc_status evc_pac_memo_init(struct evc_pac_memo *memo,
                                              struct evc_pac_memo_set *sets, size_t n_sets);

/* Drops all results. It takes a few cycles; each 256th call writes all sets. */
EVC_API void evc_pac_memo_flush(struct evc_pac_memo *memo);

/* A context is a number for everything but pointer and modifier. Its low EVC_PAC_CONTEXT_SHIFT bits
 * are zero. No result is kept or found for context 0. */
#define EVC_PAC_CONTEXT_SHIFT 10
#define EVC_PAC_ID_SHIFT 24

/* id: of a key from struct evc_pac_keys. If it is 0, the context is 0, and no result is kept. */
static inline uint64_t evc_pac_context_of(uint64_t id, const struct evc_pac_rules *rules)
{
    return id ? id << EVC_PAC_ID_SHIFT | rules->context : 0;
}

/* As evc_pac_context_of, of the key itself. */
static inline uint64_t evc_pac_context(const struct evc_pac_key *key,
                                       const struct evc_pac_rules *rules)
{
    return evc_pac_context_of(key->id, rules);
}

static inline uint64_t evc_pac_memo_tag(const struct evc_pac_memo *memo, uint64_t context,
                                        enum evc_pac_operation operation)
{
    return (context | memo->epoch) | (uint64_t)operation;
}

/*
 * Return addresses differ in low bits, stack pointers from bit 4 up. A pointer and the same one
 * signed differ in high bits, on which only high bits of a product depend. So the set is chosen by
 * high bits of the product, and by other bits for each operation: if AddPAC and its authentication
 * always shared a set, two places of a program in one set would have one way each. The factor is
 * 2^64 over the golden ratio (Knuth: The Art of Computer Programming, volume 3, 1998, section 6.4).
 */
static inline struct evc_pac_memo_set *evc_pac_memo_set_of(const struct evc_pac_memo *memo,
                                                           enum evc_pac_operation operation,
                                                           uint64_t pointer, uint64_t modifier)
{
    const uint64_t hash =
        (pointer ^ (modifier << 20 ^ modifier >> 4)) * UINT64_C(0x9e3779b97f4a7c15);

    return (struct evc_pac_memo_set *)(void *)((char *)memo->sets +
                                               (hash >> (45 - operation) & memo->mask));
}

static inline int evc_pac_memo_is(const struct evc_pac_memo_entry *entry, uint64_t pointer,
                                  uint64_t modifier, uint64_t tag)
{
    return entry->pointer == pointer && entry->modifier == modifier && entry->tag == tag;
}

/* Returns 1 and writes *result if there is a result, else returns 0. Only successful
 * authentications are kept, so a result has no fault. */
static inline int evc_pac_memo_find(struct evc_pac_memo *memo, uint64_t context,
                                    enum evc_pac_operation operation, uint64_t pointer,
                                    uint64_t modifier, uint64_t *result)
{
    const struct evc_pac_memo_set *set = evc_pac_memo_set_of(memo, operation, pointer, modifier);
    const uint64_t tag = evc_pac_memo_tag(memo, context, operation);

    if (evc_pac_memo_is(&set->way[0], pointer, modifier, tag))
        *result = set->way[0].result;
    else if (evc_pac_memo_is(&set->way[1], pointer, modifier, tag))
        *result = set->way[1].result;
    else
        return 0;
    memo->hits[operation]++;
    return 1;
}

/* Keeps a result that evc_pac_memo_find did not find, and counts a miss. */
EVC_API void evc_pac_memo_keep(struct evc_pac_memo *memo, uint64_t context,
                               enum evc_pac_operation operation, uint64_t pointer,
                               uint64_t modifier, uint64_t result);

/* The instructions through a memo. AddPAC of a canonical pointer also keeps the result
 * of its authentication. */
EVC_API uint64_t evc_pac_memo_add(struct evc_pac_memo *memo, uint64_t context,
                                  const struct evc_pac_rules *rules, const struct evc_pac_key *key,
                                  uint64_t pointer, uint64_t modifier);
EVC_API struct evc_pac_result evc_pac_memo_auth(struct evc_pac_memo *memo, uint64_t context,
                                                const struct evc_pac_rules *rules,
                                                const struct evc_pac_key *key,
                                                enum evc_pac_letter letter, int combined,
                                                uint64_t pointer, uint64_t modifier);
EVC_API uint64_t evc_pac_memo_generic(struct evc_pac_memo *memo, uint64_t context,
                                      const struct evc_pac_key *key, uint64_t data,
                                      uint64_t modifier);

/* ---- For algorithms -------------------------------------------------------------------------- */

struct evc_pac_algorithm {
    const char *name;
    /* Fills key->cipher and key->mac; hi and lo are in key. */
    enum evc_status (*set_key)(struct evc_pac_key *key, const struct evc_pac_kernels *kernels);
};

#ifdef __cplusplus
}
#endif
#endif
