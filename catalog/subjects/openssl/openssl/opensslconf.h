/* SPDX-License-Identifier: MIT */
/* Nothing is left out. */
