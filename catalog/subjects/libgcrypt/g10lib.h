/* SPDX-License-Identifier: MIT */
/* The types of libgcrypt that its GHASH uses, without the rest of the library: its own headers are
 * kept out by their guards, which the subject's description defines. */
#ifndef SUBJECT_G10LIB_H
#define SUBJECT_G10LIB_H

#include <stddef.h>
#include <stdint.h>

#define GCM_USE_AARCH64 1

#define U64_C(value) UINT64_C(value)

typedef unsigned char byte;

typedef struct {
    struct {
        struct {
            struct {
                byte key[16];
            } u_ghash_key;
        } gcm;
    } u_mode;
} *gcry_cipher_hd_t;

unsigned _gcry_ghash_aarch64_simd(gcry_cipher_hd_t handle, byte *result, const byte *in,
                                  size_t n_blocks);
void _gcry_ghash_setup_aarch64_simd(gcry_cipher_hd_t handle);

#endif
