// SPDX-License-Identifier: MIT OR GPL-2.0
/* CMAC, CBC-MAC and GHASH. States hold bytes alone, so that a message may go on
 * with or without vectors. */
#include <linux/module.h>
#include <crypto/aes.h>
#include <crypto/internal/hash.h>

#include "glue.h"

static struct evc_keys *keys_of(struct crypto_shash *tfm)
{
	return evc_keys_of(crypto_shash_ctx(tfm));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static size_t cmac_bytes(const struct evc_choice *choice)
{
	return evc_aes_cmac_key_bytes(choice->serial);
}

static enum evc_status cmac_set(void *memory, size_t memory_bytes, const struct evc_choice *choice,
				const u8 *key, unsigned int key_bits)
{
	return evc_aes_cmac_set_key_in(memory, memory_bytes, choice->serial, key, key_bits);
}

static const struct evc_mode cmac_mode = {cmac_bytes, cmac_set};

static size_t cbcmac_bytes(const struct evc_choice *choice)
{
	return evc_aes_kernel(choice->serial)->key_bytes;
}

static enum evc_status cbcmac_set(void *memory, size_t memory_bytes,
				  const struct evc_choice *choice, const u8 *key,
				  unsigned int key_bits)
{
	return evc_aes_set_encrypt_key_in(memory, memory_bytes, choice->serial, key, key_bits);
}

static const struct evc_mode cbcmac_mode = {cbcmac_bytes, cbcmac_set};

static size_t ghash_bytes(const struct evc_choice *choice)
{
	return evc_ghash_kernel(choice->ghash)->key_bytes;
}

static enum evc_status ghash_set(void *memory, size_t memory_bytes, const struct evc_choice *choice,
				 const u8 *key, unsigned int key_bits)
{
	return key_bits == 128 ? evc_ghash_set_key_in(memory, memory_bytes, choice->ghash, key)
			       : EVC_ERR_KEY_SIZE;
}

static const struct evc_mode ghash_mode = {ghash_bytes, ghash_set};

static int cmac_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int key_bytes)
{
	return evc_set_keys(keys_of(tfm), &cmac_mode, key, key_bytes);
}

static int cbcmac_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int key_bytes)
{
	return evc_set_keys(keys_of(tfm), &cbcmac_mode, key, key_bytes);
}

static int ghash_setkey(struct crypto_shash *tfm, const u8 *key, unsigned int key_bytes)
{
	return evc_set_keys(keys_of(tfm), &ghash_mode, key, key_bytes);
}

/* ---- CMAC ------------------------------------------------------------------------------------ */

static int cmac_init(struct shash_desc *desc)
{
	return evc_aes_cmac_start(shash_desc_ctx(desc)) == EVC_OK ? 0 : -EINVAL;
}

static int cmac_update(struct shash_desc *desc, const u8 *in, unsigned int n_bytes)
{
	const struct evc_keys *keys = keys_of(desc->tfm);
	const bool vectors = evc_may_use_vectors(keys);
	enum evc_status status = EVC_OK;
	unsigned int n;
	SECTION_STATE

	for (; n_bytes && status == EVC_OK; in += n, n_bytes -= n) {
		n = min(n_bytes, EVC_SECTION_BYTES);
		SECTION(vectors, status = evc_aes_cmac_update(evc_key(keys, vectors),
							      shash_desc_ctx(desc), in, n));
	}
	return status == EVC_OK ? 0 : -EINVAL;
}

static int cmac_final(struct shash_desc *desc, u8 *out)
{
	const struct evc_keys *keys = keys_of(desc->tfm);
	const bool vectors = evc_may_use_vectors(keys);
	enum evc_status status;
	SECTION_STATE

	SECTION(vectors, status = evc_aes_cmac_finish(evc_key(keys, vectors), shash_desc_ctx(desc),
						      out, 16));
	return status == EVC_OK ? 0 : -EINVAL;
}

/* ---- CBC-MAC and GHASH: chains of blocks ----------------------------------------------------- */

/* Bytes that are no whole block yet are part of the chain already: both begin a block
 * with an exclusive or. */
struct chain {
	u8 value[16];
	u32 used; /* bytes of the block begun, 0 to 15 */
};

typedef void blocks(const void *key, u8 *value, const u8 *in, size_t n_blocks);

static void cbcmac_blocks(const void *key, u8 *value, const u8 *in, size_t n_blocks)
{
	evc_aes_cbcmac_blocks(key, value, in, n_blocks);
}

