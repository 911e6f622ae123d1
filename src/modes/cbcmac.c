/* SPDX-License-Identifier: MIT */
/* CBC-MAC, the raw chain. */
#include "everycore/modes.h"

enum evc_status evc_aes_cbcmac(const union evc_aes_key *key, uint8_t chain[16], const uint8_t *in,
                               size_t len_bytes)
{
    if (len_bytes % 16 != 0)
        return EVC_ERR_LENGTH;
    evc_aes_cbcmac_blocks(key, chain, in, len_bytes / 16);
    return EVC_OK;
}
