/* SPDX-License-Identifier: MIT */
#include <linux/crypto.h>
