/* SPDX-License-Identifier: MIT */
/*
 * The end of a record of TLS in CBC: MAC, then padding (RFC 5246, 2008, section 6.2.3.2; RFC 6101,
 * 2011, section 5.2.3.2 for SSL 3.0). When the record is opened, the length of the padding is
 * secret until the MAC is verified (AlFardan, Paterson: Lucky Thirteen, 2013). So everything that
 * depends on it is done by masks, over all places where it may end.
 */
#include <openssl/prov_ssl.h>

#include "provider.h"

#include "common/ct.h"

enum { BLOCK_BYTES = 16, MAX_PADDING_BYTES = 256 }; /* with the byte that tells its length */

size_t tls_put_padding(uint8_t *record, size_t len_bytes, unsigned version)
{
    const size_t n = BLOCK_BYTES - len_bytes % BLOCK_BYTES;

    memset(record + len_bytes, version == SSL3_VERSION ? 0 : (int)(n - 1), n);
    record[len_bytes + n - 1] = (uint8_t)(n - 1);
    return n;
}

/* All ones if a < b; both below 2^31: a record has at most 2^16 bytes or
 * so, which callers check. */
static uint32_t mask_less(uint32_t a, uint32_t b)
{
    return 0u - (evc_barrier32(a - b) >> 31);
}

static uint32_t mask_same(uint32_t a, uint32_t b)
{
    return ~evc_mask_nonzero32(a ^ b);
}

/* All ones if the record of len_bytes bytes ends with padding whose last byte is `last`. */
static uint32_t padding_is_right(const uint8_t *record, uint32_t len_bytes, uint32_t mac_bytes,
                                 uint32_t last, unsigned version)
{
    const uint32_t n = len_bytes < MAX_PADDING_BYTES ? len_bytes : MAX_PADDING_BYTES;
    uint32_t differs = 0;

    if (version == SSL3_VERSION) /* of SSL 3.0 only the length is fixed: as short as possible */
        return mask_less(last, BLOCK_BYTES) & ~mask_less(len_bytes, last + 1 + mac_bytes);
    for (uint32_t i = 0; i < n; i++)
        differs |= ~mask_less(last, i) & (record[len_bytes - 1 - i] ^ last);
    return ~evc_mask_nonzero32(differs) & ~mask_less(len_bytes, last + 1 + mac_bytes);
}

/* bytes, n of them, turned left by a secret number below n: by 1, 2, 4, ... or not. */
static void turn_left(uint8_t *bytes, uint32_t n, uint32_t by)
{
    uint8_t turned[TLS_MAX_MAC_BYTES];

    for (uint32_t step = 1; step < n; step *= 2) {
        const uint32_t taken = evc_mask_nonzero32(by & step);
        for (uint32_t i = 0; i < n; i++)
            turned[i] = (uint8_t)evc_choose32(taken, bytes[i + step < n ? i + step : i + step - n],
                                              bytes[i]);
        memcpy(bytes, turned, n);
    }
    evc_wipe(turned, sizeof turned);
}

/*
 * The n bytes at record + start, to mac; start is secret, but not before `first`, and the MAC
 * ends in the record. Byte i of the record goes to place (i - first) % n: so the MAC is there,
 * turned by (start - first) % n.
 */
static void copy_mac(const uint8_t *record, uint32_t first, uint32_t len_bytes, uint32_t start,
                     uint8_t *mac, uint32_t n)
{
    uint32_t turn = 0;

    memset(mac, 0, n);
    for (uint32_t i = first, place = 0; i < len_bytes; i++) {
        const uint32_t is_mac = ~mask_less(i, start) & mask_less(i, start + n);
        turn |= mask_same(i, start) & place;
        mac[place] |= (uint8_t)(is_mac & record[i]);
        place = place + 1 == n ? 0 : place + 1;
    }
    turn_left(mac, n, turn);
}

int tls_take_padding(const uint8_t *record, size_t *len_bytes, unsigned version, uint8_t *mac,
                     size_t mac_bytes)
{
    const uint32_t len = (uint32_t)*len_bytes, n = (uint32_t)mac_bytes;
    uint8_t random[TLS_MAX_MAC_BYTES];
    uint32_t last, right, end;

    if (mac_bytes > TLS_MAX_MAC_BYTES || *len_bytes >> 24 || len < n + 1)
        return 0;
    last = record[len - 1];
    right = padding_is_right(record, len, n, last, version);
    end = len - (right & (last + 1)); /* of text and MAC */
    *len_bytes = end - n;
    if (n == 0)
        return right != 0; /* encrypt-then-MAC: the MAC has been verified, so nothing is secret */
    if (!random_bytes(random, n))
        return 0;
    copy_mac(record, len > n + MAX_PADDING_BYTES ? len - n - MAX_PADDING_BYTES : 0, len, end - n,
             mac, n);
    for (uint32_t i = 0; i < n; i++)
        mac[i] = (uint8_t)evc_choose32(right, mac[i], random[i]);
    evc_wipe(random, sizeof random);
    return 1;
}
