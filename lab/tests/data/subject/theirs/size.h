/* SPDX-License-Identifier: MIT */
#define SIZE 16
