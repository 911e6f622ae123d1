/* SPDX-License-Identifier: MIT */
/*
 * Big numbers modulo an odd number, and the kernels that multiply them. RSA, Diffie-Hellman and
 * tests of primes are built on this header.
 *
 *     EVC_ALIGN(16) static uint8_t memory[EVC_BN_MOST_MODULUS_BYTES(2048)];
 *     static uint8_t scratch[EVC_BN_MOST_SCRATCH_BYTES(2048)];
 *     enum evc_status status =
 *         evc_bn_set_best_in(memory, sizeof memory, evc_cpu_features(), 0, n, 256);
 *     const struct evc_bn_modulus *modulus = (const void *)memory;
 *     if (status == EVC_OK)
 *         status = evc_bn_exp(modulus, base, exponent, 256, out, scratch, sizeof scratch);
 *     evc_wipe(memory, sizeof memory);
 *
 * Numbers are big-endian bytes, the most significant byte first. A modulus is a key: a kernel makes
 * it, in memory of the caller, and it remembers the kernel. Keys may be copied and shared by
 * threads; they hold no pointer into themselves.
 *
 * Scratch memory belongs to one call at a time. It may have any alignment and content; the call
 * wipes the bytes that it used. Nothing is allocated, and no function needs more than 1 KiB of
 * stack.
 *
 * Timing, with a kernel of class CT: depends on lengths and on the status returned. It does not
 * depend on bases, on moduli (the primes of RSA are secret moduli), or on exponents, except in
 * functions with `_public` in their names.
 * Stack and registers: calls clear secrets from the stack below their caller and from vector
 * registers, as in everycore/aes.h.
 *
 * Buffers: any alignment. An output may be one of the inputs of the same call. They do not overlap
 * in part, and no buffer overlaps a key or scratch memory. A call that fails has written nothing
 * but scratch memory, unless said otherwise.
 */
#ifndef EVERYCORE_BN_H
#define EVERYCORE_BN_H

#include "everycore/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lengths of moduli: whole bytes, the first of which is not zero. */
#define EVC_BN_MIN_BITS 128u
#define EVC_BN_MAX_BITS 8192u
#define EVC_BN_MAX_BYTES (EVC_BN_MAX_BITS / 8)

struct evc_bn; /* a kernel's descriptor; its members are below, for authors of kernels */

/* Sizes that a kernel needs for moduli of one length. All numbers of bytes are multiples of 16. */
struct evc_bn_shape {
    uint32_t r_bits;        /* numbers are held as x 2^r_bits mod n:
                             * Montgomery's R; 0: as they are */
    uint32_t loaded_bits;   /* load multiplies by 2^loaded_bits, and store divides by that
                             * modulo n; at most r_bits */
    uint32_t form_bytes;    /* of a number in the kernel's form */
    uint32_t private_bytes; /* of what set_modulus makes */
    uint32_t scratch_bytes; /* of scratch memory for one operation */
};

/* Every modulus begins with this; the rest is the library's own. */
struct evc_bn_modulus {
    const struct evc_bn *kernel;
    uint32_t n_bytes; /* length of the modulus */
    struct evc_bn_shape shape;
};

/* ---- Choosing a kernel ----------------------------------------------------------------------- */

/* As evc_aes_select. Never NULL: c_ref needs no multiplication and always fits; where the CPU
 * multiplies in constant time (the feature ct-mul), or the policy is EVC_ALLOW_VARTIME, selection
 * finds a kernel that is a thousand times faster. */
EVC_API const struct evc_bn *evc_bn_select(uint64_t features, unsigned policy, enum evc_use use);

/* The same for moduli of one length: vectors are slower than general registers where numbers are
 * short. use: EVC_USE_PARALLEL for many powers side by side (evc_bn_exp_many), else EVC_USE_SERIAL
 * or EVC_USE_ANY. n_bits may be any number; evc_bn_modulus_bytes returns 0 if there are no moduli
 * of that length. */
EVC_API const struct evc_bn *evc_bn_select_for(uint64_t features, unsigned policy, enum evc_use use,
                                               size_t n_bits);

