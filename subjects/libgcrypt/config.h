/* SPDX-License-Identifier: MIT */
/* What libgcrypt's configure finds out, as far as the files of the subject ask for it. */
#define HAVE_COMPATIBLE_GCC_AARCH64_PLATFORM_AS 1
#define HAVE_GCC_ASM_ELF_DIRECTIVES 1
#define HAVE_GCC_INLINE_ASM_AARCH64_CRYPTO 1
#define HAVE_GCC_INLINE_ASM_AARCH64_NEON 1
