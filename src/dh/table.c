/* SPDX-License-Identifier: MIT */
/*
 * Powers of the generator by a table that is made once.
 *
 * A secret of a rows has TEETH a bits: bit number t a + i is in row i, of tooth t. Rows are in
 * blocks of b. With block j comes the table of all products of g^(2^(t a + j b)) over sets of teeth
 * t. So one square for each of the b rows of a block, and one product for each row, make a power.
 *
 * Source: Lim, Lee: More flexible exponentiation with precomputation, CRYPTO 1994.
 */
#include "common/ct.h"
#include "common/key_memory.h"
#include "dh/parts.h"

#define TEETH EVC_BN_WINDOW_BITS
#define ENTRIES ((size_t)1 << TEETH)

/* ---- The parts of a table: the head, p and g with p_bytes bytes each, the
 * entries of each block */

#define HEAD_BYTES EVC_BN_ROUND16(sizeof(struct evc_dh_table))

static uint8_t *p_of(const struct evc_dh_table *table)
{
    return (uint8_t *)(uintptr_t)table + HEAD_BYTES;
}

static uint8_t *entry(const struct evc_dh_table *table, const struct evc_bn_modulus *n,
                      size_t block, size_t index)
{
    return p_of(table) + EVC_BN_ROUND16(2 * (size_t)table->p_bytes) +
           (block * ENTRIES + index) * n->shape.form_bytes;
}

static int is_number_of_blocks(size_t n_blocks)
{
    return n_blocks > 0 && n_blocks <= EVC_DH_MOST_BLOCKS;
}

size_t evc_dh_table_bytes(const struct evc_bn *kernel, size_t p_bits, size_t n_blocks)
{
    struct evc_bn_shape shape;

    if (!evc_bn_modulus_bytes(kernel, p_bits) || !is_number_of_blocks(n_blocks))
        return 0;
    kernel->shape(p_bits / 8, &shape);
    return HEAD_BYTES + EVC_BN_ROUND16(2 * (p_bits / 8)) + n_blocks * ENTRIES * shape.form_bytes;
}

