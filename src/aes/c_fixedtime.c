/* SPDX-License-Identifier: MIT */
/*
 * AES with the 256-byte S-box alone, all of which is read before every block.
 *
 * Method:   SubBytes by look-up, MixColumns by shifts on whole columns. Values of the S-box, a word
 *           from each of its 16-byte lines, are part of the first round key and are taken out again
 *           at every use: no index into the table can be known before the whole table is cached.
 * Source:   FIPS 197 (2023) section 5; small tables read in advance: Osvik, Shamir, Tromer, Cache
 *           Attacks and Countermeasures (2006); the values in the round key: A. Biesheuvel's
 *           fixed-time AES for Linux (2017), here with all lines in every word.
 * Needs:    ANY.   Timing: HARDENED (NOT constant time: the S-box is still indexed by secrets, and
 *           tools that look for that must find it. Left to an attacker: evicting lines of the table
 *           within one block, by another thread of the core or an interrupt, and differences inside
 *           a line, such as cache banks).
 * Key form: private (as fips197, with the values mixed in).
 */
#include "aes/kernel.h"

#include "aes/columns.h"
#include "aes/fips197_key.h"
#include "aes/key_schedule.h"
#include "aes/sbox.h"

typedef const uint8_t *tables;

/* The same pointer, but the compiler does not know that: it can neither take the table's values as
 * constants nor keep what was read through an earlier pointer. volatile: not moved out of loops. */
EVC_INLINE tables unknown(tables t)
{
#if defined(__GNUC__)
    __asm__ volatile("" : "+r"(t));
#else
    tables volatile v = t;
    t = v;
#endif
    return t;
}

#define TABLES unknown(evc_aes_sbox)
#define INV_TABLES unknown(evc_aes_inv_sbox)

/* A word from each of four lines of 16 bytes. */
#define TOUCH4(t)                                                                                  \
    (evc_load32_ne(t) ^ evc_load32_ne((t) + 16) ^ evc_load32_ne((t) + 32) ^ evc_load32_ne((t) + 48))
#define TOUCH(t) evc_barrier32(TOUCH4(t) ^ TOUCH4((t) + 64) ^ TOUCH4((t) + 128) ^ TOUCH4((t) + 192))

#define SUB(t, a, b, c, d)                                                                         \
    EVC_COLUMN((t)[EVC_ROW(a, 0)], (t)[EVC_ROW(b, 1)], (t)[EVC_ROW(c, 2)], (t)[EVC_ROW(d, 3)])

#define COLUMN(t, a, b, c, d, k) (load_word(k) ^ evc_mix_column(SUB(t, a, b, c, d)))
#define INV_COLUMN(t, a, b, c, d, k) (load_word(k) ^ evc_inv_mix_column(SUB(t, a, b, c, d)))
#define LAST(t, a, b, c, d, k) (load_word(k) ^ SUB(t, a, b, c, d))
#define INV_LAST LAST

#include "aes/table_steps.h"

/* Two readings of the table cancel; the look-ups wait for both. */
static uint32_t sub_word(uint32_t x)
{
    tables t = unknown(evc_aes_sbox), again = unknown(t);

    x ^= TOUCH(t) ^ TOUCH(again);
    return SUB(again, x, x, x, x);
}

/* The first round key, 16 bytes, gets the values that TOUCH will take out. */
static void mix_in(uint8_t *round_key, tables t)
{
    uint32_t touched = TOUCH(t);

    for (int at = 0; at < 16; at += 4)
        evc_store32_ne(round_key + at, evc_load32_ne(round_key + at) ^ touched);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;

    evc_aes_expand_key(key->enc, user_key, key->head.rounds, sub_word);
    if (key->head.can_decrypt) {
        evc_aes_invert_keys(key->dec, key->enc, key->head.rounds);
        mix_in(key->dec[0], evc_aes_inv_sbox);
    }
    mix_in(key->enc[0], evc_aes_sbox);
}

const struct evc_aes evc_aes_c_fixedtime = {
    .kernel = EVC_KERNEL_HEAD(c_fixedtime, ANY, HARDENED, SERIAL, 1, struct evc_aes_fips197_key, 0),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};
