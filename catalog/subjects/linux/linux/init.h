/* SPDX-License-Identifier: MIT */
#include "types.h"
