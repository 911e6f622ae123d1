/* SPDX-License-Identifier: MIT */
/* Buffers of a call: bytes that are missing; and text whose input and output overlap in part: it is
 * moved to the output first, and the call works in place. */
#ifndef EVC_COMMON_IN_PLACE_H
#define EVC_COMMON_IN_PLACE_H

#include "everycore/everycore.h"

#include "common/bytes.h"

/* Nonzero if there should be n bytes, blocks or messages and the pointer is NULL. One comparison
 * decides for nearly all others, since hardly any is below its own length; EVC_KEEP, so that
 * compilers do not make two of it. */
EVC_INLINE int evc_is_missing(const void *buffer, size_t n)
{
    if (EVC_UNLIKELY(n > (uintptr_t)buffer)) {
        EVC_KEEP(buffer);
        return !buffer;
    }
    return 0;
}

/* Nonzero if in and out, len_bytes bytes each, have bytes in common and are not the same: out lies
 * -(len_bytes - 1) to len_bytes - 1 bytes behind in. No buffer is longer than half of the address
 * space. One comparison decides where they are apart. */
EVC_INLINE int evc_overlap_in_part(const uint8_t *in, const uint8_t *out, size_t len_bytes)
{
    const int may_overlap = (uintptr_t)out - (uintptr_t)in + len_bytes - 1 < 2 * len_bytes - 1;

    return EVC_UNLIKELY(may_overlap) && in != out && len_bytes;
}

/* The same of whole blocks; one block is read before it is written. */
EVC_INLINE int evc_blocks_overlap_in_part(const uint8_t *in, const uint8_t *out, size_t len_bytes)
{
    return len_bytes > 16 && evc_overlap_in_part(in, out, len_bytes);
}

/* The same of any message whose result is wanted. */
EVC_INLINE int evc_msgs_overlap_in_part(const struct evc_msg *msgs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (msgs[i].out && evc_overlap_in_part(msgs[i].in, msgs[i].out, msgs[i].len_bytes))
            return 1;
    return 0;
}

/* memmove of what may be secret: see evc_copy_secret. */
EVC_OUT_OF_LINE void evc_move_secret(uint8_t *out, const uint8_t *in, size_t len_bytes)
{
    /* a word that is stored ends before the next one that is loaded */
    if ((uintptr_t)out < (uintptr_t)in) {
        evc_copy_secret(out, in, len_bytes);
        return;
    }
#if EVC_WORD64
    for (; len_bytes >= 8; len_bytes -= 8) {
        uint64_t word = evc_load64_ne(in + len_bytes - 8);
        EVC_KEEP(word);
        evc_store64_ne(out + len_bytes - 8, word);
    }
#endif
    for (; len_bytes; len_bytes--) {
        uint32_t byte = in[len_bytes - 1];
        EVC_KEEP(byte);
        out[len_bytes - 1] = (uint8_t)byte;
    }
}

/* The place from which a call reads its text: in, or out if they overlap in part. */
EVC_INLINE const uint8_t *evc_input(const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    if (!evc_overlap_in_part(in, out, len_bytes))
        return in;
    evc_move_secret(out, in, len_bytes);
    return out;
}

#endif
