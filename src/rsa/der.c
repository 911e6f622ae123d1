/* SPDX-License-Identifier: MIT */
/*
 * Keys of RSA in DER: from bytes to numbers, without copying.
 *
 * Tags, lengths and signs are public; of private numbers nothing else is looked at.
 *
 * Sources: ITU-T X.690 (2021), sections 8.1, 8.3 and 10.1; RFC 8017 (2016), appendices A.1 and C;
 *          RFC 5208 (2003), sections 5 and 6; RFC 5958 (2010), sections 2 and 3; RFC 5280 (2008),
 *          section 4.1; RFC 4055 (2005), section 1.2.
 */
#include "rsa/key_file.h"

#include "common/ct.h"

enum {
    INTEGER = 0x02,
    BIT_STRING = 0x03,
    OCTET_STRING = 0x04,
    NO_VALUE = 0x05,
    OBJECT_IDENTIFIER = 0x06,
    SEQUENCE = 0x30,
    ATTRIBUTES = 0xa0, /* [0] IMPLICIT SET */
    PUBLIC_KEY = 0x81, /* [1] IMPLICIT BIT STRING */
};

#define MOST_LENGTH_BYTES 3u /* of files below 16 MiB */

/* Elements that are yet to be read. */
struct der {
    const uint8_t *at;
    size_t left;
};

/* ---- Elements -------------------------------------------------------------------------------- */

static uint8_t public_byte(const uint8_t *at)
{
    uint8_t byte = *at;

    evc_public(&byte, sizeof byte); /* a tag or a length */
    return byte;
}

static int begins_with(const struct der *d, unsigned tag)
{
    return d->left && public_byte(d->at) == tag;
}

/* The length at the beginning of d, in its shortest form. */
static int take_length(struct der *d, size_t *length)
{
    size_t n;

    if (!d->left)
        return 0;
    *length = public_byte(d->at++);
    d->left--;
    if (*length < 0x80)
        return 1;
    n = *length - 0x80; /* 0: the end is not known yet */
    if (n == 0 || n > MOST_LENGTH_BYTES || n > d->left || public_byte(d->at) == 0)
        return 0;
    *length = 0;
    for (; n; n--, d->left--)
        *length = *length << 8 | public_byte(d->at++);
    return *length >= 0x80;
}

/* The contents of the element at the beginning of d, which is then behind it. */
static int take(struct der *d, unsigned tag, struct der *contents)
{
    size_t length;

    if (!begins_with(d, tag))
        return 0;
    d->at++;
    d->left--;
    if (!take_length(d, &length) || length > d->left)
        return 0;
    *contents = (struct der){d->at, length};
    d->at += length;
    d->left -= length;
    return 1;
}

/* The same of an element that has nothing behind it. */
static int take_last(struct der *d, unsigned tag, struct der *contents)
{
    return take(d, tag, contents) && !d->left;
}

/* A number that is not below 0, without the byte of its sign. */
static int take_number(struct der *d, const uint8_t **number, uint32_t *n_bytes)
{
    struct der bytes;
    uint32_t is_signed, is_wrong;

    if (!take(d, INTEGER, &bytes) || !bytes.left)
        return 0;
    is_signed = bytes.left > 1 ? ~evc_mask_nonzero32(bytes.at[0]) : 0;
    is_wrong = evc_mask_nonzero32(bytes.at[0] & 0x80); /* below 0 */
    if (bytes.left > 1)
        is_wrong |= is_signed & ~evc_mask_nonzero32(bytes.at[1] & 0x80); /* a byte too many */
    evc_public(&is_signed, sizeof is_signed);                            /* the length tells it */
    evc_public(&is_wrong, sizeof is_wrong);                              /* the status tells it */
    *number = bytes.at + (is_signed & 1);
    *n_bytes = (uint32_t)bytes.left - (is_signed & 1);
    return !is_wrong;
}

/* A version number: `most` at most. */
static enum evc_status take_version(struct der *d, unsigned most, unsigned *version)
{
    const uint8_t *number;
    uint32_t n_bytes;

    if (!take_number(d, &number, &n_bytes))
        return EVC_ERR_ENCODING;
    *version = public_byte(number);
    if (n_bytes > 1)
        return EVC_ERR_ENCODING;
    return *version <= most ? EVC_OK : EVC_ERR_ALGORITHM;
}

/* ---- PKCS #1 --------------------------------------------------------------------------------- */

static enum evc_status parse_private(struct der d, struct evc_rsa_numbers *k)
{
    struct der key;
    unsigned version;
    uint32_t q_bytes;
    enum evc_status status;

    if (!take_last(&d, SEQUENCE, &key))
        return EVC_ERR_ENCODING;
    status = take_version(&key, 0, &version);
    if (status != EVC_OK)
        return status;
    if (!take_number(&key, &k->n, &k->n_bytes) || !take_number(&key, &k->e, &k->e_bytes) ||
        !take_number(&key, &k->d, &k->d_bytes) || !take_number(&key, &k->p, &k->p_bytes) ||
        !take_number(&key, &k->q, &q_bytes) || !take_number(&key, &k->dp, &k->dp_bytes) ||
        !take_number(&key, &k->dq, &k->dq_bytes) ||
        !take_number(&key, &k->qinv, &k->qinv_bytes) || key.left)
        return EVC_ERR_ENCODING;
    return q_bytes == k->p_bytes ? EVC_OK : EVC_ERR_KEY;
}

static enum evc_status parse_public(struct der d, struct evc_rsa_numbers *k)
{
    struct der key;

    return take_last(&d, SEQUENCE, &key) && take_number(&key, &k->n, &k->n_bytes) &&
                   take_number(&key, &k->e, &k->e_bytes) && !key.left
               ? EVC_OK
               : EVC_ERR_ENCODING;
}

