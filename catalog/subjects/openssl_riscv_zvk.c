/* SPDX-License-Identifier: MIT */
/* OpenSSL for RISC-V with vectors: the assembly of sha256-riscv64-zvkb-zvknha_or_zvknhb.pl and of
 * sha512-riscv64-zvkb-zvknhb.pl. */
#include "hashes.h"

void sha256_block_data_order_zvkb_zvknha_or_zvknhb(void *h, const void *in, size_t n_blocks);
void sha512_block_data_order_zvkb_zvknhb(void *h, const void *in, size_t n_blocks);

void sha2_key(struct subject_job *job)
{
    set_hash_starts(job->own);
}

SHA256_BLOCKS(sha256_blocks,
              sha256_block_data_order_zvkb_zvknha_or_zvknhb(h, job->in, job->n_bytes / 64))
SHA512_BLOCKS(sha512_blocks, sha512_block_data_order_zvkb_zvknhb(h, job->in, job->n_bytes / 128))
