/* SPDX-License-Identifier: MIT */
/* Repeats one operation of NSS as often as it is told, and prints a part of the result. */
#include <keyhi.h>
#include <nss.h>
#include <pk11pub.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[16384], out[16384 + 64], bytes[32] = {9}, iv[16];

static PK11SymKey *import(CK_MECHANISM_TYPE mechanism)
{
    SECItem item = {siBuffer, bytes, 32};
    PK11SlotInfo *slot = PK11_GetInternalSlot();

    return PK11_ImportSymKey(slot, mechanism, PK11_OriginUnwrap, CKA_ENCRYPT, &item, NULL);
}

int main(int many, char **words)
{
    const char *name = many > 2 ? words[1] : "";
    CK_GCM_PARAMS gcm = {iv, 12, 96, NULL, 0, 128};
    CK_NSS_AEAD_PARAMS aead = {iv, 12, NULL, 0, 16};
    SECItem parameters = {siBuffer, iv, 16};
    CK_MECHANISM_TYPE mechanism = CKM_CAMELLIA_CBC;
    PK11RSAGenParams rsa = {2048, 65537};
    SECKEYPrivateKey *secret = NULL;
    SECKEYPublicKey *public;
    PK11SymKey *key;
    unsigned int len_bytes;

    if (NSS_NoDB_Init(NULL) != SECSuccess)
        return 1;
    if (!strcmp(name, "gcm")) {
        mechanism = CKM_AES_GCM;
        parameters = (SECItem){siBuffer, (unsigned char *)&gcm, sizeof(gcm)};
    } else if (!strcmp(name, "chacha20poly1305")) {
        mechanism = CKM_NSS_CHACHA20_POLY1305;
        parameters = (SECItem){siBuffer, (unsigned char *)&aead, sizeof(aead)};
    } else if (!strcmp(name, "rsa")) {
        secret = PK11_GenerateKeyPair(PK11_GetInternalSlot(), CKM_RSA_PKCS_KEY_PAIR_GEN, &rsa, &public, PR_FALSE,
                                      PR_FALSE, NULL);
        if (!secret)
            return 1;
    }
    key = import(mechanism);
    if (!key)
        return 1;
    for (long n = many > 2 ? atol(words[2]) : 0; n > 0; n--) {
        if (secret) {
            SECItem digest = {siBuffer, bytes, 32}, signature = {siBuffer, out, 256};

            if (PK11_Sign(secret, &signature, &digest) != SECSuccess)
                return 1;
        } else if (PK11_Encrypt(key, mechanism, &parameters, out, &len_bytes, sizeof(out), text, sizeof(text)) !=
                   SECSuccess) {
            return 1;
        }
        if (!secret)
            memcpy(text, out, sizeof(text));
    }
    for (int n = 0; n < 16; n++)
        printf("%02x", text[n]);
    return 0;
}
