/* SPDX-License-Identifier: MIT */
#include "cpu.h"

/* A static function of the file that includes this, under a name by which others can call it. */
uint64_t subject_mac(CPUARMState *env, uint64_t data, uint64_t modifier, ARMPACKey key)
    __attribute__((alias("pauth_computepac")));
