/* SPDX-License-Identifier: MIT */
/* AES in modes that make a MAC: not configured (IS_ENABLED is 0). */