/* Rows of a block: the least number with which all blocks and teeth hold the bits of a secret. */
static size_t rows_for(const struct evc_dh_group *group, size_t n_blocks)
{
    return (8 * (size_t)group->secret_bytes + TEETH * n_blocks - 1) / (TEETH * n_blocks);
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

/* The entries with one tooth: g, squared again and again. */
static void set_single_teeth(const struct evc_dh_table *table, const struct evc_dh_group *group,
                             void *scratch)
{
    const struct evc_bn_modulus *const n = evc_dh_modulus_of(group);
    const size_t rows = table->rows, n_blocks = table->n_blocks;
    void *const power = evc_bn_number(n, scratch, 0);

    evc_bn_op_enter(n, power, evc_dh_g_of(group), group->p_bytes, scratch);
    for (size_t i = 0; i < TEETH * n_blocks; i++) {
        memcpy(entry(table, n, i % n_blocks, (size_t)1 << i / n_blocks), power,
               n->shape.form_bytes);
        for (size_t row = 0; row < rows; row++)
            evc_bn_op_sqr(n, power, power, scratch);
    }
}

/* Every other entry is a product of one that came before, and of one with a single tooth. */
static void set_products(const struct evc_dh_table *table, const struct evc_dh_group *group,
                         void *scratch)
{
    const struct evc_bn_modulus *const n = evc_dh_modulus_of(group);

    for (size_t block = 0; block < table->n_blocks; block++) {
        memcpy(entry(table, n, block, 0), evc_bn_one(n), n->shape.form_bytes);
        for (size_t i = 1; i < ENTRIES; i++) {
            const size_t lowest = i & (~i + 1);

            if (i != lowest)
                evc_bn_op_mul(n, entry(table, n, block, i), entry(table, n, block, i ^ lowest),
                              entry(table, n, block, lowest), scratch);
        }
    }
}

static enum evc_status check_set_up(const void *memory, size_t memory_bytes,
                                    const struct evc_dh_group *group, size_t n_blocks,
                                    size_t scratch_bytes)
{
    size_t p_bits;

    if (!EVC_IS_SET(group))
        return evc_key_error(group);
    p_bits = 8 * (size_t)group->p_bytes;
    if (evc_overlap(memory, memory_bytes, group, evc_dh_group_bytes(group->kernel, p_bits)))
        return EVC_ERR_OVERLAP; /* before all others, which wipe the memory */
    if (!is_number_of_blocks(n_blocks))
        return EVC_ERR_PARAMETER;
    if (scratch_bytes < evc_dh_scratch_bytes(group->kernel, p_bits))
        return EVC_ERR_SCRATCH;
    return evc_check_key_memory(memory, memory_bytes,
                                evc_dh_table_bytes(group->kernel, p_bits, n_blocks), group,
                                evc_dh_group_bytes(group->kernel, p_bits));
}

enum evc_status evc_dh_set_table_in(void *memory, size_t memory_bytes,
                                    const struct evc_dh_group *group, size_t n_blocks,
                                    void *scratch, size_t scratch_bytes)
{
    struct evc_dh_table *const table = memory;
    const enum evc_status status =
        check_set_up(memory, memory_bytes, group, n_blocks, scratch_bytes);

    if (status == EVC_ERR_OVERLAP) /* the group would be wiped */
        return status;
    evc_wipe(memory, memory_bytes);
    if (status != EVC_OK)
        return status;
    table->p_bytes = group->p_bytes;
    table->n_blocks = (uint32_t)n_blocks;
    table->rows = (uint32_t)rows_for(group, n_blocks);
    memcpy(p_of(table), evc_bn_modulus(evc_dh_modulus_of(group)), group->p_bytes);
    memcpy(p_of(table) + group->p_bytes, evc_dh_g_of(group), group->p_bytes);
    set_single_teeth(table, group, scratch);
    set_products(table, group, scratch);
    table->kernel = group->kernel;
    evc_bn_end(evc_dh_modulus_of(group), scratch, 1);
    return EVC_OK;
}

/* ---- A power --------------------------------------------------------------------------------- */

/* The bits of a row, one of each tooth. */
static size_t teeth_of(const struct evc_dh_table *table, const uint8_t *x, size_t x_bytes,
                       size_t row)
{
    const size_t apart = (size_t)table->rows * table->n_blocks;
    size_t bits = 0;

    for (size_t t = 0, at = row; t < TEETH && at < 8 * x_bytes; t++, at += apart)
        bits |= (size_t)evc_number_bit(x, x_bytes, at) << t;
    return bits;
}

/* Out of line: what operations leave in its frame lies below its caller, which clears it. */
EVC_OUT_OF_LINE void power_of_g(const struct evc_dh_table *table, const struct evc_dh_group *group,
                                const uint8_t *x, uint8_t *out, void *scratch)
{
    const struct evc_bn_modulus *const n = evc_dh_modulus_of(group);
    void *const sum = evc_bn_number(n, scratch, 0), *const factor = evc_bn_number(n, scratch, 1);
    const size_t rows = table->rows, x_bytes = group->secret_bytes;

    for (size_t row = rows; row-- > 0;)
        for (size_t block = 0; block < table->n_blocks; block++) {
            const int is_first = row == rows - 1 && block == 0;

            if (block == 0 && !is_first)
                evc_bn_op_sqr(n, sum, sum, scratch);
            evc_bn_op_select(n, is_first ? sum : factor, entry(table, n, block, 0), ENTRIES,
                             teeth_of(table, x, x_bytes, block * rows + row));
            if (!is_first)
                evc_bn_op_mul(n, sum, sum, factor, scratch);
        }
    evc_bn_op_leave(n, out, sum, factor, scratch);
}

static enum evc_status check_table(const struct evc_dh_group *group,
                                   const struct evc_dh_table *table)
{
    const size_t p_bytes = group->p_bytes;

    if (table->kernel != group->kernel || table->p_bytes != group->p_bytes ||
        !is_number_of_blocks(table->n_blocks) || table->rows != rows_for(group, table->n_blocks))
        return EVC_ERR_GROUP;
    return evc_mask_equal(p_of(table), evc_bn_modulus(evc_dh_modulus_of(group)), p_bytes) &&
                   evc_mask_equal(p_of(table) + p_bytes, evc_dh_g_of(group), p_bytes)
               ? EVC_OK
               : EVC_ERR_GROUP;
}

enum evc_status evc_dh_public_by_table(const struct evc_dh_group *group,
                                       const struct evc_dh_table *table, const uint8_t *x,
                                       uint8_t *y, void *scratch, size_t scratch_bytes)
{
    enum evc_status status;

    if (!EVC_IS_SET(group) || !EVC_IS_SET(table))
        return evc_key_error(EVC_IS_SET(group) ? (const void *)table : group);
    status = check_table(group, table);
    if (status == EVC_OK)
        status = evc_dh_check_secret(group, x, scratch_bytes);
    if (status != EVC_OK) {
        memset(y, 0, group->p_bytes);
        return status;
    }
    power_of_g(table, group, x, y, scratch);
    evc_bn_end(evc_dh_modulus_of(group), scratch, 2);
    return EVC_OK;
}