/* ---- With the name of the algorithm ---------------------------------------------------------- */

static int is_same(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
    return a_bytes == b_bytes && evc_mask_equal(a, b, a_bytes);
}

static enum evc_status take_algorithm(struct der *d)
{
    /* rsaEncryption: 1.2.840.113549.1.1.1 */
    static const uint8_t rsa[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01};
    struct der algorithm, name, parameters;

    if (!take(d, SEQUENCE, &algorithm) || !take(&algorithm, OBJECT_IDENTIFIER, &name))
        return EVC_ERR_ENCODING;
    if (!is_same(name.at, name.left, rsa, sizeof rsa))
        return EVC_ERR_ALGORITHM;
    return take_last(&algorithm, NO_VALUE, &parameters) && !parameters.left ? EVC_OK
                                                                            : EVC_ERR_ENCODING;
}

/* The public key in a string of whole bytes. */
static enum evc_status parse_public_bits(struct der bits, struct evc_rsa_numbers *k)
{
    if (!bits.left || public_byte(bits.at) != 0)
        return EVC_ERR_ENCODING;
    return parse_public((struct der){bits.at + 1, bits.left - 1}, k);
}

static enum evc_status parse_named_public(struct der d, struct evc_rsa_numbers *k)
{
    struct der info, bits;
    enum evc_status status;

    if (!take_last(&d, SEQUENCE, &info))
        return EVC_ERR_ENCODING;
    status = take_algorithm(&info);
    if (status != EVC_OK)
        return status;
    return take_last(&info, BIT_STRING, &bits) ? parse_public_bits(bits, k) : EVC_ERR_ENCODING;
}

/* Attributes, and with version 1 the public key. */
static enum evc_status parse_rest(struct der rest, unsigned version,
                                  const struct evc_rsa_numbers *k)
{
    struct evc_rsa_numbers other;
    struct der contents;
    enum evc_status status;

    if (begins_with(&rest, ATTRIBUTES) && !take(&rest, ATTRIBUTES, &contents))
        return EVC_ERR_ENCODING;
    if (!version)
        return rest.left ? EVC_ERR_ENCODING : EVC_OK;
    if (!take_last(&rest, PUBLIC_KEY, &contents))
        return EVC_ERR_ENCODING;
    status = parse_public_bits(contents, &other);
    if (status != EVC_OK)
        return status;
    return is_same(other.n, other.n_bytes, k->n, k->n_bytes) &&
                   is_same(other.e, other.e_bytes, k->e, k->e_bytes)
               ? EVC_OK
               : EVC_ERR_KEY;
}

static enum evc_status parse_named_private(struct der d, struct evc_rsa_numbers *k)
{
    struct der info, key;
    unsigned version;
    enum evc_status status;

    if (!take_last(&d, SEQUENCE, &info))
        return EVC_ERR_ENCODING;
    status = take_version(&info, 1, &version);
    if (status == EVC_OK)
        status = take_algorithm(&info);
    if (status != EVC_OK)
        return status;
    if (!take(&info, OCTET_STRING, &key))
        return EVC_ERR_ENCODING;
    status = parse_private(key, k);
    return status == EVC_OK ? parse_rest(info, version, k) : status;
}

/* ---- Either ---------------------------------------------------------------------------------- */

/* EncryptedPrivateKeyInfo (RFC 5958, section 3): an algorithm and a string. */
static int is_encrypted(struct der d)
{
    struct der info, contents;

    return take_last(&d, SEQUENCE, &info) && take(&info, SEQUENCE, &contents) &&
           take_last(&info, OCTET_STRING, &contents);
}

/* Whether the second element is a sequence, as only the name of an algorithm is. */
static int has_name(struct der d)
{
    struct der info, version;

    return take_last(&d, SEQUENCE, &info) && take(&info, INTEGER, &version) &&
           begins_with(&info, SEQUENCE);
}

int evc_rsa_is_der(const uint8_t *file, size_t file_bytes)
{
    struct der d = {file, file_bytes}, contents;

    /* No text begins so, whatever the length says: the bytes of a damaged private key are not
     * searched for a label. */
    if (file_bytes > 1 && file[0] == SEQUENCE && file[1] >= 0x80)
        return 1;
    return take_last(&d, SEQUENCE, &contents);
}

enum evc_status evc_rsa_parse_private(const uint8_t *der, size_t der_bytes,
                                      enum evc_rsa_syntax syntax, struct evc_rsa_numbers *numbers)
{
    const struct der d = {der, der_bytes};

    if (syntax == EVC_RSA_ANY_SYNTAX && is_encrypted(d))
        return EVC_ERR_ENCRYPTED;
    if (syntax == EVC_RSA_ANY_SYNTAX)
        syntax = has_name(d) ? EVC_RSA_NAMED : EVC_RSA_PKCS1;
    return syntax == EVC_RSA_NAMED ? parse_named_private(d, numbers) : parse_private(d, numbers);
}

enum evc_status evc_rsa_parse_public(const uint8_t *der, size_t der_bytes,
                                     enum evc_rsa_syntax syntax, struct evc_rsa_numbers *numbers)
{
    struct der d = {der, der_bytes}, contents;

    if (syntax == EVC_RSA_ANY_SYNTAX)
        syntax = take(&d, SEQUENCE, &contents) && begins_with(&contents, SEQUENCE) ? EVC_RSA_NAMED
                                                                                   : EVC_RSA_PKCS1;
    d = (struct der){der, der_bytes};
    return syntax == EVC_RSA_NAMED ? parse_named_public(d, numbers) : parse_public(d, numbers);
}
