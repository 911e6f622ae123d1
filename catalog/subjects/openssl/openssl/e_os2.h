/* SPDX-License-Identifier: MIT */
#include <stdint.h>
