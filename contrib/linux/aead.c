// SPDX-License-Identifier: MIT OR GPL-2.0
/* GCM, GCM of RFC 4106, and CCM. */
#include <linux/module.h>
#include <crypto/aes.h>
#include <crypto/gcm.h>
#include <crypto/internal/aead.h>
#include <crypto/internal/skcipher.h>
#include <crypto/scatterwalk.h>

#include "glue.h"

#define TAG_BYTES 16
#define AAD_BYTES 128 /* of associated data that is copied at once */

static struct evc_keys *keys_of(struct crypto_aead *tfm)
{
	return evc_keys_of(crypto_aead_ctx(tfm));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static size_t gcm_bytes(const struct evc_choice *choice)
{
	return choice->gcm ? evc_gcm_kernel(choice->gcm)->key_bytes
			   : evc_gcm_pair_key_bytes(choice->parallel, choice->ghash);
}

/* The kernel's API takes short tags of every key. */
static enum evc_status gcm_set(void *memory, size_t memory_bytes, const struct evc_choice *choice,
			       const u8 *key, unsigned int key_bits)
{
	enum evc_status status =
		choice->gcm
			? evc_gcm_set_key_in(memory, memory_bytes, choice->gcm, key, key_bits)
			: evc_gcm_set_pair_in(memory, memory_bytes, choice->parallel, choice->ghash,
					      key, key_bits);

	return status == EVC_OK ? evc_gcm_allow_short_tags(memory) : status;
}

static const struct evc_mode gcm_mode = {gcm_bytes, gcm_set};

static size_t ccm_bytes(const struct evc_choice *choice)
{
	return evc_aes_ccm_key_bytes(choice->parallel, choice->serial);
}

static enum evc_status ccm_set(void *memory, size_t memory_bytes, const struct evc_choice *choice,
			       const u8 *key, unsigned int key_bits)
{
	enum evc_status status = evc_aes_ccm_set_key_in(memory, memory_bytes, choice->parallel,
							choice->serial, key, key_bits);

	return status == EVC_OK ? evc_aes_ccm_allow_short_tags(memory) : status;
}

static const struct evc_mode ccm_mode = {ccm_bytes, ccm_set};

static int gcm_setkey(struct crypto_aead *tfm, const u8 *key, unsigned int key_bytes)
{
	return evc_set_keys(keys_of(tfm), &gcm_mode, key, key_bytes);
}

static int rfc4106_setkey(struct crypto_aead *tfm, const u8 *key, unsigned int key_bytes)
{
	struct evc_keys *keys = keys_of(tfm);

	if (key_bytes < 4)
		return -EINVAL;
	memcpy(keys->salt, key + key_bytes - 4, 4);
	return evc_set_keys(keys, &gcm_mode, key, key_bytes - 4);
}

static int ccm_setkey(struct crypto_aead *tfm, const u8 *key, unsigned int key_bytes)
{
	return evc_set_keys(keys_of(tfm), &ccm_mode, key, key_bytes);
}

static int gcm_setauthsize(struct crypto_aead *tfm, unsigned int tag_bytes)
{
	return crypto_gcm_check_authsize(tag_bytes);
}

static int rfc4106_setauthsize(struct crypto_aead *tfm, unsigned int tag_bytes)
{
	return crypto_rfc4106_check_authsize(tag_bytes);
}

static int ccm_setauthsize(struct crypto_aead *tfm, unsigned int tag_bytes)
{
	return tag_bytes < 4 || tag_bytes > 16 || tag_bytes % 2 ? -EINVAL : 0;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* A request: what is not in its buffers. */
struct message {
	const u8 *nonce;
	unsigned int nonce_bytes, aad_bytes, text_bytes, tag_bytes;
	bool seal;
};

union state {
	struct evc_gcm_state gcm;
	struct evc_aes_ccm ccm;
};

struct calls {
	enum evc_status (*one)(const void *key, const struct message *m, const u8 *aad,
			       const u8 *in, u8 *out, u8 *tag);
	enum evc_status (*start)(const void *key, union state *state, const struct message *m);
	enum evc_status (*aad)(const void *key, union state *state, const u8 *aad, size_t n_bytes);
	enum evc_status (*update)(const void *key, union state *state, const struct message *m,
				  const u8 *in, u8 *out, size_t n_bytes);
	enum evc_status (*finish)(const void *key, union state *state, const struct message *m,
				  u8 *tag);
};

static enum evc_status gcm_one(const void *key, const struct message *m, const u8 *aad,
			       const u8 *in, u8 *out, u8 *tag)
{
	return m->seal ? evc_gcm_seal(key, m->nonce, m->nonce_bytes, aad, m->aad_bytes, in, out,
				      m->text_bytes, tag, m->tag_bytes)
		       : evc_gcm_open(key, m->nonce, m->nonce_bytes, aad, m->aad_bytes, in, out,
				      m->text_bytes, tag, m->tag_bytes);
}

static enum evc_status gcm_start(const void *key, union state *state, const struct message *m)
{
	return evc_gcm_start(key, &state->gcm, m->nonce, m->nonce_bytes);
}

static enum evc_status gcm_aad(const void *key, union state *state, const u8 *aad, size_t n_bytes)
{
	return evc_gcm_aad(key, &state->gcm, aad, n_bytes);
}

static enum evc_status gcm_update(const void *key, union state *state, const struct message *m,
				  const u8 *in, u8 *out, size_t n_bytes)
{
	return m->seal ? evc_gcm_seal_update(key, &state->gcm, in, out, n_bytes)
		       : evc_gcm_open_update(key, &state->gcm, in, out, n_bytes);
}

static enum evc_status gcm_finish(const void *key, union state *state, const struct message *m,
				  u8 *tag)
{
	return m->seal ? evc_gcm_seal_finish(key, &state->gcm, tag, m->tag_bytes)
		       : evc_gcm_open_finish(key, &state->gcm, tag, m->tag_bytes);
}

static const struct calls gcm_calls = {gcm_one, gcm_start, gcm_aad, gcm_update, gcm_finish};

static enum evc_status ccm_one(const void *key, const struct message *m, const u8 *aad,
			       const u8 *in, u8 *out, u8 *tag)
{
	return m->seal ? evc_aes_ccm_seal(key, m->nonce, m->nonce_bytes, aad, m->aad_bytes, in, out,
					  m->text_bytes, tag, m->tag_bytes)
		       : evc_aes_ccm_open(key, m->nonce, m->nonce_bytes, aad, m->aad_bytes, in, out,
					  m->text_bytes, tag, m->tag_bytes);
}

static enum evc_status ccm_start(const void *key, union state *state, const struct message *m)
{
	return evc_aes_ccm_start(key, &state->ccm, m->nonce, m->nonce_bytes, m->aad_bytes,
				 m->text_bytes, m->tag_bytes);
}

static enum evc_status ccm_aad(const void *key, union state *state, const u8 *aad, size_t n_bytes)
{
	return evc_aes_ccm_aad(key, &state->ccm, aad, n_bytes);
}

static enum evc_status ccm_update(const void *key, union state *state, const struct message *m,
				  const u8 *in, u8 *out, size_t n_bytes)
{
	return m->seal ? evc_aes_ccm_seal_update(key, &state->ccm, in, out, n_bytes)
		       : evc_aes_ccm_open_update(key, &state->ccm, in, out, n_bytes);
}

static enum evc_status ccm_finish(const void *key, union state *state, const struct message *m,
				  u8 *tag)
{
	return m->seal ? evc_aes_ccm_seal_finish(key, &state->ccm, tag)
		       : evc_aes_ccm_open_finish(key, &state->ccm, tag);
}

static const struct calls ccm_calls = {ccm_one, ccm_start, ccm_aad, ccm_update, ccm_finish};

static int error_of(enum evc_status status)
{
	return status == EVC_OK ? 0 : status == EVC_ERR_TAG ? -EBADMSG : -EINVAL;
}

/* All of the request's associated data, in pieces. */
static enum evc_status add_aad(struct aead_request *request, const void *key, bool vectors,
			       const struct calls *calls, union state *state,
			       const struct message *m)
{
	enum evc_status status = EVC_OK;
	unsigned int done, n;
	u8 copy[AAD_BYTES];
	SECTION_STATE

	for (done = 0; done < m->aad_bytes && status == EVC_OK; done += n) {
		n = min_t(unsigned int, AAD_BYTES, m->aad_bytes - done);
		scatterwalk_map_and_copy(copy, request->src, done, n, 0);
		SECTION(vectors, status = calls->aad(key, state, copy, n));
	}
	return status;
}

static noinline int crypt_pieces(struct aead_request *request, const void *key, bool vectors,
				 const struct calls *calls, const struct message *m)
{
	struct skcipher_walk walk;
	enum evc_status status;
	union state state;
	u8 tag[TAG_BYTES];
	SECTION_STATE
	int err;

	if (!m->seal)
		scatterwalk_map_and_copy(tag, request->src, request->assoclen + m->text_bytes,
					 m->tag_bytes, 0);
	SECTION(vectors, status = calls->start(key, &state, m));
	if (status == EVC_OK)
		status = add_aad(request, key, vectors, calls, &state, m);
	err = error_of(status);
	if (!err)
		err = m->seal ? skcipher_walk_aead_encrypt(&walk, request, false)
			      : skcipher_walk_aead_decrypt(&walk, request, false);
	while (!err && walk.nbytes) {
		SECTION(vectors, status = calls->update(key, &state, m, walk.src.virt.addr,
							walk.dst.virt.addr, walk.nbytes));
		err = skcipher_walk_done(&walk, status == EVC_OK ? 0 : -EINVAL);
	}
	if (!err) {
		SECTION(vectors, status = calls->finish(key, &state, m, tag));
		err = error_of(status);
	}
	if (!err && m->seal)
		scatterwalk_map_and_copy(tag, request->dst, request->assoclen + m->text_bytes,
					 m->tag_bytes, 1);
	memzero_explicit(&state, sizeof(state));
	return err;
}

static __always_inline int crypt(struct aead_request *request, const struct calls *calls,
				 const u8 *nonce, unsigned int nonce_bytes, unsigned int aad_bytes,
				 bool seal)
{
	struct crypto_aead *tfm = crypto_aead_reqtfm(request);
	const struct evc_keys *keys = keys_of(tfm);
	const bool vectors = evc_may_use_vectors(keys);
	const void *key = evc_key(keys, vectors);
	struct message m = {
		nonce, nonce_bytes, aad_bytes, request->cryptlen, crypto_aead_authsize(tfm), seal};
	enum evc_status status;
	unsigned int all_bytes;
	SECTION_STATE

	if (!seal) {
		if (m.text_bytes < m.tag_bytes)
			return -EINVAL;
		m.text_bytes -= m.tag_bytes;
	}
	all_bytes = request->assoclen + m.text_bytes;
	if (all_bytes <= EVC_MESSAGE_BYTES &&
	    evc_in_one_piece(request->src, all_bytes + (seal ? 0 : m.tag_bytes)) &&
	    evc_in_one_piece(request->dst, all_bytes + (seal ? m.tag_bytes : 0))) {
		u8 *in = sg_virt(request->src), *out = sg_virt(request->dst);

		SECTION(vectors, status = calls->one(key, &m, in, in + request->assoclen,
						     out + request->assoclen,
						     (seal ? out : in) + all_bytes));
		return error_of(status);
	}
	return crypt_pieces(request, key, vectors, calls, &m);
}

static int gcm_encrypt(struct aead_request *request)
{
	return crypt(request, &gcm_calls, request->iv, 12, request->assoclen, true);
}

static int gcm_decrypt(struct aead_request *request)
{
	return crypt(request, &gcm_calls, request->iv, 12, request->assoclen, false);
}

/* RFC 4106: salt and IV are the nonce; the IV, behind what is authenticated, counts as
 * associated data for the API. */
static __always_inline int rfc4106_crypt(struct aead_request *request, bool seal)
{
	u8 nonce[12];

	memcpy(nonce, keys_of(crypto_aead_reqtfm(request))->salt, 4);
	memcpy(nonce + 4, request->iv, 8);
	return crypto_ipsec_check_assoclen(request->assoclen)
		       ?: crypt(request, &gcm_calls, nonce, sizeof(nonce), request->assoclen - 8,
				seal);
}

static int rfc4106_encrypt(struct aead_request *request)
{
	return rfc4106_crypt(request, true);
}

static int rfc4106_decrypt(struct aead_request *request)
{
	return rfc4106_crypt(request, false);
}

/* CCM: the first byte of the IV is the size of the length, less 1; the nonce follows.
 * RFC 3610 section 2.3. */
static __always_inline int ccm_crypt(struct aead_request *request, bool seal)
{
	if (request->iv[0] < 1 || request->iv[0] > 7)
		return -EINVAL;
	return crypt(request, &ccm_calls, request->iv + 1, 14 - request->iv[0], request->assoclen,
		     seal);
}

static int ccm_encrypt(struct aead_request *request)
{
	return ccm_crypt(request, true);
}

static int ccm_decrypt(struct aead_request *request)
{
	return ccm_crypt(request, false);
}

/* ---- Registration ---------------------------------------------------------------------------- */

static struct aead_alg algorithms[] = {
	{
		.base.cra_name = "gcm(aes)",
		.base.cra_driver_name = "gcm-aes-everycore",
		.base.cra_blocksize = 1,
		.ivsize = GCM_AES_IV_SIZE,
		.maxauthsize = TAG_BYTES,
		.chunksize = AES_BLOCK_SIZE,
		.setkey = gcm_setkey,
		.setauthsize = gcm_setauthsize,
		.encrypt = gcm_encrypt,
		.decrypt = gcm_decrypt,
	},
	{
		.base.cra_name = "rfc4106(gcm(aes))",
		.base.cra_driver_name = "rfc4106-gcm-aes-everycore",
		.base.cra_blocksize = 1,
		.ivsize = GCM_RFC4106_IV_SIZE,
		.maxauthsize = TAG_BYTES,
		.chunksize = AES_BLOCK_SIZE,
		.setkey = rfc4106_setkey,
		.setauthsize = rfc4106_setauthsize,
		.encrypt = rfc4106_encrypt,
		.decrypt = rfc4106_decrypt,
	},
	{
		.base.cra_name = "ccm(aes)",
		.base.cra_driver_name = "ccm-aes-everycore",
		.base.cra_blocksize = 1,
		.ivsize = AES_BLOCK_SIZE,
		.maxauthsize = TAG_BYTES,
		.chunksize = AES_BLOCK_SIZE,
		.setkey = ccm_setkey,
		.setauthsize = ccm_setauthsize,
		.encrypt = ccm_encrypt,
		.decrypt = ccm_decrypt,
	},
};

static const struct evc_mode *const modes[] = {&gcm_mode, &gcm_mode, &ccm_mode};

int evc_register_aeads(int priority)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(modes) != ARRAY_SIZE(algorithms));
	for (i = 0; i < ARRAY_SIZE(algorithms); i++)
		evc_fill_base(&algorithms[i].base, modes[i], priority);
	return crypto_register_aeads(algorithms, ARRAY_SIZE(algorithms));
}

void evc_unregister_aeads(void)
{
	crypto_unregister_aeads(algorithms, ARRAY_SIZE(algorithms));
}
