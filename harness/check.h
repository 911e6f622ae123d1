/* SPDX-License-Identifier: MIT */
/*
 * The interface between a primitive and check: its properties. Each is a sentence that holds for
 * every kernel. check.c walks the registry and knows no primitive.
 */
#ifndef HARNESS_CHECK_H
#define HARNESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "everycore/kernel.h"

#include "port/port.h"
#include "random.h"

enum result { PASS, FAIL, SKIP };

/* One property of one kernel under test; line: its own, or that of a pair. */
struct check {
    const struct evc_registry_line *line;
    struct random random;
    bool quick;       /* sample the lengths and positions */
    uint64_t cases;   /* compared so far */
    char detail[8192]; /* of a failure or skip */
};

struct property {
    const char *name;
    enum result (*holds)(struct check *);
    bool on_request; /* done only if named: it depends on the compiler more than on the source, or
                      * takes minutes */
};

struct check_primitive {
    const char *name;
    const struct property *properties;
    size_t n_properties;
    bool pairs; /* of kernels of other primitives have them too: gcm_kernels.h */
};

extern const struct check_primitive check_aes, check_ghash, check_gcm, check_qarma, check_bn,
    check_bn_words, check_sha2, check_x25519;

/* Say why; returns FAIL, or SKIP. */
enum result check_fail(struct check *, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(PORT_PRINTF, 2, 3)))
#endif
    ;
enum result check_skip(struct check *, const char *why);

/* From one number of blocks to the next: 1; drawn if the run is quick and an emulator's. */
size_t check_step(struct check *);

/* Lower-case hexadecimal to bytes; returns how many. */
size_t check_unhex(uint8_t *out, const char *hex);

#endif
