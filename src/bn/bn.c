/* SPDX-License-Identifier: MIT */
/* Moduli, and sums and products modulo n by the modulus's kernel. */
#include "everycore/bn.h"

#include "bn/ops.h"
#include "common/clear.h"
#include "common/key_memory.h"

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int is_length(size_t n_bits)
{
    return n_bits >= EVC_BN_MIN_BITS && n_bits <= EVC_BN_MAX_BITS && n_bits % 8 == 0;
}

/* Room for the set-up, behind the last number of a modulus: a number's bytes, then scratch
 * memory of the kernel. */
static size_t setup_at(const struct evc_bn_shape *shape, size_t n_bytes)
{
    return evc_bn_one_at(shape, n_bytes) + 2 * (size_t)shape->form_bytes;
}

size_t evc_bn_modulus_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    struct evc_bn_shape shape;

    if (!kernel || !is_length(n_bits))
        return 0;
    kernel->shape(n_bits / 8, &shape);
    return setup_at(&shape, n_bits / 8) + EVC_BN_ROUND16(n_bits / 8) +
           EVC_BN_ROUND16(EVC_BN_SLACK) + shape.scratch_bytes;
}

static size_t whole_scratch(const struct evc_bn_shape *shape)
{
    return evc_bn_scratch_for(shape, EVC_BN_TEMPORARIES + ((size_t)1 << EVC_BN_WINDOW_BITS));
}

size_t evc_bn_scratch_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    struct evc_bn_shape shape;

    if (!kernel || !is_length(n_bits))
        return 0;
    kernel->shape(n_bits / 8, &shape);
    return whole_scratch(&shape);
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

/* r = the form of 2 to the exponent, 1 or more, which is public: its bits from the highest on. */
static void power_of_two(const struct evc_bn_modulus *n, void *r, uint32_t exponent, void *scratch)
{
    uint32_t bit = 1;

    while (exponent >> 1 >= bit)
        bit <<= 1;
    evc_bn_op_add(n, r, evc_bn_one(n), evc_bn_one(n), scratch);
    while (bit >>= 1) {
        evc_bn_op_sqr(n, r, r, scratch);
        if (exponent & bit)
            evc_bn_op_add(n, r, r, r, scratch);
    }
}

/* The form of 1 by doublings of a power of 2 that is at most 2^(8 n_bytes - 8), which is below the
 * modulus, since that has an odd last byte and a first one that is not zero. */
static void set_constants(struct evc_bn_modulus *n)
{
    uint8_t *const bytes = (uint8_t *)n + setup_at(&n->shape, n->n_bytes);
    void *const scratch = bytes + EVC_BN_ROUND16(n->n_bytes);
    const size_t one_bytes = n->n_bytes - (n->shape.loaded_bits + 7) / 8;
    uint8_t *const one = (uint8_t *)n + evc_bn_one_at(&n->shape, n->n_bytes),
                   *const r2 = one + n->shape.form_bytes;

    bytes[0] = 1; /* the rest is zero, as all of the memory was */
    if (n->shape.r_bits == 0) {
        n->kernel->load(n, one, bytes, 1);
        n->kernel->load(n, r2, bytes, 1);
        return;
    }
    n->kernel->load(n, one, bytes, one_bytes);
    for (uint32_t i = 8 * ((uint32_t)one_bytes - 1) + n->shape.loaded_bits; i < n->shape.r_bits;
         i++)
        evc_bn_op_add(n, one, one, one, scratch);
    power_of_two(n, r2, n->shape.r_bits - n->shape.loaded_bits, scratch);
}

static enum evc_status check_modulus(const void *memory, size_t memory_bytes,
                                     const struct evc_bn *kernel, const uint8_t *n, size_t n_bytes)
{
    enum evc_status status;
    uint32_t is_wrong;

    if (n_bytes > EVC_BN_MAX_BYTES || !is_length(8 * n_bytes))
        return EVC_ERR_KEY_SIZE;
    if (!kernel || kernel->kernel.key_align > 16)
        return EVC_ERR_KERNEL;
    status = evc_check_key_memory(memory, memory_bytes, evc_bn_modulus_bytes(kernel, 8 * n_bytes),
                                  n, n_bytes);
    if (status != EVC_OK)
        return status;
    if (!n)
        return EVC_ERR_PARAMETER;
    is_wrong = evc_number_bit(n, n_bytes, 0) ^ 1;
    is_wrong |= ~evc_mask_nonzero32(n[0]);
    evc_public(&is_wrong, sizeof is_wrong); /* a modulus that is refused is none */
    return is_wrong ? EVC_ERR_MODULUS : EVC_OK;
}

enum evc_status evc_bn_set_modulus_in(void *memory, size_t memory_bytes,
                                      const struct evc_bn *kernel, const uint8_t *n, size_t n_bytes)
{
    struct evc_bn_modulus *modulus = memory;
    const enum evc_status status = check_modulus(memory, memory_bytes, kernel, n, n_bytes);
    size_t used;

    evc_wipe(memory, memory_bytes);
    if (status != EVC_OK)
        return status;
    modulus->kernel = kernel;
    modulus->n_bytes = (uint32_t)n_bytes;
    kernel->shape(n_bytes, &modulus->shape);
    evc_copy_secret((uint8_t *)memory + evc_bn_bytes_at(&modulus->shape), n, n_bytes);
    kernel->set_modulus(modulus, n);
    set_constants(modulus);
    used = setup_at(&modulus->shape, n_bytes);
    evc_wipe((uint8_t *)memory + used, memory_bytes - used);
    evc_clear(&kernel->kernel);
    return EVC_OK;
}

/* ---- Operands -------------------------------------------------------------------------------- */

