/* SPDX-License-Identifier: MIT */
/* Repeats one cipher or hash of FFmpeg's libavutil as often as it is told, and prints a byte of the result. */

#include <libavutil/cast5.h>
#include <libavutil/mem.h>
#include <libavutil/ripemd.h>
#include <libavutil/tea.h>
#include <libavutil/twofish.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t text[65536], key[32] = {7};

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct AVCAST5 *cast5 = av_cast5_alloc();
    struct AVRIPEMD *ripemd = av_ripemd_alloc();
    struct AVTWOFISH *twofish = av_twofish_alloc();

    av_cast5_init(cast5, key, 128);
    av_twofish_init(twofish, key, 256);
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "cast5") == 0) {
            av_cast5_crypt(cast5, text, text, sizeof text / 8, 0);
        } else if (strcmp(argv[1], "twofish") == 0) {
            av_twofish_crypt(twofish, text, text, sizeof text / 16, NULL, 0);
        } else {
            av_ripemd_init(ripemd, 160);
            av_ripemd_update(ripemd, text, sizeof text);
            av_ripemd_final(ripemd, text);
        }
    printf("%02x\n", text[5]);
    return 0;
}
