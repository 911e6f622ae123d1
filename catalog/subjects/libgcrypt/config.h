/* SPDX-License-Identifier: MIT */
/* Results of libgcrypt's configure, as far as the files of the subject ask for them. */
#define HAVE_COMPATIBLE_GCC_AARCH64_PLATFORM_AS 1
#define HAVE_GCC_ASM_ELF_DIRECTIVES 1
#define HAVE_GCC_INLINE_ASM_AARCH64_CRYPTO 1
#define HAVE_GCC_INLINE_ASM_AARCH64_NEON 1
