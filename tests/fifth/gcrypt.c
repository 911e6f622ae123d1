/* SPDX-License-Identifier: MIT */
/* Repeats one operation of libgcrypt as often as it is told, and prints a byte of the result. */

#include <gcrypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[65536], tag[16];
static const unsigned char key[32], nonce[16];

static void encrypt(int cipher, int mode, long count)
{
    gcry_cipher_hd_t handle;
    if (gcry_cipher_open(&handle, cipher, mode, 0) || gcry_cipher_setkey(handle, key, 32))
        exit(1);
    for (; count > 0; count--) {
        if (mode == GCRY_CIPHER_MODE_CTR)
            gcry_cipher_setctr(handle, nonce, 16);
        else
            gcry_cipher_setiv(handle, nonce, 12);
        gcry_cipher_encrypt(handle, text, sizeof text, NULL, 0);
        if (mode == GCRY_CIPHER_MODE_POLY1305)
            gcry_cipher_gettag(handle, tag, 16);
    }
}

static void sign(long count)
{
    gcry_sexp_t wish, pair, data, signature;
    if (gcry_sexp_build(&wish, NULL, "(genkey (ecc (curve Ed25519) (flags eddsa)))") || gcry_pk_genkey(&pair, wish) ||
        gcry_sexp_build(&data, NULL, "(data (flags eddsa) (hash-algo sha512) (value #0123456789#))"))
        exit(1);
    for (; count > 0; count--) {
        if (gcry_pk_sign(&signature, data, pair))
            exit(1);
        gcry_sexp_release(signature);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    long count = atol(argv[2]);
    gcry_check_version(NULL);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    if (strcmp(argv[1], "camellia") == 0)
        encrypt(GCRY_CIPHER_CAMELLIA256, GCRY_CIPHER_MODE_CTR, count);
    else if (strcmp(argv[1], "serpent") == 0)
        encrypt(GCRY_CIPHER_SERPENT256, GCRY_CIPHER_MODE_CTR, count);
    else if (strcmp(argv[1], "twofish") == 0)
        encrypt(GCRY_CIPHER_TWOFISH, GCRY_CIPHER_MODE_CTR, count);
    else if (strcmp(argv[1], "chacha20poly1305") == 0)
        encrypt(GCRY_CIPHER_CHACHA20, GCRY_CIPHER_MODE_POLY1305, count);
    else
        sign(count);
    printf("%02x\n", text[5]);
    return 0;
}
