/* SPDX-License-Identifier: MIT */
/*
 * Repeats one operation of Crypto++ as often as it is told, and prints a checksum of the result.
 */
#include <cryptopp/aes.h>
#include <cryptopp/chacha.h>
#include <cryptopp/crc.h>
#include <cryptopp/modes.h>
#include <cryptopp/serpent.h>
#include <cryptopp/sha.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace CryptoPP;

int main(int, char **words)
{
    static byte key[32], nonce[16];
    std::vector<byte> text(16384);
    std::string name = words[1];
    CTR_Mode<AES>::Encryption aes(key, 32, nonce);
    CTR_Mode<Serpent>::Encryption serpent(key, 32, nonce);
    ChaCha::Encryption chacha(key, 32, nonce);
    SHA256 sha;
    for (long n = atol(words[2]); n > 0; n--) {
        if (name == "aes")
            aes.ProcessData(text.data(), text.data(), text.size());
        else if (name == "serpent")
            serpent.ProcessData(text.data(), text.data(), text.size());
        else if (name == "chacha20")
            chacha.ProcessData(text.data(), text.data(), text.size());
        else
            sha.CalculateDigest(text.data(), text.data(), text.size());
    }
    word32 sum;
    CRC32().CalculateDigest(reinterpret_cast<byte *>(&sum), text.data(), text.size());
    printf("%u\n", sum);
}
