// SPDX-License-Identifier: MIT OR GPL-2.0
/* AES in the crypto API of Linux, by everycore's kernels: what the CPU has, keys,
 * and the module itself. */
#include <linux/module.h>
#include <crypto/algapi.h>

#include "glue.h"

#if defined(CONFIG_ARM64)
#include <asm/hwcap.h>
#include <linux/cpufeature.h>
#elif defined(CONFIG_ARM)
#include <asm/hwcap.h>
#include <asm/neon.h>
#else
#include <asm/cpufeature.h>
#endif

static int priority = 275;
module_param(priority, int, 0444);
MODULE_PARM_DESC(
	priority,
	"of the algorithms (275: above the kernel's NEON code, below its AES instructions)");

bool evc_without_vectors;
module_param_named(without_vectors, evc_without_vectors, bool, 0644);
MODULE_PARM_DESC(without_vectors,
		 "never use vector registers, as in contexts where they may not be used");

static bool without_aes;
module_param(without_aes, bool, 0444);
MODULE_PARM_DESC(without_aes, "as if the CPU had no instructions for AES and GCM");

#if defined(CONFIG_X86)
static bool without_avx;
module_param(without_avx, bool, 0444);
MODULE_PARM_DESC(without_avx, "as if the CPU had no AVX: code for SSE alone");

extern const struct evc_gcm evc_gcm_x86_aesni_avx; /* gcm_avx.c */
#endif

struct evc_choice evc_with_vectors, evc_integer_only;

/* ---- What the CPU has ------------------------------------------------------------------------ */

#if defined(CONFIG_ARM64)
#define VECTORS EVC_VECTOR_A64

static u64 cpu_features(void)
{
	u64 found = EVC_CPU(TUNE_WORD64) | EVC_CPU(CT_MUL);

	if (cpu_have_named_feature(ASIMD))
		found |= EVC_CPU(A64_NEON);
	if (!without_aes && cpu_have_named_feature(AES))
		found |= EVC_CPU(A64_AES);
	if (!without_aes && cpu_have_named_feature(PMULL))
		found |= EVC_CPU(A64_PMULL);
	return found;
}
#elif defined(CONFIG_ARM)
#define VECTORS EVC_VECTOR_A32

static u64 cpu_features(void)
{
	u64 found = EVC_CPU(CT_MUL);

	if (cpu_has_neon())
		found |= EVC_CPU(A32_NEON);
	if (!without_aes && (elf_hwcap2 & HWCAP2_AES))
		found |= EVC_CPU(A32_AES);
	if (!without_aes && (elf_hwcap2 & HWCAP2_PMULL))
		found |= EVC_CPU(A32_PMULL);
	return found;
}
#else
#define VECTORS EVC_VECTOR_X86

static u64 cpu_features(void)
{
	u64 found =
		EVC_CPU(X86_MODE64) | EVC_CPU(X86_SSE2) | EVC_CPU(TUNE_WORD64) | EVC_CPU(CT_MUL);

	if (boot_cpu_has(X86_FEATURE_SSSE3))
		found |= EVC_CPU(X86_SSSE3);
	if (boot_cpu_has(X86_FEATURE_XMM4_1))
		found |= EVC_CPU(X86_SSE41);
	if (!without_aes && boot_cpu_has(X86_FEATURE_AES))
		found |= EVC_CPU(X86_AES);
	if (!without_aes && boot_cpu_has(X86_FEATURE_PCLMULQDQ))
		found |= EVC_CPU(X86_PCLMUL);
	if (without_avx || !boot_cpu_has(X86_FEATURE_AVX) ||
	    !cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL))
		return found;
	found |= EVC_CPU(X86_AVX);
	if (!boot_cpu_has(X86_FEATURE_AVX2))
		return found;
	found |= EVC_CPU(X86_AVX2);
	if (!without_aes && boot_cpu_has(X86_FEATURE_VAES))
		found |= EVC_CPU(X86_VAES);
	if (!without_aes && boot_cpu_has(X86_FEATURE_VPCLMULQDQ))
		found |= EVC_CPU(X86_VPCLMUL);
	return found;
}
#endif

#if defined(CONFIG_X86)
static bool is_for_avx(const struct evc_gcm *gcm)
{
	return gcm == &evc_gcm_x86_aesni_avx;
}

static const struct evc_gcm *choose_gcm(u64 features)
{
	const struct evc_gcm *gcm = evc_gcm_select(features, 0);

	return (features & EVC_CPU(X86_AVX)) && gcm == evc_gcm_named("x86_aesni")
		       ? &evc_gcm_x86_aesni_avx
		       : gcm;
}
#else
static bool is_for_avx(const struct evc_gcm *gcm)
{
	return false;
}

static const struct evc_gcm *choose_gcm(u64 features)
{
	return evc_gcm_select(features, 0);
}
#endif

