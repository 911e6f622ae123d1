/* SPDX-License-Identifier: MIT */
/* Repeats one operation of BearSSL as often as it is told, and prints a part of the result. */
#include <bearssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[16384], key[32] = {9}, tag[16], number[256];

static void gcm(const br_block_ctr_class **cipher, br_ghash hash)
{
    br_gcm_context gcm;

    br_gcm_init(&gcm, cipher, hash);
    br_gcm_reset(&gcm, key, 12);
    br_gcm_flip(&gcm);
    br_gcm_run(&gcm, 1, text, sizeof(text));
    br_gcm_get_tag(&gcm, tag);
    text[0] ^= tag[0];
}

/* A private operation with odd numbers in place of primes: the time of a true key, and a result that means nothing. */
static void rsa(br_rsa_private operation)
{
    static unsigned char p[128], q[128], exponent[128];
    br_rsa_private_key secret = {2048, p, 128, q, 128, exponent, 128, exponent, 128, exponent, 128};

    memset(p, 0xd7, sizeof(p));
    memset(q, 0xc5, sizeof(q));
    memset(exponent, 0xa3, sizeof(exponent));
    memset(number, 0x55, sizeof(number));
    operation(number, &secret);
    memcpy(text, number, sizeof(number));
}

int main(int many, char **words)
{
    const char *name = many > 2 ? words[1] : "";
    const br_ec_impl *curve = &br_ec_c25519_m31;
    br_aes_ct64_ctr_keys sliced;
    br_aes_x86ni_ctr_keys native;
    br_des_ct_cbcenc_keys des;
    const unsigned char *generator;
    unsigned char point[65];
    size_t len_bytes = 32;
    int number_of_curve = BR_EC_curve25519;
    br_chacha20_run chacha20 = br_chacha20_sse2_get();
    br_ghash ghash = br_ghash_pclmul_get();

    br_aes_ct64_ctr_init(&sliced, key, 32);
    br_des_ct_cbcenc_init(&des, key, 24);
    if (!chacha20 || !ghash || !br_aes_x86ni_ctr_get_vtable())
        return 1;
    br_aes_x86ni_ctr_get_vtable()->init((const br_block_ctr_class **)&native.vtable, key, 32);
    if (!strcmp(name, "p256")) {
        curve = &br_ec_p256_m31;
        number_of_curve = BR_EC_secp256r1;
    }
    generator = curve->generator(number_of_curve, &len_bytes);
    memcpy(point, generator, len_bytes);
    for (long n = many > 2 ? atol(words[2]) : 0; n > 0; n--) {
        if (!strcmp(name, "gcm-portable"))
            gcm(&sliced.vtable, br_ghash_ctmul64);
        else if (!strcmp(name, "gcm-native"))
            gcm(&native.vtable, ghash);
        else if (!strcmp(name, "chacha20poly1305"))
            br_poly1305_ctmulq_run(key, key, text, sizeof(text), key, 16, tag, chacha20, 1);
        else if (!strcmp(name, "des"))
            br_des_ct_cbcenc_run(&des, tag, text, sizeof(text));
        else if (!strcmp(name, "rsa-i31"))
            rsa(br_rsa_i31_private);
        else if (!strcmp(name, "rsa-i62"))
            rsa(br_rsa_i62_private_get());
        else
            text[0] ^= (unsigned char)curve->mul(point, len_bytes, key, 32, number_of_curve);
    }
    for (int n = 0; n < 16; n++)
        printf("%02x", text[n] ^ point[n]);
    return 0;
}
