/* SPDX-License-Identifier: MIT */
/*
 * For kernels whose one-shot functions are in assembly: the declarations of these functions, whose
 * names begin with MESSAGES (evc_gcm_<stem>), and the slots of the descriptor for them. Pieces of
 * messages are in message.h.
 */
#ifndef EVC_GCM_IN_ASSEMBLY_H
#define EVC_GCM_IN_ASSEMBLY_H

#include "everycore/gcm.h"

#define PIECES_ALONE 1

#define IN_ASSEMBLY_JOIN(stem, name) stem##_##name
#define IN_ASSEMBLY(stem, name) IN_ASSEMBLY_JOIN(stem, name)
#define IN_ASSEMBLY_MESSAGE(name, tag_type)                                                        \
    enum evc_status IN_ASSEMBLY(MESSAGES, name)(                                                   \
        const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad, size_t aad_bytes, \
        const uint8_t *in, uint8_t *out, size_t len_bytes, tag_type *tag, size_t tag_bytes)

IN_ASSEMBLY_MESSAGE(seal, uint8_t);
IN_ASSEMBLY_MESSAGE(open, const uint8_t);
IN_ASSEMBLY_MESSAGE(open_output_tag, uint8_t);
#define GCM_MESSAGE_SLOTS                                                                    \
    .seal = IN_ASSEMBLY(MESSAGES, seal), .open = IN_ASSEMBLY(MESSAGES, open),                \
    .open_output_tag = IN_ASSEMBLY(MESSAGES, open_output_tag)

#define crypt_groups IN_ASSEMBLY(MESSAGES, groups)
void crypt_groups(const void *key, const uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                  uint8_t *out, size_t n_groups, int opening);

/* Numbers that the assembly has, to be held against struct key and struct powers. */
#define ASSEMBLY_AGREES(powers_bytes)                                                            \
    typedef char assembly_agrees                                                                 \
        [offsetof(struct evc_gcm_head, kernel) == 0 &&                                           \
                 offsetof(struct evc_gcm_head, rounds) == 8 && offsetof(struct key, rk) == 16 && \
                 offsetof(struct key, powers) == 16 + 240 &&                                     \
                 sizeof(struct powers) == (powers_bytes) && EVC_ERR_TAG == 6 &&                  \
                 EVC_GCM_HASHED_AAD == (size_t)1 << 63                                           \
             ? 1                                                                                 \
             : -1]

#endif
