/* SPDX-License-Identifier: MIT */
/* The other people's code of the tests: a sum of bytes, eight instructions or so a byte,
 * built as a subject is. */
#include <stddef.h>
#include <stdint.h>

#include "size.h"

void theirs_add(uint8_t *out, const uint8_t *in, size_t n_bytes);

void theirs_add(uint8_t *out, const uint8_t *in, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        out[i % SIZE] ^= in[i];
}
