/* SPDX-License-Identifier: MIT */
/*
 * Seals and opens a message with AES-256-GCM by kernels that the program names: without selection,
 * and without decryption of blocks. Prints the first bytes of the tag, as the README's example
 * does, and what the key and the calls need of memory.
 */
#include "everycore/gcm.h"

#include "start.h"

#ifndef AES
#define AES evc_aes_a32_fixslice_forward
#endif
#ifndef GHASH
#define GHASH evc_ghash_c_ctmul32
#endif
extern const struct evc_aes AES;
extern const struct evc_ghash GHASH;

/* evc_gcm_pair_key_bytes() of the kernels above. Where kernels need more, setting the key fails. */
#define MOST_KEY_BYTES 1104

static EVC_ALIGN(16) uint8_t memory[MOST_KEY_BYTES];

static void print_byte(uint8_t byte)
{
    const char hex[] = "0123456789abcdef";
    char text[3];

    text[0] = hex[byte >> 4];
    text[1] = hex[byte & 15];
    text[2] = 0;
    print(text);
}

static enum evc_status seal_and_open(uint8_t tag[16])
{
    static const uint8_t secret[32] = "thirty-one characters, one zero";
    static const uint8_t nonce[12] = {1}; /* never twice under one key */
    static uint8_t text[] = "every core counts";
    const union evc_gcm_key *key = (const void *)memory;
    enum evc_status status = evc_gcm_set_pair_in(memory, sizeof memory, &AES, &GHASH, secret, 256);

    if (status == EVC_OK)
        status = evc_gcm_seal(key, nonce, 12, NULL, 0, text, text, sizeof text, tag, 16);
    if (status == EVC_OK)
        status = evc_gcm_open(key, nonce, 12, NULL, 0, text, text, sizeof text, tag, 16);
    evc_wipe(memory, sizeof memory);
    return status == EVC_OK && text[0] != 'e' ? EVC_ERR_TAG : status;
}

int main(void)
{
    const size_t key_bytes = evc_gcm_pair_key_bytes(&AES, &GHASH);
    uint8_t tag[16];
    enum evc_status status;

    paint_stack();
    status = seal_and_open(tag);
    if (status != EVC_OK) {
        print("the message was not sealed and opened\n");
        return 1;
    }
    for (int i = 0; i < 4; i++)
        print_byte(tag[i]);
    print("\nkey: ");
    print_number((uint32_t)key_bytes);
    print(" bytes\nstack: ");
    print_number(stack_bytes(__builtin_frame_address(0)));
    print(" bytes\n");
    return 0;
}
