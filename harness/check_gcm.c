/* SPDX-License-Identifier: MIT */
/* The properties that every kernel of GCM has. */
#include "check.h"

#include <string.h>

#include "everycore/gcm.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_gcm *gcm = evc_gcm_named(c->line->name);
    const struct evc_kernel *k = gcm ? &gcm->kernel : NULL;

    c->cases = 6;
    if (!k)
        return check_fail(c, "evc_gcm_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if (k->key_bytes > sizeof(union evc_gcm_key) || k->key_align != 16)
        return check_fail(c, "a key of %u bytes", (unsigned)k->key_bytes);
    if (k->batch == 0 || k->version != EVC_KERNEL_VERSION)
        return check_fail(c, "batch %u, version %u", (unsigned)k->batch, (unsigned)k->version);
    if (!gcm->set_key || !gcm->encrypt || !gcm->hash || !gcm->seal_blocks || !gcm->open_blocks)
        return check_fail(c, "a mandatory operation is missing");
    return PASS;
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
#undef PROPERTY
};

const struct check_primitive check_gcm = {
    .name = "gcm", .properties = properties, .n_properties = N(properties)};
