/* SPDX-License-Identifier: MIT */
#define ctzl __builtin_ctzl
