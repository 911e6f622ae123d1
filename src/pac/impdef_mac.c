/* SPDX-License-Identifier: MIT */
/*
 * The algorithm that QEMU has where an implementation may choose its own: XXH64 (Collet: xxHash
 * fast digest algorithm, version 0.1.1, 2018) of one stripe, its lanes the pointer, the
 * modifier, and the key's lower and upper half. Its seed is 1, and the length is not added;
 * both as QEMU's answers show.
 */
#include "everycore/pac.h"

#include "common/bytes.h"

#define SEED 1
#define PRIME1 UINT64_C(0x9e3779b185ebca87)
#define PRIME2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define PRIME3 UINT64_C(0x165667b19e3779f9)
#define PRIME4 UINT64_C(0x85ebca77c2b2ae63)

EVC_INLINE uint64_t left(uint64_t x, unsigned n_bits)
{
    return x << n_bits | x >> (64 - n_bits);
}

EVC_INLINE uint64_t accumulated(uint64_t sum, uint64_t lane)
{
    return left(sum + lane * PRIME2, 31) * PRIME1;
}

EVC_INLINE uint64_t merged(uint64_t sum, uint64_t accumulator)
{
    return (sum ^ accumulated(0, accumulator)) * PRIME1 + PRIME4;
}

static uint64_t evc_pac_hash_mac(const void *cipher, uint64_t data, uint64_t modifier)
{
    const uint64_t *key = cipher;
    const uint64_t a = accumulated(SEED + PRIME1 + PRIME2, data),
                   b = accumulated(SEED + PRIME2, modifier);
    const uint64_t c = accumulated(SEED, key[0]), d = accumulated(SEED - PRIME1, key[1]);
    uint64_t sum = left(a, 1) + left(b, 7) + left(c, 12) + left(d, 18);

    sum = merged(merged(merged(merged(sum, a), b), c), d);
    sum = (sum ^ sum >> 33) * PRIME2;
    sum = (sum ^ sum >> 29) * PRIME3;
    return sum ^ sum >> 32;
}

static enum evc_status evc_pac_hash_set_key(struct evc_pac_key *key,
                                            const struct evc_pac_kernels *kernels)
{
    (void)kernels;
    key->cipher.hash[0] = key->lo;
    key->cipher.hash[1] = key->hi;
    key->mac = evc_pac_hash_mac;
    return EVC_OK;
}

const struct evc_pac_algorithm evc_pac_impdef = {"impdef", evc_pac_hash_set_key};
