// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * For tests: the time of one request to a driver, as lines of the log. With a clock of QEMU that
 * advances by 1 ns for each instruction, this is the number of instructions. A driver that may
 * answer later does so at once where vectors may be used; if not, that is an error here. The module
 * does not stay loaded: init returns -EAGAIN.
 */
#include <linux/module.h>
#include <linux/ktime.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <crypto/aead.h>
#include <crypto/skcipher.h>

#define BUFFER_ORDER 2 /* four pages */
#define AAD_BYTES 16
#define TAG_BYTES 16

static char *driver = "xts-aes-everycore";
module_param(driver, charp, 0444);
static bool aead;
module_param(aead, bool, 0444);
static int key_bytes = 32;
module_param(key_bytes, int, 0444);
static int requests = 32;
module_param(requests, int, 0444);
static int sizes[8] = {512, 4096};
static int n_sizes = 2;
module_param_array(sizes, int, &n_sizes, 0444);

struct bench {
	struct crypto_skcipher *skcipher;
	struct crypto_aead *aead;
	struct skcipher_request *skcipher_request;
	struct aead_request *aead_request;
	struct scatterlist place;
	u8 *buffer;
	u8 iv[16];
};

static int request(struct bench *b, int size, bool encrypt)
{
	if (!b->aead) {
		skcipher_request_set_crypt(b->skcipher_request, &b->place, &b->place, size, b->iv);
		return encrypt ? crypto_skcipher_encrypt(b->skcipher_request)
			       : crypto_skcipher_decrypt(b->skcipher_request);
	}
	aead_request_set_crypt(b->aead_request, &b->place, &b->place,
			       size + (encrypt ? 0 : TAG_BYTES), b->iv);
	return encrypt ? crypto_aead_encrypt(b->aead_request)
		       : crypto_aead_decrypt(b->aead_request);
}

/* The time of all requests, without that of the clock; size 0: of none. */
static int one_run(struct bench *b, int size, bool encrypt, u64 *spent)
{
	int i, err = 0;

	*spent = 0;
	for (i = 0; i < requests; i++) {
		u64 start;

		if (size && b->aead && !encrypt) /* only a right tag is opened */
			err |= request(b, size, true);
		start = ktime_get_ns();
		if (size)
			err |= request(b, size, encrypt);
		*spent += ktime_get_ns() - start;
	}
	return err;
}

/* The least of three runs: some kernels have other work to do in between.
 * The first one warms up. */
static int count(struct bench *b, int size, bool encrypt, u64 *least)
{
	u64 spent, of_clock = U64_MAX;
	int run, err = 0;

	*least = U64_MAX;
	for (run = 0; run < 4; run++) {
		err |= one_run(b, 0, encrypt, &spent);
		of_clock = min(of_clock, spent);
		err |= one_run(b, size, encrypt, &spent);
		if (run)
			*least = min(*least, spent);
	}
	*least -= of_clock;
	return err;
}

static int measure(struct bench *b)
{
	struct crypto_tfm *tfm =
		b->aead ? crypto_aead_tfm(b->aead) : crypto_skcipher_tfm(b->skcipher);
	int i, err;

	for (i = 0; i < n_sizes; i++) {
		u64 sealing, opening;

		sg_init_one(&b->place, b->buffer, AAD_BYTES + sizes[i] + TAG_BYTES);
		err = count(b, sizes[i], true, &sealing) ?: count(b, sizes[i], false, &opening);
		if (err)
			return err;
		pr_info("everycore_bench: %s %s %d %d %llu %llu\n", crypto_tfm_alg_name(tfm),
			crypto_tfm_alg_driver_name(tfm), 8 * key_bytes, sizes[i],
			div_u64(sealing, requests), div_u64(opening, requests));
	}
	return 0;
}

static int set_up(struct bench *b, const u8 *key)
{
	int err;

	if (aead) {
		b->aead = crypto_alloc_aead(driver, 0, 0);
		if (IS_ERR(b->aead)) {
			err = PTR_ERR(b->aead);
			b->aead = NULL;
			return err;
		}
		b->aead_request = aead_request_alloc(b->aead, GFP_KERNEL);
		if (!b->aead_request)
			return -ENOMEM;
		aead_request_set_callback(b->aead_request, 0, NULL, NULL);
		aead_request_set_ad(b->aead_request, AAD_BYTES);
		return crypto_aead_setkey(b->aead, key, key_bytes)
			       ?: crypto_aead_setauthsize(b->aead, TAG_BYTES);
	}
	b->skcipher = crypto_alloc_skcipher(driver, 0, 0);
	if (IS_ERR(b->skcipher)) {
		err = PTR_ERR(b->skcipher);
		b->skcipher = NULL;
		return err;
	}
	b->skcipher_request = skcipher_request_alloc(b->skcipher, GFP_KERNEL);
	if (!b->skcipher_request)
		return -ENOMEM;
	skcipher_request_set_callback(b->skcipher_request, 0, NULL, NULL);
	return crypto_skcipher_setkey(b->skcipher, key, key_bytes);
}

static int __init bench_init(void)
{
	struct bench *b = kzalloc(sizeof(*b), GFP_KERNEL);
	u8 key[64];
	int i, err = -ENOMEM;

	if (!b)
		return -ENOMEM;
	for (i = 0; i < 64; i++)
		key[i] = 7 * i + 1;
	b->iv[0] = 1; /* of CCM: lengths of two bytes */
	b->buffer = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, BUFFER_ORDER);
	if (b->buffer && key_bytes <= 64)
		err = set_up(b, key) ?: measure(b);
	if (err)
		pr_info("everycore_bench: %s: error %d\n", driver, err);
	if (b->skcipher) {
		skcipher_request_free(b->skcipher_request);
		crypto_free_skcipher(b->skcipher);
	}
	if (b->aead) {
		aead_request_free(b->aead_request);
		crypto_free_aead(b->aead);
	}
	free_pages((unsigned long)b->buffer, BUFFER_ORDER);
	kfree(b);
	return -EAGAIN;
}
module_init(bench_init);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("For tests of everycore: instructions of a request");
