/* SPDX-License-Identifier: MIT */
/* Repeats an operation of libolm as often as it is told, and prints a part of the result. */
#include <olm/olm.h>
#include <olm/outbound_group_session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int many, char **words)
{
    static unsigned char text[65536], out[131072], random[4096] = {1, 2, 3};
    OlmOutboundGroupSession *session = olm_outbound_group_session(malloc(olm_outbound_group_session_size()));
    size_t len_bytes = olm_init_outbound_group_session_random_length(session);

    if (olm_init_outbound_group_session(session, random, len_bytes) == olm_error())
        return 1;
    for (long n = many > 2 ? atol(words[2]) : 0; n > 0; n--) {
        len_bytes = olm_group_encrypt_message_length(session, sizeof(text));
        if (len_bytes > sizeof(out) || olm_group_encrypt(session, text, sizeof(text), out, len_bytes) == olm_error())
            return 1;
        memcpy(text, out, sizeof(text));
    }
    for (int n = 0; n < 16; n++)
        printf("%02x", text[n]);
    return 0;
}
