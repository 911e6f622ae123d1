/* SPDX-License-Identifier: MIT */
#include "loop.h"
#include <gcrypt.h>

int main(int argc, char **argv) /* gcm|rsa [feature to do without] */
{
    if (argc < 2)
        return 2;
    if (argc > 2)
        gcry_control(GCRYCTL_DISABLE_HWF, argv[2], NULL);
    gcry_check_version(NULL);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    if (!strcmp(argv[1], "gcm")) {
        gcry_cipher_hd_t cipher;
        if (gcry_cipher_open(&cipher, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0))
            return 1;
        gcry_cipher_setkey(cipher, key, 32);
        REPEAT(gcry_cipher_setiv(cipher, nonce, 12); gcry_cipher_encrypt(cipher, text, 16384, NULL, 0));
    } else {
        gcry_sexp_t wish, pair, data, signature;
        if (gcry_sexp_build(&wish, NULL, "(genkey (rsa (nbits 4:2048)))") || gcry_pk_genkey(&pair, wish) ||
            gcry_sexp_build(&data, NULL, "(data (flags raw) (value #0123456789#))"))
            return 1;
        REPEAT(if (!gcry_pk_sign(&signature, data, pair)) gcry_sexp_release(signature));
    }
    return 0;
}
