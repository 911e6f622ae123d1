/* SPDX-License-Identifier: MIT */
/*
 * Stands in for all that a bench of AES and GCM does not call: kernels of big numbers and of QARMA,
 * the layers on them, and the commands of the harness that check. With it, the harness's commands
 * list, resolve, bench and limits link without these files.
 *
 * Behind this text come lines ABSENT_KERNEL(primitive, stem): kernels of AES, GHASH and GCM
 * that the CPU cannot run.
 */
#include <stdio.h>

#include "aes/kernel.h"
#include "bn/kernel.h"
#include "bn_words/kernel.h"
#include "gcm/kernel.h"
#include "ghash/kernel.h"
#include "qarma/kernel.h"
#include "sha2/kernel.h"
#include "x25519/kernel.h"

#include "bench.h"
#include "commands.h"

/* ---- Commands ------------------------------------------------------------------------------- */

#define ABSENT_COMMAND(name)                                                                  \
    int name##_command(int argc, char **argv)                                                 \
    {                                                                                         \
        (void)argc;                                                                           \
        (void)argv;                                                                           \
        fputs("harness: this one measures AES and GCM alone, and has no command " #name "\n", \
              stderr);                                                                        \
        return 2;                                                                             \
    }

ABSENT_COMMAND(check)
ABSENT_COMMAND(vectors)
ABSENT_COMMAND(peers)
ABSENT_COMMAND(ct)
ABSENT_COMMAND(genrsa)
ABSENT_COMMAND(dhparam)

/* ---- What is measured of other primitives: no mode ------------------------------------------- */

static const char *no_mode(size_t index)
{
    (void)index;
    return NULL;
}

#define ABSENT_BENCH(what) \
    const struct bench_primitive bench_##what = {.name = #what, .mode_name = no_mode};
ABSENT_BENCH(bn)
ABSENT_BENCH(bn_words)
ABSENT_BENCH(layers)
ABSENT_BENCH(pac_aes)
ABSENT_BENCH(pac_qarma)
ABSENT_BENCH(qarma)
ABSENT_BENCH(sha2)

/* ---- Kernels: descriptors that nobody reads -------------------------------------------------- */

#define ABSENT_DESCRIPTOR(primitive, stem) \
    const struct evc_##primitive evc_##primitive##_##stem = {.kernel = {.name = #stem}};
#define ABSENT_KERNEL(primitive, stem) \
    ABSENT_DESCRIPTOR(primitive, stem) \
    FORWARD_OF_##primitive(stem)
#define FORWARD_OF_aes(stem) ABSENT_DESCRIPTOR(aes, stem##_forward)
#define FORWARD_OF_ghash(stem)
#define FORWARD_OF_gcm(stem)
#define FORWARD_OF_bn(stem)
#define FORWARD_OF_bn_words(stem)
#define FORWARD_OF_qarma(stem)
#define FORWARD_OF_sha2(stem)
#define FORWARD_OF_x25519(stem)
#define ABSENT_aes(primitive, stem)
#define ABSENT_ghash(primitive, stem)
#define ABSENT_gcm(primitive, stem)
#define ABSENT_bn(primitive, stem) ABSENT_KERNEL(primitive, stem)
#define ABSENT_bn_words(primitive, stem) ABSENT_KERNEL(primitive, stem)
#define ABSENT_qarma(primitive, stem) ABSENT_KERNEL(primitive, stem)
#define ABSENT_sha2(primitive, stem) ABSENT_KERNEL(primitive, stem)
#define ABSENT_x25519(primitive, stem) ABSENT_KERNEL(primitive, stem)
#define KERNEL(primitive, stem, isa, timing, ...) \
    EVC_WHEN(EVC_BUILT(isa), ABSENT_##primitive(primitive, stem))
#include "kernels.def"
