/* SPDX-License-Identifier: MIT */
/*
 * For kernels whose whole messages are in assembly, behind gcm/x86_steps.h: the declarations of
 * these functions, whose names begin with MESSAGES (evc_gcm_<stem>), their slots, and pieces of
 * messages, whose groups of vectors are in assembly, too.
 */
#ifndef EVC_GCM_IN_ASSEMBLY_H
#define EVC_GCM_IN_ASSEMBLY_H

#include "gcm/tail.h"

#define IN_ASSEMBLY_JOIN(stem, name) stem##_##name
#define IN_ASSEMBLY(stem, name) IN_ASSEMBLY_JOIN(stem, name)
#define IN_ASSEMBLY_ARGUMENTS(tag_type)                                                            \
    (const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,    \
     const uint8_t *in, uint8_t *out, size_t len_bytes, tag_type *tag, size_t tag_bytes)
#define IN_ASSEMBLY_MESSAGE(name, tag_type)                                                        \
    enum evc_status EVC_SYSV IN_ASSEMBLY(MESSAGES, name) IN_ASSEMBLY_ARGUMENTS(tag_type);

IN_ASSEMBLY_MESSAGE(seal, uint8_t)
IN_ASSEMBLY_MESSAGE(open, const uint8_t)
IN_ASSEMBLY_MESSAGE(open_output_tag, uint8_t)

/* Slots for Microsoft's calling convention: the compiler moves arguments, and saves the registers
 * that System V leaves free. */
#define MICROSOFT_ENTRY(name, tag_type)                                                            \
    static __attribute__((unused)) enum evc_status name IN_ASSEMBLY_ARGUMENTS(tag_type)            \
    {                                                                                              \
        return IN_ASSEMBLY(MESSAGES, name)(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes,  \
                                           tag, tag_bytes);                                        \
    }

MICROSOFT_ENTRY(seal, uint8_t)
MICROSOFT_ENTRY(open, const uint8_t)
MICROSOFT_ENTRY(open_output_tag, uint8_t)

/* The assembly itself where the compiler's functions are called as it is. */
#define MESSAGE_SLOT(name) \
    __builtin_choose_expr(EVC_MICROSOFT_CALLS, name, IN_ASSEMBLY(MESSAGES, name))
#define GCM_MESSAGE_SLOTS                                      \
    .seal = MESSAGE_SLOT(seal), .open = MESSAGE_SLOT(open),    \
    .open_output_tag = MESSAGE_SLOT(open_output_tag)

/* n_groups of GROUP_BYTES bytes, at least one; y becomes the hash behind them. */
#define crypt_groups IN_ASSEMBLY(MESSAGES, groups)
void EVC_SYSV crypt_groups(const void *key, const uint8_t counter[16], uint8_t y[16],
                           const uint8_t *in, uint8_t *out, size_t n_groups, int opening);

/* ---- The rest of a piece --------------------------------------------------------------------- */

#define MOST_TAIL_VECTORS 4

/* 1 to 4 vectors of whole blocks. Out of line: its spills lie below the frames of its callers. */
EVC_OUT_OF_LINE void crypt_few_blocks(const struct key *key, const uint8_t counter_at[16],
                                      uint8_t y[16], const uint8_t *in, uint8_t *out,
                                      size_t n_blocks, int opening)
{
    const size_t n = (n_blocks + LANES - 1) / LANES, lane = n * LANES - n_blocks;
    const block counter = load_iv(counter_at), before = load1(y);
    struct tail tail = {0};

    tail.sealing = !opening;
    tail.first_lane = lane;
    tail.text_to = 16 * n_blocks;
    tail.in = evc_in_at(in, 0 - 16 * lane);
    tail.out = evc_out_at(out, 0 - 16 * lane);
    tail.counter = evc_load32_be(counter_at + 12) - (uint32_t)lane;
#define TAIL(n_vectors) store1(y, crypt_tail(key, &tail, n_vectors, counter, before, zero1()))
    if (n < 3)
        n < 2 ? TAIL(1) : TAIL(2);
    else
        n < 4 ? TAIL(3) : TAIL(4);
#undef TAIL
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void crypt_blocks(const void *key, uint8_t counter[16], uint8_t y[16],
                                  const uint8_t *in, uint8_t *out, size_t n_blocks, int opening)
{
    size_t n = n_blocks / GROUP_BLOCKS * GROUP_BLOCKS;

    if (n)
        crypt_groups(key, counter, y, in, out, n / GROUP_BLOCKS, opening);
    for (;;) {
        count_blocks(counter, n);
        in += 16 * n, out += 16 * n, n_blocks -= n;
        if (n_blocks == 0)
            return;
        n = n_blocks < MOST_TAIL_VECTORS * LANES ? n_blocks : MOST_TAIL_VECTORS * LANES;
        crypt_few_blocks(key, counter, y, in, out, n, opening);
    }
}

#include "gcm/slots.h"

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
