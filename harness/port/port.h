/* SPDX-License-Identifier: MIT */
/* The needs of the harness from an operating system, beyond the C library; one file per
 * system implements them. */
#ifndef HARNESS_PORT_H
#define HARNESS_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* tells __MINGW_PRINTF_FORMAT */
#include <stdlib.h>

/* How the C library reads format strings, for __attribute__((format(...))). */
#if defined(__MINGW_PRINTF_FORMAT)
#define PORT_PRINTF __MINGW_PRINTF_FORMAT
#else
#define PORT_PRINTF printf
#endif

/* Memory for what is aligned to 64 bytes, and its end. */
#if defined(_WIN32)
#include <malloc.h>
#define port_alloc_64(len_bytes) _aligned_malloc(len_bytes, 64)
#define port_free_64(memory) _aligned_free(memory)
#else
#define port_alloc_64(len_bytes) aligned_alloc(64, len_bytes)
#define port_free_64(memory) free(memory)
#endif

/* A clock that only moves forward, not adjusted in rate where there is such a one. */
uint64_t port_now_ns(void);

/* How often another program took the CPU from this one so far; 0 if unknown. */
uint64_t port_preemptions(void);

/* Stay on this CPU; -1: on the one where this runs now. False: not possible. */
bool port_pin(int cpu);

/* This is an emulator that gives no cycles worth counting. */
bool port_emulated(void);

/* n_bytes random bytes of the operating system, fit for keys. False: it has none now. */
bool port_random(uint8_t *out, size_t n_bytes);

/* Whole pages, readable and writable, with an inaccessible page right before start and right after
 * start + len_bytes. len_bytes is rounded up to pages. Never freed. start NULL: not possible. */
struct guarded {
    uint8_t *start;
    size_t len_bytes;
};
struct guarded port_guarded(size_t at_least_bytes);

/* The place of len_bytes bytes flush with the beginning or the end. */
static inline uint8_t *port_flush(const struct guarded *g, bool at_end, size_t len_bytes)
{
    return at_end ? g->start + g->len_bytes - len_bytes : g->start;
}

/* Run f(arg); false if it touched memory that it may not touch, or met an instruction that is none
 * here. May be nested. */
bool port_survives(void (*f)(void *), void *arg);

/* Run f(arg) on this stack of len_bytes bytes; false: not possible. */
bool port_on_stack(void (*f)(void *), void *arg, uint8_t *stack, size_t len_bytes);

#endif
