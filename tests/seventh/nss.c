/* SPDX-License-Identifier: MIT */
/* Signs with NSS, ECDSA on P-256, as often as it is told: nss COUNT */

#include <nspr.h>
#include <nss.h>
#include <keyhi.h>
#include <cryptohi.h>
#include <pk11pub.h>
#include <stdio.h>
#include <stdlib.h>

int main(int n_words, char **words)
{
    static unsigned char name[] = {6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7};
    SECItem curve = {siBuffer, name, sizeof name};
    unsigned char digest[32] = {1, 2, 3}, space[64];
    int good = 0;
    if (n_words != 2 || NSS_NoDB_Init(NULL) != SECSuccess)
        return 1;
    PK11SlotInfo *slot = PK11_GetInternalSlot();
    SECKEYPublicKey *public;
    SECKEYPrivateKey *secret = PK11_GenerateKeyPair(slot, CKM_EC_KEY_PAIR_GEN, &curve, &public, PR_FALSE,
                                                    PR_FALSE, NULL);
    if (!secret)
        return 1;
    for (int n = atoi(words[1]); n; n--) {
        SECItem text = {siBuffer, digest, sizeof digest}, signature = {siBuffer, space, sizeof space};
        if (PK11_Sign(secret, &signature, &text) != SECSuccess)
            return 1;
        good += PK11_Verify(public, &signature, &text, NULL) == SECSuccess;
        digest[n % 32]++;
    }
    printf("%d good\n", good);
    return 0;
}
