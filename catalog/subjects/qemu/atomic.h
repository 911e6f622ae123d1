/* SPDX-License-Identifier: MIT */
/* Used by functions on bits that nobody calls. */
#define qatomic_or(to, bits) ((void)(*(to) |= (bits)))
#define qatomic_and(to, bits) ((void)(*(to) &= (bits)))
