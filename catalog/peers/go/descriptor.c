/* SPDX-License-Identifier: MIT */
/* The descriptor around what go.go exports. */
#include "peer.h"

#include "_cgo_export.h"

static const char *version(void)
{
    static const char *text;

    if (!text)
        text = goVersion();
    return text;
}

static bool run_loop(void *context, const struct peer_message *messages, size_t mask,
                     uint64_t calls)
{
    return goLoop((uintptr_t)context, (struct peer_message *)(uintptr_t)messages, mask, calls);
}

static bool run_one(void *context, const struct peer_message *m)
{
    return run_loop(context, m, 0, 1);
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    *run = run_one;
    return (void *)goOpen((char *)(uintptr_t)mode, (uint8_t *)(uintptr_t)key, key_bits);
}

static void close_context(void *context)
{
    goClose((uintptr_t)context);
}

const struct peer evc_peer = {.name = "go",
                              .version = version,
                              .open = open_context,
                              .close = close_context,
                              .loop = run_loop};
