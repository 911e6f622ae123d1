// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * x86_aesni of GCM once more, in the encoding of AVX, whose instructions have a destination of
 * their own: no operand is copied first. On CPUs with AVX this takes the place of the other,
 * which is for CPUs without.
 */
#define evc_gcm_x86_aesni evc_gcm_x86_aesni_avx
#include "gcm/x86_aesni.c"