/* As evc_aes_named and evc_aes_at. */
EVC_API const struct evc_bn *evc_bn_named(const char *name);
EVC_API const struct evc_bn *evc_bn_at(unsigned index);

/* Any descriptor begins with its struct evc_kernel. */
static inline const struct evc_kernel *evc_bn_kernel(const struct evc_bn *bn)
{
    return (const struct evc_kernel *)(const void *)bn;
}

/* ---- Moduli ---------------------------------------------------------------------------------- */

/* Bytes of memory for a modulus of n_bits bits, a multiple of 8, and of scratch memory for any one
 * call with it. 0: kernel is NULL, or there are no moduli of this length. */
EVC_API size_t evc_bn_modulus_bytes(const struct evc_bn *kernel, size_t n_bits);
EVC_API size_t evc_bn_scratch_bytes(const struct evc_bn *kernel, size_t n_bits);

/* Bytes that are enough with every kernel of this library: for arrays, and where a set_best
 * function selects. The two functions above return what one kernel needs, often half as much. */
#define EVC_BN_MOST_MODULUS_BYTES(n_bits) (3 * (size_t)(n_bits) + 512)
#define EVC_BN_MOST_SCRATCH_BYTES(n_bits) (15 * (size_t)(n_bits) + 2048)

/*
 * n: n_bytes bytes, odd, its first byte not zero. memory: at least evc_bn_modulus_bytes(kernel,
 * 8 * n_bytes), aligned to 16; use it as `const struct evc_bn_modulus *modulus = memory;`.
 * evc_bn_set_best_in: selects the fastest kernel for one power of this length.
 *
 * EVC_ERR_KEY_SIZE    fewer than 16 bytes, or more than 1024
 * EVC_ERR_MODULUS     n is even (zero is), or its first byte is zero
 * EVC_ERR_KERNEL      kernel is NULL, or the memory is too small
 * EVC_ERR_ALIGNMENT   the memory is not aligned to 16 bytes
 * EVC_ERR_OVERLAP     n lies in the memory of the modulus
 *
 * The memory is wiped first, also if the call then fails: then calls with it return EVC_ERR_KERNEL.
 */
EVC_CHECKED enum evc_status evc_bn_set_modulus_in(void *memory, size_t memory_bytes,
                                                  const struct evc_bn *kernel, const uint8_t *n,
                                                  size_t n_bytes);
EVC_CHECKED enum evc_status evc_bn_set_best_in(void *memory, size_t memory_bytes, uint64_t features,
                                               unsigned policy, const uint8_t *n, size_t n_bytes);

/* ---- Modulo n -------------------------------------------------------------------------------- */

/*
 * a, b, base, out: as many bytes as the modulus has. Every operand is below the modulus.
 *
 * EVC_ERR_KERNEL   the modulus is not set up
 * EVC_ERR_SCRATCH  fewer bytes than evc_bn_scratch_bytes() says
 * EVC_ERR_LENGTH   an exponent, or a number to reduce, of 0 bytes or of more than 1024
 * EVC_ERR_RANGE    an operand is not below the modulus
 *
 * add, sub: a + b, a - b. mul, sqr: a b, a^2. reduce: a number of any length from 1 to 1024 bytes,
 * modulo n.
 */
