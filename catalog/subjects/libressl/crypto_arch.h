/* SPDX-License-Identifier: MIT */
/* No assembly of an architecture is taken. */
