/* SPDX-License-Identifier: MIT */
/* Modules' exports have no meaning here: linux/module.h. */