EVC_CHECKED enum evc_status evc_bn_mod_add(const struct evc_bn_modulus *n, const uint8_t *a,
                                           const uint8_t *b, uint8_t *out, void *scratch,
                                           size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_bn_mod_sub(const struct evc_bn_modulus *n, const uint8_t *a,
                                           const uint8_t *b, uint8_t *out, void *scratch,
                                           size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_bn_mod_mul(const struct evc_bn_modulus *n, const uint8_t *a,
                                           const uint8_t *b, uint8_t *out, void *scratch,
                                           size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_bn_mod_sqr(const struct evc_bn_modulus *n, const uint8_t *a,
                                           uint8_t *out, void *scratch, size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_bn_mod_reduce(const struct evc_bn_modulus *n, const uint8_t *a,
                                              size_t a_bytes, uint8_t *out, void *scratch,
                                              size_t scratch_bytes);

/*
 * out = base^exponent modulo n. The exponent has exponent_bytes bytes, and the first ones may be
 * zero, so that the length of a secret exponent need not reveal its size. 0^0 is 1.
 *
 * evc_bn_exp: the exponent is secret. Every bit costs the same, and each step reads the whole table
 * of powers.
 * evc_bn_exp_public: the time depends on the exponent, but not on the base or the modulus.
 */
EVC_CHECKED enum evc_status evc_bn_exp(const struct evc_bn_modulus *n, const uint8_t *base,
                                       const uint8_t *exponent, size_t exponent_bytes, uint8_t *out,
                                       void *scratch, size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_bn_exp_public(const struct evc_bn_modulus *n, const uint8_t *base,
                                              const uint8_t *exponent, size_t exponent_bytes,
                                              uint8_t *out, void *scratch, size_t scratch_bytes);

/*
 * A power of a small public base with a secret exponent. The time depends on the base. If the base
 * is 2 or nearly as small, as generators of Diffie-Hellman are, sums replace a quarter of the
 * products.
 */
EVC_CHECKED enum evc_status evc_bn_exp_small(const struct evc_bn_modulus *n, uint32_t base,
                                             const uint8_t *exponent, size_t exponent_bytes,
                                             uint8_t *out, void *scratch, size_t scratch_bytes);

/*
 * Many independent exponentiations, each as by evc_bn_exp: the two halves of an RSA signature, many
 * signatures, tests of many candidates. Some kernels compute neighbours side by side, if their
 * moduli have the same kernel and length, and their exponents have the same length.
 *
 * If base is NULL, the base is 2. Eight powers of 2 side by side take less time than eight of other
 * bases. A power of 2 is computed beside other powers of 2 only.
 *
 * Powers may share inputs. An output may be an input of its own power, but overlaps no buffer of
 * another one, which may be read later.
 *
 * The call returns EVC_OK if all succeeded, else the first error; the member `status` has the
 * result of each one. scratch_bytes: at least the largest evc_bn_exp_many_scratch_bytes() of all
 * moduli.
 */
struct evc_bn_exp {
    const struct evc_bn_modulus *n;
    const uint8_t *base, *exponent;
    uint8_t *out;
    size_t exponent_bytes;
    enum evc_status status; /* result */
};

EVC_CHECKED enum evc_status evc_bn_exp_many(struct evc_bn_exp *exps, size_t n_exps, void *scratch,
                                            size_t scratch_bytes);
EVC_API size_t evc_bn_exp_many_scratch_bytes(const struct evc_bn *kernel, size_t n_bits);

/* ---- Without a kernel: greatest common divisor and inverse ----------------------------------- */

/*
 * In constant time on every CPU, since nothing is multiplied. Numbers have 1 to 1024 bytes, and the
 * first bytes may be zero.
 *
 * gcd: the greatest common divisor of a and b. a is odd; out has a_bytes bytes. a, b and the result
 * are secret.
 * inverse: the number below n whose product with a is 1 modulo n. n is odd; a is below n; a
 * and out have n_bytes bytes.
 *
 * EVC_ERR_LENGTH   a number of 0 bytes, or of more than 1024
 * EVC_ERR_MODULUS  gcd: a is even. inverse: n is even, or 1
 * EVC_ERR_RANGE    inverse: a is not below n
 * EVC_ERR_INVERSE  inverse: a and n have a common divisor; the status reveals that
 * EVC_ERR_SCRATCH  fewer bytes than evc_bn_gcd_scratch_bytes() says
 */
EVC_API size_t evc_bn_gcd_scratch_bytes(size_t longest_bytes); /* 0: no such length */
EVC_CHECKED enum evc_status evc_bn_gcd(const uint8_t *a, size_t a_bytes, const uint8_t *b,
                                       size_t b_bytes, uint8_t *out, void *scratch,
                                       size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_bn_inverse(const uint8_t *a, const uint8_t *n, size_t n_bytes,
                                           uint8_t *out, void *scratch, size_t scratch_bytes);

/* ---- Remainders by small words --------------------------------------------------------------- */

struct evc_bn_words;
struct evc_bn_trial;

/*
 * remainders[i] = a modulo the i-th word of the groups, which evc_bn_trial_set of
 * everycore/bn_words.h prepares. One pass over the number serves up to four words. words: a kernel
 * of word primitives. a: 1 to 1024 bytes; the first may be zero. The words are public; the number
 * is secret, and so are the remainders.
 *
 * EVC_ERR_KERNEL   words is NULL
 * EVC_ERR_LENGTH   a number of 0 bytes, or of more than 1024
 * EVC_ERR_SCRATCH  fewer bytes than evc_bn_mod_words_scratch_bytes() says
 */
EVC_API size_t evc_bn_mod_words_scratch_bytes(size_t a_bytes); /* 0: no such length */
EVC_CHECKED enum evc_status evc_bn_mod_words(const struct evc_bn_words *words,
                                             const struct evc_bn_trial *groups, size_t n_groups,
                                             const uint8_t *a, size_t a_bytes, uint32_t *remainders,
                                             void *scratch, size_t scratch_bytes);

/* ---- For kernels and their harness ----------------------------------------------------------- */

/*
 * The descriptor.
 *
 * key: a struct evc_bn_modulus, already set, and right behind it (EVC_BN_PRIVATE in bn/kernel.h)
 * shape.private_bytes bytes that set_modulus fills. Numbers in the kernel's form have
 * shape.form_bytes bytes; they are aligned to 16 bytes, in scratch memory to 64 bytes if form_bytes
 * is a multiple of 64. kernel.key_bytes: the size of struct evc_bn_modulus only.
 * scratch: shape.scratch_bytes bytes, as aligned; operations may leave secrets there.
 *
 * load gives the form of a number of in_bytes bytes, at most as many as the modulus has; it
 * may be beyond the modulus. store writes n_bytes bytes of a number below the modulus.
 * Neither multiplies by R.
 * mul: a b / R mod n. a: what load gives, or a result; b: a result. sqr: of a result. A result is
 * what mul, sqr, add and sub give, or what load gives of a number that is below the modulus when it
 * is multiplied by 2^loaded_bits. add, sub: of results. r may be a or b. Results are below the
 * modulus; or they are larger by multiples of it, if every operation of the kernel takes them so,
 * and store subtracts these.
 */
struct evc_bn {
    struct evc_kernel kernel;
    uint32_t lanes; /* exponentiations that exp_many does side by side, at most; 1 without it */
    uint32_t fewest_bits; /* of moduli for which one power is not slower than with
                           * later lines of kernels.def */

    /* Mandatory. shape: of moduli of n_bytes bytes. */
    void (*shape)(size_t n_bytes, struct evc_bn_shape *shape);
    void (*set_modulus)(void *key, const uint8_t *n);
    void (*load)(const void *key, void *r, const uint8_t *in, size_t in_bytes);
    void (*store)(const void *key, uint8_t *out, const void *a);
    void (*add)(const void *key, void *r, const void *a, const void *b, void *scratch);
    void (*sub)(const void *key, void *r, const void *a, const void *b, void *scratch);
    void (*mul)(const void *key, void *r, const void *a, const void *b, void *scratch);
    void (*sqr)(const void *key, void *r, const void *a, void *scratch);

    /* Optional: entry number index of a table of n_entries numbers; every one is read. */
    void (*select)(const void *key, void *r, const void *table, size_t n_entries, size_t index);

    /* Optional: factor = entry number index of the table, as select, and r = r to the power of
     * 2^n_squares, times factor. n_squares: 1 or more. r, factor and the table do not overlap.
     * r may be n or more, before and after, as a number that load makes: its product with a number
     * that is not is less. */
    void (*raise)(const void *key, void *r, unsigned n_squares, void *factor, const void *table,
                  size_t n_entries, size_t index, void *scratch);

    /* Optional: 2 to `lanes` exponentiations side by side, whose lengths are equal and operands
     * checked. scratch: exp_many_bytes(shape of the moduli) bytes, aligned to 64. */
    void (*exp_many)(const struct evc_bn_exp *exps, size_t n_exps, void *scratch);
    size_t (*exp_many_bytes)(const struct evc_bn_shape *shape);
};

#ifdef __cplusplus
}
#endif
#endif
