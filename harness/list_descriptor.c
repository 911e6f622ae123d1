/* SPDX-License-Identifier: MIT */
/* list: what the descriptors of kernels say. It is apart from list.c so that a harness without
 * kernels can list the registry. */
#include "everycore/aes.h"
#include "everycore/bn.h"
#include "everycore/bn_words.h"
#include "everycore/gcm.h"
#include "everycore/ghash.h"
#include "everycore/qarma.h"
#include "everycore/sha2.h"
#include "everycore/x25519.h"

#include "commands.h"
#include "emit.h"

#include <string.h>

/* The optional slots that a kernel fills itself. */
#define SLOT(name) \
    if (kernel->name) \
        emit_text(NULL, #name);

static void emit_aes_slots(const struct evc_aes *kernel)
{
    SLOT(ctr32)
    SLOT(ctr32_le)
    SLOT(cbc_encrypt)
    SLOT(cbc_decrypt)
    SLOT(cbcmac)
    SLOT(xts_encrypt)
    SLOT(xts_decrypt)
    SLOT(cbc_encrypt_many)
    SLOT(ccm_encrypt)
    SLOT(ccm_decrypt)
    SLOT(cbc_encrypt_message)
}

static void emit_ghash_slots(const struct evc_ghash *kernel)
{
    SLOT(reversed_blocks)
    SLOT(siv_keys)
    SLOT(siv_open)
    SLOT(siv_tag)
}

static void emit_gcm_slots(const struct evc_gcm *kernel)
{
    SLOT(seal)
    SLOT(open)
    SLOT(open_output_tag)
}

static void emit_qarma_slots(const struct evc_qarma *kernel)
{
    SLOT(encrypt_many)
}

static void emit_bn_slots(const struct evc_bn *kernel)
{
    SLOT(select)
    SLOT(exp_many)
}

static void emit_sha2_slots(const struct evc_sha2 *kernel)
{
    SLOT(blocks256)
    SLOT(blocks512)
    SLOT(lanes256.blocks)
    SLOT(lanes512.blocks)
}
#undef SLOT

void emit_descriptor(const struct evc_registry_line *line)
{
    const struct evc_aes *aes = strcmp(line->primitive, "aes") ? NULL : evc_aes_named(line->name);
    const struct evc_gcm *gcm = strcmp(line->primitive, "gcm") ? NULL : evc_gcm_named(line->name);
    const struct evc_qarma *qarma =
        strcmp(line->primitive, "qarma") ? NULL : evc_qarma_named(line->name);
    const struct evc_bn *bn = strcmp(line->primitive, "bn") ? NULL : evc_bn_named(line->name);
    const struct evc_bn_words *words =
        strcmp(line->primitive, "bn_words") ? NULL : evc_bn_words_named(line->name);
    const struct evc_sha2 *sha2 =
        strcmp(line->primitive, "sha2") ? NULL : evc_sha2_named(line->name);
    const struct evc_x25519 *x25519 =
        strcmp(line->primitive, "x25519") ? NULL : evc_x25519_named(line->name);
    const struct evc_kernel *kernel = aes     ? evc_aes_kernel(aes)
                                      : gcm   ? evc_gcm_kernel(gcm)
                                      : qarma ? evc_qarma_kernel(qarma)
                                      : bn    ? evc_bn_kernel(bn)
                                      : words ? evc_bn_words_kernel(words)
                                      : sha2  ? evc_sha2_kernel(sha2)
                                      : x25519 ? evc_x25519_kernel(x25519)
                                              : evc_ghash_kernel(evc_ghash_named(line->name));

    emit_unsigned("key_bytes", kernel->key_bytes);
    emit_unsigned("batch", kernel->batch);
    emit_list_begin("traits");
    if (kernel->traits & EVC_KEY_FIPS197)
        emit_text(NULL, "fips197");
    emit_list_end();
    emit_list_begin("slots");
    if (aes)
        emit_aes_slots(aes);
    if (strcmp(line->primitive, "ghash") == 0)
        emit_ghash_slots(evc_ghash_named(line->name));
    if (gcm)
        emit_gcm_slots(gcm);
    if (qarma)
        emit_qarma_slots(qarma);
    if (bn)
        emit_bn_slots(bn);
    if (sha2)
        emit_sha2_slots(sha2);
    emit_list_end();
}
