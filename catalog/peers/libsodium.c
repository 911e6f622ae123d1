/* SPDX-License-Identifier: MIT */
/* libsodium: AES-256-GCM alone, and only with AES and carry-less instructions. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

static const char *version(void)
{
    return sodium_init() < 0 ? "unusable" : sodium_version_string();
}

static const char *absent(void)
{
    return crypto_aead_aes256gcm_is_available() ? NULL
                                                : "the CPU lacks AES or carry-less instructions";
}

static const char *hardware(void)
{
    return "best";
}

static bool run_seal(void *context, const struct peer_message *m)
{
    return crypto_aead_aes256gcm_encrypt_detached_afternm(m->out, m->tag, NULL, m->in, m->len_bytes,
                                                          m->aad, m->aad_bytes, NULL, m->iv,
                                                          context) == 0;
}

static bool run_open(void *context, const struct peer_message *m)
{
    return crypto_aead_aes256gcm_decrypt_detached_afternm(m->out, NULL, m->in, m->len_bytes, m->tag,
                                                          m->aad, m->aad_bytes, m->iv,
                                                          context) == 0;
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    crypto_aead_aes256gcm_state *state;

    *run = strcmp(mode, "gcm-seal") == 0   ? run_seal
           : strcmp(mode, "gcm-open") == 0 ? run_open
                                           : NULL;
    if (!*run || key_bits != 256 || absent())
        return NULL;
    state = aligned_alloc(64, (sizeof *state + 63) / 64 * 64);
    if (state)
        crypto_aead_aes256gcm_beforenm(state, key);
    return state;
}

const struct peer evc_peer = {.name = "libsodium",
                              .version = version,
                              .headers = SODIUM_VERSION_STRING,
                              .absent = absent,
                              .hardware = hardware,
                              .open = open_context,
                              .close = free};
