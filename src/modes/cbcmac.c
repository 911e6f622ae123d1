/* SPDX-License-Identifier: MIT */
/* CBC-MAC, the raw chain. */
#include "everycore/modes.h"

#include "aes/ops.h"
#include "common/calls.h"
#include "common/clear.h"

enum evc_status evc_aes_cbcmac(const union evc_aes_key *key, uint8_t chain[16], const uint8_t *in,
                               size_t len_bytes)
{
    EVC_RETURN_IF_REFUSED(aes_cbcmac, .key = key, .in = in, .text_bytes = len_bytes);
    evc_aes_op_cbcmac(key, chain, in, len_bytes / 16);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}
