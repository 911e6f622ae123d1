// SPDX-License-Identifier: MIT OR GPL-2.0
/* ECB, CBC, CTR and XTS. */
#include <linux/module.h>
#include <crypto/aes.h>
#include <crypto/internal/skcipher.h>
#include <crypto/scatterwalk.h>
#include <crypto/xts.h>

#include "glue.h"

static struct evc_keys *keys_of(struct crypto_skcipher *tfm)
{
	return evc_keys_of(crypto_skcipher_ctx(tfm));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static size_t parallel_bytes(const struct evc_choice *choice)
{
	return evc_aes_kernel(choice->parallel)->key_bytes;
}

static enum evc_status parallel_set(void *memory, size_t memory_bytes,
				    const struct evc_choice *choice, const u8 *key,
				    unsigned int key_bits)
{
	return evc_aes_set_key_in(memory, memory_bytes, choice->parallel, key, key_bits);
}

static const struct evc_mode parallel_mode = {parallel_bytes, parallel_set};

/* CBC: decryption is for a parallel kernel; encryption, one chain, for a serial
 * one, whose key is behind. */
static size_t cbc_bytes(const struct evc_choice *choice)
{
	return evc_room(parallel_bytes(choice)) + evc_aes_kernel(choice->serial)->key_bytes;
}

static enum evc_status cbc_set(void *memory, size_t memory_bytes, const struct evc_choice *choice,
			       const u8 *key, unsigned int key_bits)
{
	const size_t first = evc_room(parallel_bytes(choice));
	enum evc_status status = evc_aes_set_key_in(memory, first, choice->parallel, key, key_bits);

	if (status == EVC_OK)
		status = evc_aes_set_encrypt_key_in((u8 *)memory + first, memory_bytes - first,
						    choice->serial, key, key_bits);
	return status;
}

static const struct evc_mode cbc_mode = {cbc_bytes, cbc_set};

static const union evc_aes_key *cbc_serial_key(const void *key)
{
	const union evc_aes_key *parallel = key;

	return (const void *)((const u8 *)key +
			      evc_room(evc_aes_kernel(parallel->head.kernel)->key_bytes));
}

/*
 * XTS: data by a parallel kernel, tweaks by a serial one. Without vectors, which disks hardly ever
 * meet, the serial one does both: with c_bitslice64 a context would be 480 bytes larger. On arm64
 * the context holds the planes of round keys, and in place of keys for integers the user's key,
 * from which each request without vectors makes them anew.
 */
#if defined(CONFIG_ARM64)
extern const struct evc_aes evc_aes_a64_bitslice_planes; /* xts_planes.c */

static const struct evc_aes *with_planes(const struct evc_aes *kernel)
{
	return kernel == evc_aes_named("a64_bitslice") ? &evc_aes_a64_bitslice_planes : kernel;
}
#else
static const struct evc_aes *with_planes(const struct evc_aes *kernel)
{
	return kernel;
}
#endif

#define XTS_USER_BYTES (2 * AES_MAX_KEY_SIZE)
#define XTS_INTEGER_BYTES 1024

static bool xts_keeps_user_key(const struct evc_choice *choice)
{
	return IS_ENABLED(CONFIG_ARM64) && choice == &evc_integer_only;
}

static const struct evc_aes *xts_data_kernel(const struct evc_choice *choice)
{
	return choice == &evc_integer_only ? choice->serial : with_planes(choice->parallel);
}

static size_t xts_set_bytes(const struct evc_choice *choice)
{
	return evc_aes_xts_key_bytes(xts_data_kernel(choice), choice->serial);
}

static size_t xts_bytes(const struct evc_choice *choice)
{
	return xts_keeps_user_key(choice) ? XTS_USER_BYTES : xts_set_bytes(choice);
}

/* xts_verify_key() of the kernel decides about equal halves. */
static enum evc_status xts_set(void *memory, size_t memory_bytes, const struct evc_choice *choice,
			       const u8 *key, unsigned int key_bits)
{
	return evc_aes_xts_set_key_allowing_in(
		memory, memory_bytes, xts_data_kernel(choice), choice->serial, key, key_bits / 2,
		EVC_AES_XTS_ALLOW_EQUAL_KEYS | EVC_AES_XTS_ALLOW_192 | EVC_AES_XTS_ALLOW_LONG);
}

static enum evc_status xts_keep(void *memory, size_t memory_bytes, const struct evc_choice *choice,
				const u8 *key, unsigned int key_bits)
{
	if (!xts_keeps_user_key(choice))
		return xts_set(memory, memory_bytes, choice, key, key_bits);
	if (key_bits != 256 && key_bits != 384 && key_bits != 512)
		return EVC_ERR_KEY_SIZE;
	memcpy(memory, key, key_bits / 8);
	return EVC_OK;
}

static const struct evc_mode xts_mode = {xts_bytes, xts_keep};

static int parallel_setkey(struct crypto_skcipher *tfm, const u8 *key, unsigned int key_bytes)
{
	return evc_set_keys(keys_of(tfm), &parallel_mode, key, key_bytes);
}

static int cbc_setkey(struct crypto_skcipher *tfm, const u8 *key, unsigned int key_bytes)
{
	return evc_set_keys(keys_of(tfm), &cbc_mode, key, key_bytes);
}

static int xts_setkey(struct crypto_skcipher *tfm, const u8 *key, unsigned int key_bytes)
{
	return xts_verify_key(tfm, key, key_bytes)
		       ?: evc_set_keys(keys_of(tfm), &xts_mode, key, key_bytes);
}

/* ---- ECB, CBC, CTR --------------------------------------------------------------------------- */

typedef enum evc_status step(const void *key, u8 *iv, const u8 *in, u8 *out, size_t n_bytes);

static enum evc_status ecb_encrypt_step(const void *key, u8 *iv, const u8 *in, u8 *out,
					size_t n_bytes)
{
	return evc_aes_encrypt(key, in, out, n_bytes / 16);
}

static enum evc_status ecb_decrypt_step(const void *key, u8 *iv, const u8 *in, u8 *out,
					size_t n_bytes)
{
	return evc_aes_decrypt(key, in, out, n_bytes / 16);
}

static enum evc_status cbc_encrypt_step(const void *key, u8 *iv, const u8 *in, u8 *out,
					size_t n_bytes)
{
	return evc_aes_cbc_encrypt(cbc_serial_key(key), iv, in, out, n_bytes);
}

static enum evc_status cbc_decrypt_step(const void *key, u8 *iv, const u8 *in, u8 *out,
					size_t n_bytes)
{
	return evc_aes_cbc_decrypt(key, iv, in, out, n_bytes);
}

static enum evc_status ctr_step(const void *key, u8 *iv, const u8 *in, u8 *out, size_t n_bytes)
{
	return evc_aes_ctr(key, iv, in, out, n_bytes);
}

/* any_length: the last block may be a part of one. */
static __always_inline int crypt(struct skcipher_request *request, step *op, bool any_length)
{
	const struct evc_keys *keys = keys_of(crypto_skcipher_reqtfm(request));
	const bool vectors = evc_may_use_vectors(keys);
	const void *key = evc_key(keys, vectors);
	enum evc_status status = EVC_OK;
	struct skcipher_walk walk;
	SECTION_STATE
	int err;

	if (!any_length && request->cryptlen % 16)
		return -EINVAL;
	if (request->cryptlen && evc_in_one_piece(request->src, request->cryptlen) &&
	    evc_in_one_piece(request->dst, request->cryptlen)) {
		const u8 *in = sg_virt(request->src);
		u8 *out = sg_virt(request->dst);
		unsigned int left = request->cryptlen, n;

		for (; left && status == EVC_OK; in += n, out += n, left -= n) {
			n = min(left, EVC_SECTION_BYTES);
			SECTION(vectors, status = op(key, request->iv, in, out, n));
		}
		return status == EVC_OK ? 0 : -EINVAL;
	}
	err = skcipher_walk_virt(&walk, request, false);
	while (walk.nbytes) {
		const unsigned int n =
			any_length && walk.nbytes == walk.total ? walk.nbytes : walk.nbytes & ~15u;

		SECTION(vectors,
			status = op(key, walk.iv, walk.src.virt.addr, walk.dst.virt.addr, n));
		err = skcipher_walk_done(&walk,
					 status == EVC_OK ? (int)(walk.nbytes - n) : -EINVAL);
	}
	return err;
}

static int ecb_encrypt(struct skcipher_request *request)
{
	return crypt(request, ecb_encrypt_step, false);
}

static int ecb_decrypt(struct skcipher_request *request)
{
	return crypt(request, ecb_decrypt_step, false);
}

static int cbc_encrypt(struct skcipher_request *request)
{
	return crypt(request, cbc_encrypt_step, false);
}

static int cbc_decrypt(struct skcipher_request *request)
{
	return crypt(request, cbc_decrypt_step, false);
}

static int ctr_crypt(struct skcipher_request *request)
{
	return crypt(request, ctr_step, true);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* Calls of one direction. */
struct xts_calls {
	enum evc_status (*one)(const struct evc_aes_xts_key *, const u8 *, const u8 *, u8 *,
			       size_t);
	enum evc_status (*update)(const struct evc_aes_xts_key *, struct evc_aes_xts *, const u8 *,
				  u8 *, size_t);
	enum evc_status (*finish)(const struct evc_aes_xts_key *, struct evc_aes_xts *, const u8 *,
				  u8 *, size_t);
};

static const struct xts_calls encryption = {evc_aes_xts_encrypt, evc_aes_xts_encrypt_update,
					    evc_aes_xts_encrypt_finish};
static const struct xts_calls decryption = {evc_aes_xts_decrypt, evc_aes_xts_decrypt_update,
					    evc_aes_xts_decrypt_finish};

/* A unit at one place that is too long for one section. */
static noinline enum evc_status xts_long(const struct evc_aes_xts_key *key, bool vectors,
					 const struct xts_calls *calls, const u8 *tweak,
					 const u8 *in, u8 *out, unsigned int left)
{
	struct evc_aes_xts state;
	enum evc_status status;
	SECTION_STATE

	SECTION(vectors, status = evc_aes_xts_start(key, &state, tweak));
	for (; status == EVC_OK && left >= EVC_SECTION_BYTES + 16; left -= EVC_SECTION_BYTES) {
		SECTION(vectors, status = calls->update(key, &state, in, out, EVC_SECTION_BYTES));
		in += EVC_SECTION_BYTES;
		out += EVC_SECTION_BYTES;
	}
	if (status == EVC_OK)
		SECTION(vectors, status = calls->finish(key, &state, in, out, left));
	evc_wipe(&state, sizeof(state));
	return status;
}

/*
 * A unit in pieces. skcipher_walk gives whole blocks; ciphertext stealing needs the last block and
 * the rest of 1 to 15 bytes together, so these 17 to 31 bytes are copied.
 */
static noinline int xts_pieces(struct skcipher_request *request, const struct evc_aes_xts_key *key,
			       bool vectors, const struct xts_calls *calls)
{
	const unsigned int rest = request->cryptlen % 16, tail = rest ? 16 + rest : 0;
	const unsigned int head = request->cryptlen - tail;
	struct skcipher_request whole_blocks;
	struct skcipher_walk walk;
	struct evc_aes_xts state;
	enum evc_status status;
	u8 copy[32];
	int err = 0;
	SECTION_STATE

	SECTION(vectors, status = evc_aes_xts_start(key, &state, request->iv));
	if (status != EVC_OK)
		return -EINVAL;
	if (head) {
		skcipher_request_set_tfm(&whole_blocks, crypto_skcipher_reqtfm(request));
		skcipher_request_set_callback(&whole_blocks, request->base.flags, NULL, NULL);
		skcipher_request_set_crypt(&whole_blocks, request->src, request->dst, head,
					   request->iv);
		err = skcipher_walk_virt(&walk, &whole_blocks, false);
		while (walk.nbytes) {
			const unsigned int n = walk.nbytes & ~15u;

			SECTION(vectors, status = calls->update(key, &state, walk.src.virt.addr,
								walk.dst.virt.addr, n));
			err = skcipher_walk_done(&walk, status == EVC_OK ? (int)(walk.nbytes - n)
									 : -EINVAL);
		}
	}
	if (!err) {
		scatterwalk_map_and_copy(copy, request->src, head, tail, 0);
		SECTION(vectors, status = calls->finish(key, &state, copy, copy, tail));
		if (status == EVC_OK)
			scatterwalk_map_and_copy(copy, request->dst, head, tail, 1);
		else
			err = -EINVAL;
		memzero_explicit(copy, sizeof(copy));
	}
	evc_wipe(&state, sizeof(state));
	return err;
}

static __always_inline int xts_with_key(struct skcipher_request *request,
					const struct evc_aes_xts_key *key, bool vectors,
					const struct xts_calls *calls)
{
	const bool in_place = request->src == request->dst;
	const unsigned int n = request->cryptlen;
	enum evc_status status;
	const u8 *in;
	u8 *out;
	SECTION_STATE

	if (n < 16)
		return -EINVAL;
	if (!evc_in_one_piece(request->src, n) || (!in_place && !evc_in_one_piece(request->dst, n)))
		return xts_pieces(request, key, vectors, calls);
	out = sg_virt(request->dst);
	in = in_place ? out : sg_virt(request->src);
	if (n <= EVC_MESSAGE_BYTES)
		SECTION(vectors, status = calls->one(key, request->iv, in, out, n));
	else
		status = xts_long(key, vectors, calls, request->iv, in, out, n);
	return status == EVC_OK ? 0 : -EINVAL;
}

/* A request for which the keys are made first. */
static noinline int xts_integers(struct skcipher_request *request, const struct evc_keys *keys,
				 const struct xts_calls *calls)
{
	u8 key[XTS_INTEGER_BYTES] __aligned(16);
	int err = -EINVAL;

	if (xts_set(key, sizeof(key), &evc_integer_only, evc_key(keys, false), keys->key_bits) ==
	    EVC_OK)
		err = xts_with_key(request, (const void *)key, false, calls);
	evc_wipe(key, sizeof(key));
	return err;
}

static __always_inline int xts_crypt(struct skcipher_request *request,
				     const struct xts_calls *calls)
{
	const struct evc_keys *keys = keys_of(crypto_skcipher_reqtfm(request));
	const bool vectors = evc_may_use_vectors(keys);

	if (!vectors && xts_keeps_user_key(&evc_integer_only))
		return xts_integers(request, keys, calls);
	return xts_with_key(request, evc_key(keys, vectors), vectors, calls);
}

static int xts_encrypt(struct skcipher_request *request)
{
	return xts_crypt(request, &encryption);
}

static int xts_decrypt(struct skcipher_request *request)
{
	return xts_crypt(request, &decryption);
}

/* ---- Registration ---------------------------------------------------------------------------- */

static struct skcipher_alg algorithms[] = {
	{
		.base.cra_name = "ecb(aes)",
		.base.cra_driver_name = "ecb-aes-everycore",
		.base.cra_blocksize = AES_BLOCK_SIZE,
		.min_keysize = AES_MIN_KEY_SIZE,
		.max_keysize = AES_MAX_KEY_SIZE,
		.setkey = parallel_setkey,
		.encrypt = ecb_encrypt,
		.decrypt = ecb_decrypt,
	},
	{
		.base.cra_name = "cbc(aes)",
		.base.cra_driver_name = "cbc-aes-everycore",
		.base.cra_blocksize = AES_BLOCK_SIZE,
		.min_keysize = AES_MIN_KEY_SIZE,
		.max_keysize = AES_MAX_KEY_SIZE,
		.ivsize = AES_BLOCK_SIZE,
		.setkey = cbc_setkey,
		.encrypt = cbc_encrypt,
		.decrypt = cbc_decrypt,
	},
	{
		.base.cra_name = "ctr(aes)",
		.base.cra_driver_name = "ctr-aes-everycore",
		.base.cra_blocksize = 1,
		.min_keysize = AES_MIN_KEY_SIZE,
		.max_keysize = AES_MAX_KEY_SIZE,
		.ivsize = AES_BLOCK_SIZE,
		.chunksize = AES_BLOCK_SIZE,
		.setkey = parallel_setkey,
		.encrypt = ctr_crypt,
		.decrypt = ctr_crypt,
	},
	{
		.base.cra_name = "xts(aes)",
		.base.cra_driver_name = "xts-aes-everycore",
		.base.cra_blocksize = AES_BLOCK_SIZE,
		.min_keysize = 2 * AES_MIN_KEY_SIZE,
		.max_keysize = 2 * AES_MAX_KEY_SIZE,
		.ivsize = AES_BLOCK_SIZE,
		.walksize = 2 * AES_BLOCK_SIZE,
		.setkey = xts_setkey,
		.encrypt = xts_encrypt,
		.decrypt = xts_decrypt,
	},
};

static const struct evc_mode *const modes[] = {&parallel_mode, &cbc_mode, &parallel_mode,
					       &xts_mode};

int evc_register_skciphers(int priority)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(modes) != ARRAY_SIZE(algorithms));
	if (xts_keeps_user_key(&evc_integer_only) &&
	    xts_set_bytes(&evc_integer_only) > XTS_INTEGER_BYTES)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(algorithms); i++)
		evc_fill_base(&algorithms[i].base, modes[i], priority);
	pr_info("everycore: xts(aes) takes %zu bytes for a key\n", evc_context_bytes(&xts_mode));
	return crypto_register_skciphers(algorithms, ARRAY_SIZE(algorithms));
}

void evc_unregister_skciphers(void)
{
	crypto_unregister_skciphers(algorithms, ARRAY_SIZE(algorithms));
}
