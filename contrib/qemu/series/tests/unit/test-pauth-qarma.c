/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
/* QARMA of Arm's pointer authentication, against published answers. */
#include "qemu/osdep.h"
#include "../../target/arm/tcg/pauth-qarma.h"

/* Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, appendix. */
#define W0 0x84be85ce9804e94bull
#define K0 0xec2802d4e0a488e9ull
#define TWEAK 0x477d469dec0b8762ull
#define BLOCK 0xfb623599da6e8127ull

static uint64_t code(bool is_qarma3, uint64_t data)
{
    return arm_pauth_qarma(arm_pauth_qarma_tables(is_qarma3), is_qarma3,
                           data, TWEAK, W0, K0);
}

static void test_qarma5_has_the_published_answer(void)
{
    g_assert_cmphex(code(false, BLOCK), ==, 0xc003b93999b33765ull);
}

static void test_qarma3_has_its_answer(void)
{
    g_assert_cmphex(code(true, BLOCK), ==, 0xc8b7fdc1d507b9efull);
}

/* Every entry of every table goes into a chain of blocks. */
static void test_chains_have_their_answers(void)
{
    uint64_t five = BLOCK, three = BLOCK;

    for (int i = 0; i < 4096; i++) {
        five = code(false, five);
        three = code(true, three);
    }
    g_assert_cmphex(five, ==, 0xed67702c74218e3bull);
    g_assert_cmphex(three, ==, 0x268fe9a7a21eb268ull);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pauth/qarma5", test_qarma5_has_the_published_answer);
    g_test_add_func("/pauth/qarma3", test_qarma3_has_its_answer);
    g_test_add_func("/pauth/chains", test_chains_have_their_answers);
    return g_test_run();
}
