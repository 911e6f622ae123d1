/* SPDX-License-Identifier: MIT */
/* The parts of groups of Diffie-Hellman. */
#ifndef EVC_DH_PARTS_H
#define EVC_DH_PARTS_H

#include "everycore/dh.h"

#include "bn/ops.h"

/* ---- The parts of a group: the head, q and g with p_bytes bytes each, the modulus p ---------- */

#define EVC_DH_HEAD_BYTES EVC_BN_ROUND16(sizeof(struct evc_dh_group))

EVC_INLINE uint8_t *evc_dh_q_of(const struct evc_dh_group *group)
{
    return (uint8_t *)(uintptr_t)group + EVC_DH_HEAD_BYTES;
}

EVC_INLINE uint8_t *evc_dh_g_of(const struct evc_dh_group *group)
{
    return evc_dh_q_of(group) + group->p_bytes;
}

EVC_INLINE size_t evc_dh_modulus_at(size_t p_bytes)
{
    return EVC_DH_HEAD_BYTES + EVC_BN_ROUND16(2 * p_bytes);
}

EVC_INLINE const struct evc_bn_modulus *evc_dh_modulus_of(const struct evc_dh_group *group)
{
    return (const void *)((const uint8_t *)group + evc_dh_modulus_at(group->p_bytes));
}

/* Whether the scratch memory is large enough, and x is not 0. */
enum evc_status evc_dh_check_secret(const struct evc_dh_group *group, const uint8_t *x,
                                    size_t scratch_bytes);

#endif
