/* SPDX-License-Identifier: MIT */
/*
 * CBC encryption or MAC of many messages, as chains of blocks that are under way together. Include
 * it where these are defined:
 *
 *   WIDE                    the most chains at once
 *   chains_run_wide, chains_run_4, chains_run_2   (key, chains, n_blocks, storing): so many more
 *                           blocks of WIDE, 4 or 2 chains
 *   cbc_encrypt, cbcmac     the slots
 */
#ifndef EVC_AES_MANY_CHAINS_H
#define EVC_AES_MANY_CHAINS_H

#include "aes/chains.h"
#include "aes/fips197_key.h"

/* storing: for messages that are encrypted, else for those of which only the MAC is wanted. Returns
 * whether there are some of the other kind. Chains above the active repeat chain 0: they write the
 * same bytes more than once. */
static int cbc_many(const void *key, const struct evc_msg *msgs, size_t n, int storing)
{
    struct evc_aes_queue q = {msgs, msgs + n, storing, 0};
    struct evc_aes_chain chains[WIDE];
    size_t active = 0, run;

    for (;;) {
        run = evc_aes_chains_refill(chains, &active, WIDE, &q);
        if (active <= 1)
            break;
        for (size_t c = active; c < WIDE; c++)
            chains[c] = chains[0];
        if (active > 4)
            chains_run_wide(key, chains, run, storing);
        else if (active > 2)
            chains_run_4(key, chains, run, storing);
        else
            chains_run_2(key, chains, run, storing);
    }
    if (active && storing)
        cbc_encrypt(key, chains[0].msg->iv, chains[0].in, chains[0].out,
                    evc_aes_blocks_left(chains));
    else if (active)
        cbcmac(key, chains[0].msg->iv, chains[0].in, evc_aes_blocks_left(chains));
    return q.others;
}

#endif
