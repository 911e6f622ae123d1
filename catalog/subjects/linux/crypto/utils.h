/* SPDX-License-Identifier: MIT */
/* Only the MACs need what is here. */
