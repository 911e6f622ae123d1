/* SPDX-License-Identifier: MIT */
/* The right answers: the keys of one call, and the output of a mode for an input with them. */
#ifndef SUBJECT_ANSWERS_H
#define SUBJECT_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "everycore/aes.h"
#include "everycore/bn.h"
#include "everycore/bn_words.h"
#include "everycore/gcm.h"
#include "everycore/ghash.h"
#include "everycore/modes.h"
#include "everycore/pac.h"
#include "everycore/qarma.h"
#include "everycore/sha2.h"

/* The kernels c_ref under names of their own: the program may hold c_ref itself, as a subject. */
extern const struct evc_aes answers_aes;
extern const struct evc_ghash answers_ghash;
extern const struct evc_qarma answers_qarma;
extern const struct evc_bn_words answers_bn_words;
extern const struct evc_sha2 answers_sha2;
extern const struct evc_bn answers_bn; /* c_limb32, which other tests hold against
                                        * c_ref: that takes too long */

enum mode {
    MODE_ecb_enc,
    MODE_ecb_dec,
    MODE_cbc_enc,
    MODE_cbc_dec,
    MODE_ctr,
    MODE_xts_enc,
    MODE_xts_dec,
    MODE_ghash,
    MODE_gcm_seal,
    MODE_gcm_open,
    MODE_qarma5,      /* Arm's: one chain, the tweaks are the input; the key is of 128 bits */
    MODE_qarma5_each, /* the blocks are the input, and the tweaks as well */
    MODE_qarma5_many, /* likewise, all in one call */
    MODE_qarma3,
    MODE_qarma3_each,
    MODE_impdef, /* QEMU's hash, as qarma5 */
    MODE_impdef_each,
    MODE_pac_instructions, /* with QARMA5: the input is of struct pac_record */
    MODE_mont_mul1024, /* the input are numbers of so many bits, each times the factor
                        * again and again: numbers.h */
    MODE_mont_mul2048,
    MODE_mont_sqr2048, /* each number times the factor, and squared again and again */
    MODE_exp1024,      /* each number without its highest bit, to the power
                        * of 128 bits of the key */
    MODE_mul_add_words, /* the input are words of this CPU, to which their product with a
                         * word of the key is added */
    MODE_mod_word,      /* the remainder of all words by 65521, then zeros */
    MODE_sha256_blocks, /* the input are whole blocks, the output the state behind them */
    MODE_sha512_blocks,
    MODE_own, /* answered by the subject itself, as a trusted compiler made it */
};

struct material {
    uint8_t user_key[32], tweak_key[32], iv[16], h[8][16];
    struct evc_aes_xts_key xts;
    union evc_aes_key aes; /* of the key form "fips197": aes/fips197_key.h */
    union evc_ghash_key ghash;
    union evc_gcm_key gcm;
    struct evc_pac_key qarma5, qarma3, impdef;
};

/* The same bytes for the same seed, on all machines. */
void fill(uint8_t *to, size_t n_bytes, uint32_t seed);

/* The number that keys and texts are drawn from; 0 and 1 stand for bits that are all alike. */
#define USUAL_SECRET 2
enum drawn { USER_KEY = 1, TWEAK_KEY, IV, TEXT };
void draw(uint8_t *to, size_t n_bytes, enum drawn what, unsigned secret);

/* Sets the user's key, that of the tweak and the IV. */
void draw_keys(struct material *m, unsigned secret);

/* Makes of these keys all else that a mode needs. Ends the program where there are no such keys. */
void expand_keys(struct material *m, unsigned key_bits, enum mode mode);

/* The mode that undoes a decryption; of others, themselves. */
enum mode inverse(enum mode mode);

/* Bytes that a mode writes for so many. */
size_t output_bytes(enum mode mode, size_t n_bytes);

/* Computes the output of an encrypting mode for `in`. tag: of gcm-seal and ghash. */
void answer(const struct material *m, enum mode mode, const uint8_t *in, uint8_t *out,
            size_t n_bytes, uint8_t tag[16]);

#endif
