/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
/* AES-128 as an algorithm of Arm's pointer authentication. */
#include "qemu/osdep.h"
#include "../../target/arm/tcg/pauth-aes.h"

/* FIPS 197 (2023), appendix C.1: the first half of the result. */
static void test_code_is_half_a_block_of_fips_197(void)
{
    g_assert_cmphex(arm_pauth_aes128(0x0011223344556677ull,
                                     0x8899aabbccddeeffull,
                                     0x0001020304050607ull,
                                     0x08090a0b0c0d0e0full),
                    ==, 0x69c4e0d86a7b0430ull);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pauth/aes128", test_code_is_half_a_block_of_fips_197);
    return g_test_run();
}
