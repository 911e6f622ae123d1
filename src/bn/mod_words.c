/* SPDX-License-Identifier: MIT */
/* Remainders of a number by many small words, by the word primitives. */
#include "everycore/bn.h"
#include "everycore/bn_words.h"

#include "common/clear.h"
#include "common/number.h"

typedef evc_bn_word word;
#define WORD_BYTES sizeof(word)

static size_t words_for(size_t n_bytes)
{
    return (n_bytes + WORD_BYTES - 1) / WORD_BYTES;
}

size_t evc_bn_mod_words_scratch_bytes(size_t a_bytes)
{
    if (a_bytes == 0 || a_bytes > EVC_BN_MAX_BYTES)
        return 0;
    return words_for(a_bytes) * WORD_BYTES + WORD_BYTES - 1;
}

/* Out of line: what it leaves in its frame lies below its caller, which clears it. */
EVC_OUT_OF_LINE void divide(const struct evc_bn_words *words, const struct evc_bn_trial *groups,
                            size_t n_groups, const uint8_t *a, size_t a_bytes, uint32_t *remainders,
                            void *scratch)
{
    word *const x = (void *)((uint8_t *)scratch + ((uintptr_t)0 - (uintptr_t)scratch) % WORD_BYTES);
    const size_t n_words = words_for(a_bytes);

    for (size_t i = 0; i < n_words; i++)
        x[i] = (word)evc_number_word(a, a_bytes, WORD_BYTES, i);
    evc_bn_trial_mod(words, groups, n_groups, x, n_words, remainders);
}

enum evc_status evc_bn_mod_words(const struct evc_bn_words *words,
                                 const struct evc_bn_trial *groups, size_t n_groups,
                                 const uint8_t *a, size_t a_bytes, uint32_t *remainders,
                                 void *scratch, size_t scratch_bytes)
{
    const size_t used = evc_bn_mod_words_scratch_bytes(a_bytes);

    if (!words)
        return EVC_ERR_KERNEL;
    if (!used)
        return EVC_ERR_LENGTH;
    if (scratch_bytes < used)
        return EVC_ERR_SCRATCH;
    if (!a || (!groups && n_groups))
        return EVC_ERR_PARAMETER;
    divide(words, groups, n_groups, a, a_bytes, remainders, scratch);
    evc_wipe(scratch, used);
    evc_clear(&words->kernel); /* of `divide`, whose frame lies above what it clears */
    return EVC_OK;
}
