/* SPDX-License-Identifier: MIT */
#include "prime/search.h"

void evc_prime_remainders_begin(struct evc_prime_remainders *r, const uint8_t *number,
                                size_t n_bytes)
{
    const size_t word_bytes = sizeof(evc_bn_word);

    evc_small_primes_begin(&r->primes);
    r->n_words = (n_bytes + word_bytes - 1) / word_bytes;
    for (size_t i = 0; i < r->n_words; i++)
        r->number[i] = (evc_bn_word)evc_number_word(number, n_bytes, word_bytes, i);
}

void evc_prime_remainders_next(struct evc_prime_remainders *r, const struct evc_bn_words *words)
{
    size_t n_groups;

    evc_small_primes_next(&r->primes, r->prime, EVC_REMAINDERS);
    n_groups = evc_bn_trial_groups(r->prime, EVC_REMAINDERS);
    /* all primes are below 2^28 */
    if (evc_bn_trial_set(r->groups, n_groups, r->prime, EVC_REMAINDERS) == EVC_OK)
        evc_bn_trial_mod(words, r->groups, n_groups, r->number, r->n_words, r->remainder);
}

enum evc_status evc_prime_check_search(const struct evc_prime_search *search, size_t p_bits,
                                       size_t scratch_bytes,
                                       size_t (*needed)(const struct evc_bn *kernel, size_t p_bits))
{
    if (p_bits < EVC_BN_MIN_BITS || p_bits > EVC_BN_MAX_BITS || p_bits % 8 != 0)
        return EVC_ERR_KEY_SIZE;
    if (!search)
        return EVC_ERR_PARAMETER;
    if (!search->kernel || !search->words)
        return EVC_ERR_KERNEL;
    return scratch_bytes < needed(search->kernel, p_bits) ? EVC_ERR_SCRATCH : EVC_OK;
}

enum evc_status evc_prime_report(const struct evc_prime_search *search,
                                 const struct evc_prime_progress *progress)
{
    const int stops = search->report && search->report(search->report_context, progress) != 0;

    return stops ? EVC_ERR_STOPPED : EVC_OK;
}
