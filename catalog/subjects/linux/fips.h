/* SPDX-License-Identifier: MIT */
/* The system is not in the mode in which modules test themselves. */
#define fips_enabled 0
