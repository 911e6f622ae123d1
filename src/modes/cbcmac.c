/* SPDX-License-Identifier: MIT */
/* CBC-MAC, the raw chain. */
#include "everycore/modes.h"

#include "aes/ops.h"
#include "common/clear.h"
#include "common/in_place.h"

enum evc_status evc_aes_cbcmac(const union evc_aes_key *key, uint8_t chain[16], const uint8_t *in,
                               size_t len_bytes)
{
    if (!evc_aes_is_set(key))
        return evc_key_error(key);
    if (len_bytes % 16 != 0)
        return EVC_ERR_LENGTH;
    if (evc_is_missing(in, len_bytes))
        return EVC_ERR_PARAMETER;
    evc_aes_op_cbcmac(key, chain, in, len_bytes / 16);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}
