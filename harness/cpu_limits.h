/* SPDX-License-Identifier: MIT */
/*
 * The best that a CPU can do, as loops to be timed. One file per architecture
 * (cpu_limits_<arch>.c) holds the loops, in assembly so that no compiler has a say, and defines
 * limits_here; cpu_limits.c times them.
 *
 * A loop is a function that runs its body once per call. Its name is in the line that tells its
 * cost, and tests/unit/limit_loops.py counts the instructions of that function in the binary.
 */
#ifndef HARNESS_CPU_LIMITS_H
#define HARNESS_CPU_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "measure.h"

/* Instructions in the body of every loop of one instruction: enough to hide the two of the loop
 * itself, few enough for the smallest caches of decoded instructions. */
#define LIMIT_COUNT 192

/* Bytes, aligned to 64, that loops get as their work: loads and stores go there. The first pointer
 * is the address of itself, a chain for loads. */
#define LIMIT_MEMORY_BYTES 1024

struct limit_instruction {
    const char *name;
    unsigned width_bits; /* of its operands */
    uint64_t needs;      /* EVC_CPU(...) of this architecture */
    const char *chain_name, *streams_name;
    bench_loop *chain;   /* each needs the result of the one before; NULL: it has no such result */
    bench_loop *streams; /* independent of their neighbours, as many chains as keep the CPU busy */
};

/* The arithmetic that no kernel of a mode can do without. What it serves is in cpu_limits.c. */
enum limit_work {
    LIMIT_ENCRYPT,    /* rounds of independent blocks */
    LIMIT_DECRYPT,    /* the same, of decryption */
    LIMIT_CHAIN,      /* rounds of blocks, each of which needs the one before */
    LIMIT_KARATSUBA,  /* products of GHASH, three multiplications each */
    LIMIT_SCHOOLBOOK, /* products of GHASH, four multiplications each */
    LIMIT_GCM_KARATSUBA,
    LIMIT_GCM_SCHOOLBOOK, /* LIMIT_ENCRYPT and the products of as many blocks */
    LIMIT_WORK_N
};

struct limit_count {
    const char *instruction; /* NULL: none */
    unsigned n;
};

struct limit_arithmetic {
    const char *name;
    enum limit_work work;
    unsigned key_bits; /* 0: any */
    unsigned width_bits;
    unsigned len_bytes; /* of text, in one call */
    uint64_t needs;
    struct limit_count holds[3];
    bench_loop *loop;
};

struct limits {
    const struct limit_instruction *instructions;
    size_t n_instructions;
    const struct limit_arithmetic *arithmetic;
    size_t n_arithmetic;
};

extern const struct limits limits_here;

#endif
