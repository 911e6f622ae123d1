/* SPDX-License-Identifier: MIT */
#define L1_CACHE_SHIFT 6
