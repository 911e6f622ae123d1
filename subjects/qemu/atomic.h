/* SPDX-License-Identifier: MIT */
/* Of functions on bits that nobody calls. */
#define qatomic_or(to, bits) ((void)(*(to) |= (bits)))
#define qatomic_and(to, bits) ((void)(*(to) &= (bits)))
