/* SPDX-License-Identifier: MIT */
/* What modules export has no meaning here: linux/module.h. */
