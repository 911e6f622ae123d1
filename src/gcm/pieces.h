/* SPDX-License-Identifier: MIT */
/* Whole messages made of pieces: for kernels without an operation for these, and for IVs that are
 * not of 12 bytes. All sizes are checked. */
#ifndef EVC_GCM_PIECES_H
#define EVC_GCM_PIECES_H

#include "everycore/gcm.h"

enum evc_status evc_gcm_seal_pieces(const void *key, const uint8_t *iv, size_t iv_bytes,
                                    const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                    uint8_t *out, size_t len_bytes, uint8_t *tag, size_t tag_bytes);
enum evc_status evc_gcm_open_pieces(const void *key, const uint8_t *iv, size_t iv_bytes,
                                    const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                    uint8_t *out, size_t len_bytes, const uint8_t *tag,
                                    size_t tag_bytes);

#endif