static int chain_init(struct shash_desc *desc)
{
	memset(shash_desc_ctx(desc), 0, sizeof(struct chain));
	return 0;
}

/* The block begun is complete, or filled up with zeros. */
static __always_inline void chain_end_block(const struct evc_keys *keys, bool vectors,
					    struct chain *chain, blocks *op)
{
	static const u8 zeros[16];
	SECTION_STATE

	SECTION(vectors, op(evc_key(keys, vectors), chain->value, zeros, 1));
	chain->used = 0;
}

static __always_inline int chain_update(struct shash_desc *desc, const u8 *in, unsigned int n_bytes,
					blocks *op)
{
	const struct evc_keys *keys = keys_of(desc->tfm);
	const bool vectors = evc_may_use_vectors(keys);
	struct chain *chain = shash_desc_ctx(desc);
	unsigned int n;
	SECTION_STATE

	while (chain->used && n_bytes) {
		chain->value[chain->used++] ^= *in++;
		n_bytes--;
		if (chain->used == 16)
			chain_end_block(keys, vectors, chain, op);
	}
	for (; n_bytes >= 16; in += n, n_bytes -= n) {
		n = min(n_bytes & ~15u, EVC_SECTION_BYTES);
		SECTION(vectors, op(evc_key(keys, vectors), chain->value, in, n / 16));
	}
	while (n_bytes--)
		chain->value[chain->used++] ^= *in++;
	return 0;
}

static __always_inline int chain_final(struct shash_desc *desc, u8 *out, blocks *op)
{
	const struct evc_keys *keys = keys_of(desc->tfm);
	struct chain *chain = shash_desc_ctx(desc);

	if (chain->used)
		chain_end_block(keys, evc_may_use_vectors(keys), chain, op);
	memcpy(out, chain->value, 16);
	memzero_explicit(chain, sizeof(*chain));
	return 0;
}

static int cbcmac_update(struct shash_desc *desc, const u8 *in, unsigned int n_bytes)
{
	return chain_update(desc, in, n_bytes, cbcmac_blocks);
}

static int cbcmac_final(struct shash_desc *desc, u8 *out)
{
	return chain_final(desc, out, cbcmac_blocks);
}

static int ghash_update(struct shash_desc *desc, const u8 *in, unsigned int n_bytes)
{
	return chain_update(desc, in, n_bytes, evc_ghash_blocks);
}

static int ghash_final(struct shash_desc *desc, u8 *out)
{
	return chain_final(desc, out, evc_ghash_blocks);
}

/* ---- Registration ---------------------------------------------------------------------------- */

static struct shash_alg algorithms[] = {
	{
		.base.cra_name = "cmac(aes)",
		.base.cra_driver_name = "cmac-aes-everycore",
		.base.cra_blocksize = AES_BLOCK_SIZE,
		.digestsize = 16,
		.descsize = sizeof(struct evc_aes_cmac),
		.setkey = cmac_setkey,
		.init = cmac_init,
		.update = cmac_update,
		.final = cmac_final,
	},
	{
		.base.cra_name = "cbcmac(aes)",
		.base.cra_driver_name = "cbcmac-aes-everycore",
		.base.cra_blocksize = 1,
		.digestsize = 16,
		.descsize = sizeof(struct chain),
		.setkey = cbcmac_setkey,
		.init = chain_init,
		.update = cbcmac_update,
		.final = cbcmac_final,
	},
	{
		.base.cra_name = "ghash",
		.base.cra_driver_name = "ghash-everycore",
		.base.cra_blocksize = 16,
		.digestsize = 16,
		.descsize = sizeof(struct chain),
		.setkey = ghash_setkey,
		.init = chain_init,
		.update = ghash_update,
		.final = ghash_final,
	},
};

static const struct evc_mode *const modes[] = {&cmac_mode, &cbcmac_mode, &ghash_mode};

int evc_register_hashes(int priority)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(modes) != ARRAY_SIZE(algorithms));
	for (i = 0; i < ARRAY_SIZE(algorithms); i++)
		evc_fill_base(&algorithms[i].base, modes[i], priority);
	return crypto_register_shashes(algorithms, ARRAY_SIZE(algorithms));
}

void evc_unregister_hashes(void)
{
	crypto_unregister_shashes(algorithms, ARRAY_SIZE(algorithms));
}
