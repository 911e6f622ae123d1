/* SPDX-License-Identifier: MIT */
/* Nothing is deprecated here. */
