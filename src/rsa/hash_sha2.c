/* SPDX-License-Identifier: MIT */
/* SHA-2 of this library as the hash of RSA's paddings. */
#include "rsa/sha2.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "sha2/ops.h"

static int hash_pieces(const struct evc_sha2 *kernel, enum evc_sha2_hash which,
                       const struct evc_rsa_piece *pieces, size_t n_pieces, uint8_t *out)
{
    struct evc_sha2_state state;
    int fits = 1;

    if (evc_sha2_op_begin(&state, kernel, (unsigned)which) != EVC_OK)
        return -1;
    for (size_t i = 0; i < n_pieces && fits; i++) {
        fits = evc_sha2_op_fits(&state, pieces[i].n_bytes);
        if (fits)
            evc_sha2_op_take(&state, pieces[i].bytes, pieces[i].n_bytes);
    }
    if (fits)
        evc_sha2_op_end(&state, out);
    evc_wipe(&state, sizeof state);
    evc_clear(&kernel->kernel);
    return fits ? 0 : -1;
}

/* A function for each hash, as the context is the kernel. */
#define HASH(which)                                                                          \
    static int digest_##which(void *kernel, const struct evc_rsa_piece *pieces,              \
                              size_t n_pieces, uint8_t *out)                                 \
    {                                                                                        \
        return hash_pieces(kernel, which, pieces, n_pieces, out);                            \
    }
HASH(EVC_SHA224)
HASH(EVC_SHA256)
HASH(EVC_SHA384)
HASH(EVC_SHA512)
HASH(EVC_SHA512_256)

/* By the number of the hash. */
static const struct {
    char name[11];
    int (*digest)(void *kernel, const struct evc_rsa_piece *pieces, size_t n_pieces, uint8_t *out);
} hashes[] = {
    [EVC_SHA224] = {"sha224", digest_EVC_SHA224},
    [EVC_SHA256] = {"sha256", digest_EVC_SHA256},
    [EVC_SHA384] = {"sha384", digest_EVC_SHA384},
    [EVC_SHA512] = {"sha512", digest_EVC_SHA512},
    [EVC_SHA512_256] = {"sha512-256", digest_EVC_SHA512_256},
};

enum evc_status evc_rsa_hash_sha2(struct evc_rsa_hash *hash, const struct evc_sha2 *kernel,
                                  enum evc_sha2_hash which)
{
    struct evc_sha2_state state;
    const enum evc_status status = evc_sha2_op_begin(&state, kernel, (unsigned)which);

    memset(hash, 0, sizeof *hash);
    if (status != EVC_OK)
        return status;
    hash->digest = hashes[which].digest;
    hash->context = (void *)(uintptr_t)kernel;
    hash->digest_bytes = (uint32_t)evc_sha2_digest_bytes(which);
    hash->block_bytes = (uint32_t)evc_sha2_block_bytes(which);
    hash->prefix = evc_rsa_digest_prefix(hashes[which].name, &hash->prefix_bytes);
    return EVC_OK;
}

const uint8_t *evc_rsa_sha2_message(struct evc_rsa_hash *hash, const struct evc_sha2 *kernel,
                                    enum evc_sha2_hash which, const uint8_t *message,
                                    size_t message_bytes,
                                    uint8_t digest[EVC_RSA_MOST_DIGEST_BYTES])
{
    if (evc_rsa_hash_sha2(hash, kernel, which) != EVC_OK)
        return NULL;
    return evc_sha2_digest(kernel, which, message, message_bytes, digest) == EVC_OK ? digest : NULL;
}