enum evc_status evc_bn_check(const struct evc_bn_modulus *n, size_t scratch_bytes)
{
    if (!EVC_IS_SET(n))
        return evc_key_error(n);
    return scratch_bytes < whole_scratch(&n->shape) ? EVC_ERR_SCRATCH : EVC_OK;
}

enum evc_status evc_bn_check_operands(const struct evc_bn_modulus *n, const uint8_t *a,
                                      const uint8_t *b, size_t scratch_bytes)
{
    const enum evc_status status = evc_bn_check(n, scratch_bytes);
    uint32_t good;

    if (status != EVC_OK)
        return status;
    good = evc_number_below(a, evc_bn_modulus(n), n->n_bytes) &
           evc_number_below(b, evc_bn_modulus(n), n->n_bytes);
    evc_public(&good, sizeof good); /* the status tells it */
    return good ? EVC_OK : EVC_ERR_RANGE;
}

/* ---- Sums and products ----------------------------------------------------------------------- */

/* Out of line: what it leaves in its frame lies below its callers, which clear it. */
EVC_OUT_OF_LINE void add_or_sub(int is_sub, const struct evc_bn_modulus *n, const uint8_t *a,
                                const uint8_t *b, uint8_t *out)
{
    const uint8_t *const modulus = evc_bn_modulus(n);

    if (is_sub) {
        const uint32_t is_below = evc_number_sub(out, a, b, UINT32_MAX, n->n_bytes);

        (void)evc_number_add(out, out, modulus, is_below, n->n_bytes);
    } else {
        const uint32_t carry = evc_number_add(out, a, b, UINT32_MAX, n->n_bytes);

        (void)evc_number_sub(out, out, modulus,
                             carry | ~evc_number_below(out, modulus, n->n_bytes), n->n_bytes);
    }
}

/* Bytes as they are: entering a kernel's form takes longer than a sum. */
enum evc_status evc_bn_mod_add(const struct evc_bn_modulus *n, const uint8_t *a, const uint8_t *b,
                               uint8_t *out, void *scratch, size_t scratch_bytes)
{
    const enum evc_status status = evc_bn_check_operands(n, a, b, scratch_bytes);

    (void)scratch;
    if (status != EVC_OK)
        return status;
    add_or_sub(0, n, a, b, out);
    evc_clear(&n->kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_bn_mod_sub(const struct evc_bn_modulus *n, const uint8_t *a, const uint8_t *b,
                               uint8_t *out, void *scratch, size_t scratch_bytes)
{
    const enum evc_status status = evc_bn_check_operands(n, a, b, scratch_bytes);

    (void)scratch;
    if (status != EVC_OK)
        return status;
    add_or_sub(1, n, a, b, out);
    evc_clear(&n->kernel->kernel);
    return EVC_OK;
}

/* One factor in Montgomery's form: its R and that of the product cancel. */
enum evc_status evc_bn_mod_mul(const struct evc_bn_modulus *n, const uint8_t *a, const uint8_t *b,
                               uint8_t *out, void *scratch, size_t scratch_bytes)
{
    const enum evc_status status = evc_bn_check_operands(n, a, b, scratch_bytes);
    void *x, *y;

    if (status != EVC_OK)
        return status;
    x = evc_bn_number(n, scratch, 0);
    y = evc_bn_number(n, scratch, 1);
    evc_bn_op_enter(n, x, a, n->n_bytes, scratch);
    n->kernel->load(n, y, b, n->n_bytes);
    evc_bn_op_mul(n, x, y, x, scratch);
    n->kernel->store(n, out, x);
    evc_bn_end(n, scratch, 2);
    return EVC_OK;
}

enum evc_status evc_bn_mod_sqr(const struct evc_bn_modulus *n, const uint8_t *a, uint8_t *out,
                               void *scratch, size_t scratch_bytes)
{
    return evc_bn_mod_mul(n, a, a, out, scratch, scratch_bytes);
}

/* ---- Reduction ------------------------------------------------------------------------------- */

/* sum = the form of a, in pieces of n_bytes bytes from the most significant one, which is the
 * shortest: each time the sum, times 2^(8 n_bytes), and the next piece. */
static void reduce(const struct evc_bn_modulus *n, const uint8_t *a, size_t a_bytes, void *scratch)
{
    void *const sum = evc_bn_number(n, scratch, 0), *const piece = evc_bn_number(n, scratch, 1),
               *const weight = evc_bn_number(n, scratch, 2);
    size_t first = a_bytes;

    while (first > n->n_bytes)
        first -= n->n_bytes;
    evc_bn_op_enter(n, sum, a, first, scratch);
    if (first < a_bytes)
        power_of_two(n, weight, 8 * n->n_bytes, scratch);
    for (size_t at = first; at < a_bytes; at += n->n_bytes) {
        evc_bn_op_mul(n, sum, sum, weight, scratch);
        evc_bn_op_enter(n, piece, a + at, n->n_bytes, scratch);
        evc_bn_op_add(n, sum, sum, piece, scratch);
    }
}

enum evc_status evc_bn_mod_reduce(const struct evc_bn_modulus *n, const uint8_t *a, size_t a_bytes,
                                  uint8_t *out, void *scratch, size_t scratch_bytes)
{
    const enum evc_status status = evc_bn_check(n, scratch_bytes);

    if (status != EVC_OK)
        return status;
    if (a_bytes == 0 || a_bytes > EVC_BN_MAX_BYTES)
        return EVC_ERR_LENGTH;
    if (!a)
        return EVC_ERR_PARAMETER;
    reduce(n, a, a_bytes, scratch);
    evc_bn_op_leave(n, out, evc_bn_number(n, scratch, 0), evc_bn_number(n, scratch, 1), scratch);
    evc_bn_end(n, scratch, 3);
    return EVC_OK;
}
