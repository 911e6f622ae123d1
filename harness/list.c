/* SPDX-License-Identifier: MIT */
/* list: every line of the registry, in order, and what this library and this CPU make of it. */
#include "everycore/aes.h"
#include "everycore/gcm.h"
#include "everycore/ghash.h"
#include "everycore/qarma.h"

#include "commands.h"
#include "emit.h"
#include "names.h"

#include <string.h>

/* The optional slots that a kernel fills itself. */
#define SLOT(name) \
    if (kernel->name) \
        emit_text(NULL, #name);

static void emit_aes_slots(const struct evc_aes *kernel)
{
    SLOT(ctr32)
    SLOT(cbc_encrypt)
    SLOT(cbc_decrypt)
    SLOT(cbcmac)
    SLOT(xts_encrypt)
    SLOT(xts_decrypt)
    SLOT(cbc_encrypt_many)
}

static void emit_gcm_slots(const struct evc_gcm *kernel)
{
    SLOT(seal)
    SLOT(open)
}

static void emit_qarma_slots(const struct evc_qarma *kernel)
{
    SLOT(encrypt_many)
}
#undef SLOT

static void emit_descriptor(const struct evc_registry_line *line)
{
    const struct evc_aes *aes = strcmp(line->primitive, "aes") ? NULL : evc_aes_named(line->name);
    const struct evc_gcm *gcm = strcmp(line->primitive, "gcm") ? NULL : evc_gcm_named(line->name);
    const struct evc_qarma *qarma = strcmp(line->primitive, "qarma") ? NULL : evc_qarma_named(line->name);
    const struct evc_kernel *kernel = aes     ? evc_aes_kernel(aes)
                                      : gcm   ? evc_gcm_kernel(gcm)
                                      : qarma ? evc_qarma_kernel(qarma)
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
    if (gcm)
        emit_gcm_slots(gcm);
    if (qarma)
        emit_qarma_slots(qarma);
    emit_list_end();
}

static void list_line(const struct evc_registry_line *line, unsigned rank)
{
    enum evc_arch arch = (enum evc_arch)line->arch;

    emit_begin("kernel");
    emit_text("primitive", line->primitive);
    emit_text("name", line->name);
    emit_unsigned("rank", rank);
    emit_text("arch", arch_name(arch));
    emit_text("isa", line->isa);
    emit_features("needs", arch, line->needs);
    emit_text("timing", timing_name(line->timing));
    emit_text("use", use_name(line->use));
    emit_bool("built", line->built);
    emit_bool("runs", runs_here(line));
    emit_features("missing", arch, missing_features(line) | missing_tuning(line));
    emit_features("missing_tuning", arch, missing_tuning(line));
    if (line->built)
        emit_descriptor(line);
    emit_end();
}

int list_command(int argc, char **argv)
{
    static struct words primitives;
    const struct option options[] = {{"--primitive", OPTION_WORDS, &primitives}};
    const struct evc_registry_line *line;

    options_read(argc, argv, options, sizeof options / sizeof options[0]);
    must_be_primitives(&primitives);
    emit_harness_line("list", NULL);
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (chosen(&primitives, line->primitive))
            list_line(line, i);
    return 0;
}
