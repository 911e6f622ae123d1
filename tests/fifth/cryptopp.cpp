// SPDX-License-Identifier: MIT
// Repeats one operation of Crypto++ as often as it is told, and prints a byte of the result.

#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>
#include <cryptopp/integer.h>
#include <cryptopp/modarith.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace CryptoPP;

int main(int, char **words)
{
    static byte key[32], nonce[16], tag[16], bytes[256];
    std::vector<byte> text(16384);
    std::string name = words[1];
    GCM<AES>::Encryption gcm;
    gcm.SetKeyWithIV(key, 32, nonce, 12);
    for (int n = 0; n < 256; n++)
        bytes[n] = byte(n * n * 31 / 7 + 0xd5);
    bytes[255] |= 1;
    MontgomeryRepresentation modulus(Integer(bytes, sizeof bytes));
    for (int n = 0; n < 256; n++)
        bytes[n] = byte(n * n * 17 / 5 + 0x67);
    Integer base(bytes, sizeof bytes), exponent(bytes, sizeof bytes);
    for (long n = atol(words[2]); n > 0; n--)
        if (name == "gcm")
            gcm.EncryptAndAuthenticate(text.data(), tag, 16, nonce, 12, nullptr, 0, text.data(), text.size());
        else
            base = modulus.Exponentiate(base, exponent);
    printf("%02x%02x\n", text[5], base.GetByte(3));
}
