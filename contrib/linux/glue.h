/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Shared by the parts of the module: sections in which vector registers may be used, kernels with
 * and without them, and keys of both.
 */
#ifndef EVC_LINUX_GLUE_H
#define EVC_LINUX_GLUE_H

#include <linux/highmem.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/string.h>
#include <crypto/internal/simd.h>
#include <asm/simd.h>

#include <everycore/gcm.h>
#include <everycore/ghash.h>
#include <everycore/modes.h>

/* ---- Vector registers ------------------------------------------------------------------------ */

/*
 * SECTION(vectors, call): the call between the two functions with which a kernel lends its vector
 * registers, if `vectors`. Linux gives the caller no time slice meanwhile on some architectures: at
 * most EVC_SECTION_BYTES of text. Functions that use it begin with SECTION_STATE, where newer
 * kernels for arm64 keep a user's registers.
 */
#define EVC_SECTION_BYTES 4096u
#define EVC_MESSAGE_BYTES (EVC_SECTION_BYTES + 1024u) /* of a page with a header: in one section */

#if defined(CONFIG_X86)
#include <asm/fpu/api.h>
#define SECTION_STATE
#define SECTION_BEGIN() kernel_fpu_begin()
#define SECTION_END() kernel_fpu_end()
#elif defined(EVC_NEON_WANTS_STATE)
#include <asm/neon.h>
#define SECTION_STATE struct user_fpsimd_state section_state;
#define SECTION_BEGIN() kernel_neon_begin(&section_state)
#define SECTION_END() kernel_neon_end(&section_state)
#else
#include <asm/neon.h>
#define SECTION_STATE
#define SECTION_BEGIN() kernel_neon_begin()
#define SECTION_END() kernel_neon_end()
#endif

#define SECTION(vectors, call) \
	do {                          \
		if (vectors)                 \
			SECTION_BEGIN();            \
		call;                        \
		if (vectors)                 \
			SECTION_END();              \
	} while (0)

extern bool evc_without_vectors; /* parameter of the module */

static inline bool evc_vectors_usable(void)
{
	return !READ_ONCE(evc_without_vectors) && crypto_simd_usable();
}

/* ---- Kernels and keys ------------------------------------------------------------------------ */

/* Kernels for one situation: vectors may be used, or not. */
struct evc_choice {
	const struct evc_aes *parallel, *serial;
	const struct evc_ghash *ghash;
	const struct evc_gcm *gcm; /* NULL: a pair of `parallel` and `ghash` */
};

extern struct evc_choice evc_with_vectors, evc_integer_only;

/* Keys of a mode, for a choice of kernels. set_key has memory of key_bytes(), aligned to 16. */
struct evc_mode {
	size_t (*key_bytes)(const struct evc_choice *choice);
	enum evc_status (*set_key)(void *memory, size_t memory_bytes,
				   const struct evc_choice *choice, const u8 *key,
				   unsigned int key_bits);
};

/* In the context of a transform: the same key for vectors and for integers, one behind the other.
 * Kernels of different choices have keys of different forms. */
struct evc_keys {
	u32 integer_at;  /* where the key for integers begins in `memory`; 0: no key */
	u32 has_vectors; /* 0: vectors were not usable when the key was set */
	u32 key_bits;    /* of the user's key */
	u8 salt[4];      /* of RFC 4106 */
	u8 memory[];     /* aligned to 16 */
};

/* The crypto API aligns contexts to 8 bytes on x86 and 32-bit Arm. */
static inline struct evc_keys *evc_keys_of(void *context)
{
	return (struct evc_keys *)PTR_ALIGN((u8 *)context, 16);
}

size_t evc_context_bytes(const struct evc_mode *mode);
int evc_set_keys(struct evc_keys *keys, const struct evc_mode *mode, const u8 *key,
		 unsigned int key_bytes);

static inline bool evc_may_use_vectors(const struct evc_keys *keys)
{
	return keys->has_vectors && evc_vectors_usable();
}

static inline const void *evc_key(const struct evc_keys *keys, bool vectors)
{
	return keys->memory + (vectors ? 0 : keys->integer_at);
}

/* The bytes of a key of a kernel, in whole blocks: where the next key may begin. */
static inline size_t evc_room(size_t key_bytes)
{
	return round_up(key_bytes, 16);
}

/* The fields that all algorithms fill in alike. */
static inline void evc_fill_base(struct crypto_alg *base, const struct evc_mode *mode, int priority)
{
	base->cra_priority = priority;
	base->cra_ctxsize = evc_context_bytes(mode);
	base->cra_module = THIS_MODULE;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* Whether the first n_bytes bytes are at one place that sg_virt() tells: most requests are. */
static inline bool evc_in_one_piece(struct scatterlist *sg, size_t n_bytes)
{
	return !IS_ENABLED(CONFIG_HIGHMEM) && sg->length >= n_bytes;
}

/* ---- Parts of the module --------------------------------------------------------------------- */

int evc_register_skciphers(int priority);
void evc_unregister_skciphers(void);
int evc_register_aeads(int priority);
void evc_unregister_aeads(void);
int evc_register_hashes(int priority);
void evc_unregister_hashes(void);

#endif
