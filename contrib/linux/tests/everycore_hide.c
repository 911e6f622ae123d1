// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * For tests: makes a kernel for arm64 believe that its CPU has neither AES nor PMULL, as that of
 * a Raspberry Pi 4. The CPUs of QEMU have both. Modules ask cpu_have_feature(), which is
 * exported; the bitmap that it reads is not, so its address is taken from the two or three
 * instructions that form it.
 */
#include <linux/module.h>

#ifdef CONFIG_ARM64
#include <linux/cpufeature.h>
#include <asm/hwcap.h>

#define MOST_INSTRUCTIONS 32

/* Encodings: Arm Architecture Reference Manual, C6.2, ADRP and ADD (immediate). */
static bool is_adrp(u32 code)
{
	return (code & 0x9f000000) == 0x90000000;
}

static bool is_add_to(u32 code, u32 reg)
{
	return (code & 0xffc00000) == 0x91000000 && (code & 31) == reg && (code >> 5 & 31) == reg;
}

static unsigned long adrp_target(const u32 *at)
{
	const u32 pages = (*at >> 29 & 3) | (*at >> 5 & 0x7ffff) << 2; /* 21 bits, signed */

	return ((unsigned long)at & ~0xfffUL) + ((long)sign_extend32(pages, 20) << 12);
}

static unsigned long *hwcap_bitmap(void)
{
	bool (*volatile ask)(unsigned int) = cpu_have_feature;
	const u32 *code = (const u32 *)ask;
	unsigned int i, j;

	for (i = 0; i < MOST_INSTRUCTIONS; i++) {
		unsigned long address;

		if (!is_adrp(code[i]))
			continue;
		address = adrp_target(code + i);
		for (j = i + 1; j < i + 12; j++)
			if (is_add_to(code[j], code[i] & 31))
				address += code[j] >> 10 & 0xfff;
		return (unsigned long *)address;
	}
	return NULL;
}

static int __init hide_init(void)
{
	const unsigned long both = BIT(KERNEL_HWCAP_AES) | BIT(KERNEL_HWCAP_PMULL);
	const unsigned long every = BIT(KERNEL_HWCAP_FP) | BIT(KERNEL_HWCAP_ASIMD);
	unsigned long *bitmap = hwcap_bitmap();

	if (!bitmap || (*bitmap & (both | every)) != (both | every)) {
		pr_err("everycore_hide: no bitmap of hardware capabilities in "
		       "cpu_have_feature()\n");
		return -ENOENT;
	}
	*bitmap &= ~both;
	pr_info("everycore_hide: aes %d pmull %d\n", cpu_have_named_feature(AES),
		cpu_have_named_feature(PMULL));
	return 0;
}

static void __exit hide_exit(void)
{
}

module_init(hide_init);
module_exit(hide_exit);
#endif
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("For tests of everycore: hides AES instructions");
