/* SPDX-License-Identifier: MIT */
#include "g10lib.h"
