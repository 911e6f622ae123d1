/* SPDX-License-Identifier: MIT */
/* Repeats one operation of a library as often as it is told: compiled once a library, by -DNAME. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[65536], tag[64], key[64];

#ifdef TOMMATH
#include <tommath.h>
static int work(const char *name, long count)
{
    mp_int base, exponent, modulus;
    (void)name;
    memset(text, 0xd5, 256);
    if (mp_init_multi(&base, &exponent, &modulus, NULL) || mp_from_ubin(&modulus, text, 256) ||
        mp_from_ubin(&base, text + 1, 200) || mp_from_ubin(&exponent, text + 2, 250))
        return 1;
    for (; count > 0; count--)
        if (mp_exptmod(&base, &exponent, &modulus, &base))
            return 1;
    size_t written;
    return mp_to_ubin(&base, text, sizeof text, &written);
}
#endif

#ifdef LIBMD
#include <sys/types.h>
#include <rmd160.h>
#include <sha512.h>
static int work(const char *name, long count)
{
    RMD160_CTX rmd;
    SHA512_CTX sha;
    for (; count > 0; count--)
        if (strcmp(name, "rmd160") == 0) {
            RMD160Init(&rmd);
            RMD160Update(&rmd, text, sizeof text);
            RMD160Final(text, &rmd);
        } else {
            SHA512_Init(&sha);
            SHA512_Update(&sha, text, sizeof text);
            SHA512_Final(text, &sha);
        }
    return 0;
}
#endif

#ifdef GLIB
/* GChecksumType: 0 MD5, 1 SHA-1, 2 SHA-256 */
extern char *g_compute_checksum_for_data(int type, const unsigned char *data, size_t length);
static int work(const char *name, long count)
{
    for (; count > 0; count--) {
        char *sum = g_compute_checksum_for_data(atoi(name), text, sizeof text);
        memcpy(text, sum, 32);
        free(sum);
    }
    return 0;
}
#endif

#ifdef SODIUM
#include <sodium.h>
static int work(const char *name, long count)
{
    unsigned char public[32], secret[64];
    unsigned long long length;
    if (sodium_init() < 0 || !crypto_aead_aes256gcm_is_available())
        return 1;
    crypto_sign_seed_keypair(public, secret, key);
    for (; count > 0; count--)
        if (strcmp(name, "gcm") == 0)
            crypto_aead_aes256gcm_encrypt_detached(text, tag, &length, text, sizeof text, NULL, 0, NULL, key, key);
        else if (strcmp(name, "sha512") == 0)
            crypto_hash_sha512(text, text, sizeof text);
        else if (crypto_sign_detached(tag, &length, text, 32, secret) ||
                 crypto_sign_verify_detached(tag, text, 32, public))
            return 1;
    return 0;
}
#endif

#ifdef MBED
#include <mbedtls/camellia.h>
#include <mbedtls/des.h>
#include <mbedtls/sha512.h>
static int work(const char *name, long count)
{
    mbedtls_camellia_context camellia;
    mbedtls_des3_context des;
    mbedtls_camellia_init(&camellia);
    mbedtls_des3_init(&des);
    for (int n = 0; n < 24; n++)
        key[n] = (unsigned char)(n * 37);
    if (mbedtls_camellia_setkey_enc(&camellia, key, 256) || mbedtls_des3_set3key_enc(&des, key))
        return 1;
    for (; count > 0; count--)
        if (strcmp(name, "camellia") == 0)
            mbedtls_camellia_crypt_cbc(&camellia, 1, sizeof text, tag, text, text);
        else if (strcmp(name, "sha512") == 0)
            mbedtls_sha512_ret(text, sizeof text, text, 0);
        else
            mbedtls_des3_crypt_cbc(&des, 1, sizeof text, tag, text, text);
    return 0;
}
#endif

#ifdef WOLF
#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/sha512.h>
static int work(const char *name, long count)
{
    ecc_key pair;
    WC_RNG rng;
    unsigned int length;
    if (wc_InitRng(&rng) || wc_ecc_init(&pair) || wc_ecc_make_key(&rng, 32, &pair) ||
        wc_ecc_set_rng(&pair, &rng))
        return 1;
    for (; count > 0; count--) {
        length = 64;
        if (strcmp(name, "sha512") == 0)
            wc_Sha512Hash(text, sizeof text, text);
        else if (wc_ecc_shared_secret(&pair, &pair, text, &length))
            return 1;
    }
    memset(text, 0, 32); /* the key is another one each time */
    return 0;
}
#endif

#ifdef GCRYPT
#include <gcrypt.h>
static int work(const char *name, long count)
{
    gcry_cipher_hd_t handle;
    gcry_check_version(NULL);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    for (int n = 0; n < 24; n++)
        key[n] = (unsigned char)(n * 37);
    if (gcry_cipher_open(&handle, GCRY_CIPHER_3DES, GCRY_CIPHER_MODE_CBC, 0) || gcry_cipher_setkey(handle, key, 24))
        return 1;
    int hash = gcry_md_map_name(name);
    for (; count > 0; count--)
        if (hash) {
            gcry_md_hash_buffer(hash, tag, text, sizeof text);
            memcpy(text, tag, 4);
        } else
            gcry_cipher_encrypt(handle, text, sizeof text, NULL, 0);
    return 0;
}
#endif

#ifdef NETTLE
#include <nettle/camellia.h>
#include <nettle/sha1.h>
static int work(const char *name, long count)
{
    struct camellia256_ctx camellia;
    struct sha1_ctx sha1;
    camellia256_set_encrypt_key(&camellia, key);
    sha1_init(&sha1);
    for (; count > 0; count--)
        if (strcmp(name, "camellia") == 0)
            camellia256_crypt(&camellia, sizeof text, text, text);
        else {
            sha1_update(&sha1, sizeof text, text);
            sha1_digest(&sha1, 20, text);
        }
    return 0;
}
#endif

#ifdef AVUTIL
#include <libavutil/aes.h>
#include <libavutil/des.h>
#include <libavutil/mem.h>
#include <libavutil/sha.h>
static int work(const char *name, long count)
{
    struct AVAES *aes = av_aes_alloc();
    struct AVDES *des = av_des_alloc();
    struct AVSHA *sha = av_sha_alloc();
    if (av_aes_init(aes, key, 256, 0) || av_des_init(des, key, 192, 0))
        return 1;
    for (; count > 0; count--)
        if (strcmp(name, "aes") == 0)
            av_aes_crypt(aes, text, text, sizeof text / 16, tag, 0);
        else if (strcmp(name, "sha256") == 0) {
            av_sha_init(sha, 256);
            av_sha_update(sha, text, sizeof text);
            av_sha_final(sha, text);
        } else
            av_des_crypt(des, text, text, sizeof text / 8, tag, 0);
    return 0;
}
#endif

#ifdef TFM
#include <tfm.h>
static int work(const char *name, long count)
{
    static fp_int base, exponent, modulus;
    (void)name;
    memset(text, 0xd5, 256);
    fp_read_unsigned_bin(&modulus, text, 256);
    fp_read_unsigned_bin(&base, text + 1, 200);
    fp_read_unsigned_bin(&exponent, text + 2, 250);
    for (; count > 0; count--)
        if (fp_exptmod(&base, &exponent, &modulus, &base))
            return 1;
    fp_to_unsigned_bin(&base, text);
    return 0;
}
#endif

int main(int argc, char **argv)
{
    if (argc != 3 || work(argv[1], atol(argv[2])))
        return 2;
    printf("%02x%02x%02x%02x\n", text[0], text[1], tag[0], tag[1]);
    return 0;
}
