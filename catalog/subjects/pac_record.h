/* SPDX-License-Identifier: MIT */
/* The question to instructions of pointer authentication: 32 bytes of an input, drawn at random. */
#ifndef SUBJECT_PAC_RECORD_H
#define SUBJECT_PAC_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct pac_record {
    unsigned level, va_bits; /* 1 to 5; 16 to 54: with 55 and TBI there is no field,
                              * and QEMU shifts by 64 */
    bool tbi, key_b, combined;
    uint64_t pointer, modifier;
};

/* Pointers with all bits of their extension equal, with one other bit there, and any. */
static inline struct pac_record pac_record(const uint8_t *in)
{
    struct pac_record r = {1 + in[0] % 5u, 16 + in[1] % 39u, in[2] & 1, in[2] & 2, in[2] & 4, 0, 0};

    memcpy(&r.pointer, in + 8, 8);
    memcpy(&r.modifier, in + 16, 8);
    if (in[3] & 3) {
        const uint64_t extension =
            ~UINT64_C(0) << r.va_bits & (r.tbi ? UINT64_C(0x00ffffffffffffff) : ~UINT64_C(0));
        r.pointer = in[3] & 4 ? r.pointer | extension : r.pointer & ~extension;
    }
    if ((in[3] & 3) == 1)
        r.pointer ^= UINT64_C(1) << (in[4] & 63);
    return r;
}

/* The answers: of AddPAC, of Auth to that, of Auth to the pointer, of Strip. */
#define PAC_RECORD_BYTES 32
#define PAC_RECORD_FAULT UINT64_C(0xfa17fa17fa17fa17) /* in the place of a value */

#endif