static struct evc_choice choose(u64 features)
{
	return (struct evc_choice){
		.parallel = evc_aes_select(features, 0, EVC_USE_PARALLEL),
		.serial = evc_aes_select(features, 0, EVC_USE_SERIAL),
		.ghash = evc_ghash_select(features, 0),
		.gcm = choose_gcm(features),
	};
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* 15 bytes for evc_keys_of(). */
size_t evc_context_bytes(const struct evc_mode *mode)
{
	return 15 + sizeof(struct evc_keys) + evc_room(mode->key_bytes(&evc_with_vectors)) +
	       evc_room(mode->key_bytes(&evc_integer_only));
}

/* No vector register is touched where they are not usable now: then the key is for integers
 * until it is set anew. */
int evc_set_keys(struct evc_keys *keys, const struct evc_mode *mode, const u8 *key,
		 unsigned int key_bytes)
{
	const size_t vector_bytes = evc_room(mode->key_bytes(&evc_with_vectors));
	const size_t integer_bytes = evc_room(mode->key_bytes(&evc_integer_only));
	enum evc_status status;
	SECTION_STATE

	BUILD_BUG_ON(offsetof(struct evc_keys, memory) != 16);
	keys->integer_at = vector_bytes;
	keys->has_vectors = 0;
	keys->key_bits = 0;
	evc_wipe(keys->memory, vector_bytes);
	status = mode->set_key(keys->memory + vector_bytes, integer_bytes, &evc_integer_only, key,
			       8 * key_bytes);
	if (status != EVC_OK)
		return -EINVAL;
	keys->key_bits = 8 * key_bytes;
	if (!evc_vectors_usable())
		return 0;
	SECTION(true, status = mode->set_key(keys->memory, vector_bytes, &evc_with_vectors, key,
					     8 * key_bytes));
	keys->has_vectors = status == EVC_OK;
	return 0;
}

/* ---- The module ------------------------------------------------------------------------------ */

static int __init evc_init(void)
{
	const u64 features = cpu_features();
	int err;

	evc_with_vectors = choose(features);
	evc_integer_only = choose(features & ~VECTORS);
	pr_info("everycore: %s, %s, %s; without vectors %s, %s, %s; gcm %s%s\n",
		evc_aes_kernel(evc_with_vectors.parallel)->name,
		evc_aes_kernel(evc_with_vectors.serial)->name,
		evc_ghash_kernel(evc_with_vectors.ghash)->name,
		evc_aes_kernel(evc_integer_only.parallel)->name,
		evc_aes_kernel(evc_integer_only.serial)->name,
		evc_ghash_kernel(evc_integer_only.ghash)->name,
		evc_with_vectors.gcm ? evc_gcm_kernel(evc_with_vectors.gcm)->name
				     : "of two kernels",
		is_for_avx(evc_with_vectors.gcm) ? " for AVX" : "");

	err = evc_register_skciphers(priority);
	if (err)
		return err;
	err = evc_register_aeads(priority);
	if (err)
		goto no_aeads;
	err = evc_register_hashes(priority);
	if (err)
		goto no_hashes;
	return 0;

no_hashes:
	evc_unregister_aeads();
no_aeads:
	evc_unregister_skciphers();
	return err;
}

static void __exit evc_exit(void)
{
	evc_unregister_hashes();
	evc_unregister_aeads();
	evc_unregister_skciphers();
}

module_init(evc_init);
module_exit(evc_exit);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("AES modes by everycore's constant-time kernels");
MODULE_VERSION(EVC_VERSION);
MODULE_ALIAS_CRYPTO("ecb(aes)");
MODULE_ALIAS_CRYPTO("cbc(aes)");
MODULE_ALIAS_CRYPTO("ctr(aes)");
MODULE_ALIAS_CRYPTO("xts(aes)");
MODULE_ALIAS_CRYPTO("gcm(aes)");
MODULE_ALIAS_CRYPTO("rfc4106(gcm(aes))");
MODULE_ALIAS_CRYPTO("ccm(aes)");
MODULE_ALIAS_CRYPTO("cmac(aes)");
MODULE_ALIAS_CRYPTO("cbcmac(aes)");
MODULE_ALIAS_CRYPTO("ghash");
MODULE_ALIAS_CRYPTO("ecb-aes-everycore");
MODULE_ALIAS_CRYPTO("cbc-aes-everycore");
MODULE_ALIAS_CRYPTO("ctr-aes-everycore");
MODULE_ALIAS_CRYPTO("xts-aes-everycore");
MODULE_ALIAS_CRYPTO("gcm-aes-everycore");
MODULE_ALIAS_CRYPTO("rfc4106-gcm-aes-everycore");
MODULE_ALIAS_CRYPTO("ccm-aes-everycore");
MODULE_ALIAS_CRYPTO("cmac-aes-everycore");
MODULE_ALIAS_CRYPTO("cbcmac-aes-everycore");
MODULE_ALIAS_CRYPTO("ghash-everycore");
#if defined(EVC_NAMESPACE_IS_TEXT)
MODULE_IMPORT_NS("CRYPTO_INTERNAL");
#else
MODULE_IMPORT_NS(CRYPTO_INTERNAL);
#endif
