/* SPDX-License-Identifier: MIT */
/* Keys of RSA out of files, in one call. */
#include "rsa/key_file.h"

#include "common/key_memory.h"

static const struct evc_pem_label private_labels[] = {
    {"RSA PRIVATE KEY", EVC_OK, EVC_RSA_PKCS1},
    {"PRIVATE KEY", EVC_OK, EVC_RSA_NAMED},
    {"ENCRYPTED PRIVATE KEY", EVC_ERR_ENCRYPTED, EVC_RSA_NAMED}};
static const struct evc_pem_label public_labels[] = {{"RSA PUBLIC KEY", EVC_OK, EVC_RSA_PKCS1},
                                                     {"PUBLIC KEY", EVC_OK, EVC_RSA_NAMED}};

/* A private or a public key. */
struct kind {
    const struct evc_pem_label *labels;
    size_t n_labels;
    const char *others; /* the end of labels of keys of other algorithms */
    enum evc_status (*parse)(const uint8_t *der, size_t der_bytes, enum evc_rsa_syntax syntax,
                             struct evc_rsa_numbers *numbers);
    enum evc_status (*set)(void *memory, size_t memory_bytes, const struct evc_bn *kernel,
                           const struct evc_rsa_numbers *numbers, size_t least_bits, void *scratch,
                           size_t scratch_bytes);
};

static enum evc_status set_public(void *memory, size_t memory_bytes, const struct evc_bn *kernel,
                                  const struct evc_rsa_numbers *numbers, size_t least_bits,
                                  void *scratch, size_t scratch_bytes)
{
    (void)scratch;
    (void)scratch_bytes;
    return evc_rsa_set_public_in(memory, memory_bytes, kernel, numbers->n, numbers->n_bytes,
                                 numbers->e, numbers->e_bytes, least_bits);
}

static const struct kind private_kind = {private_labels,
                                         sizeof private_labels / sizeof private_labels[0],
                                         " PRIVATE KEY", evc_rsa_parse_private,
                                         evc_rsa_set_private_in},
                         public_kind = {public_labels,
                                        sizeof public_labels / sizeof public_labels[0],
                                        " PUBLIC KEY", evc_rsa_parse_public, set_public};

/* DER is one sequence and nothing else; a text that begins with the same byte, the digit 0, is none
 * of that length. n_room: bytes of room that the numbers are in. */
static enum evc_status find_numbers(const struct kind *kind, const uint8_t *file, size_t file_bytes,
                                    uint8_t *room, size_t room_bytes, size_t *n_room,
                                    struct evc_rsa_numbers *numbers)
{
    enum evc_rsa_syntax syntax = EVC_RSA_ANY_SYNTAX;
    enum evc_status status = EVC_OK;

    *numbers = (struct evc_rsa_numbers){0};
    *n_room = 0;
    if (!file && file_bytes)
        return EVC_ERR_PARAMETER;
    if (!evc_rsa_is_der(file, file_bytes)) {
        status = evc_pem_decode(file, file_bytes, kind->labels, kind->n_labels, kind->others, room,
                                room_bytes, n_room, &syntax);
        file = room;
        file_bytes = *n_room;
    }
    if (status == EVC_OK)
        status = kind->parse(file, file_bytes, syntax, numbers);
    if (status != EVC_OK) {
        *numbers = (struct evc_rsa_numbers){0};
        evc_wipe(room, *n_room);
    }
    return status;
}

enum evc_status evc_rsa_read_private(const uint8_t *file, size_t file_bytes, uint8_t *room,
                                     size_t room_bytes, struct evc_rsa_numbers *numbers)
{
    size_t n_room;

    return find_numbers(&private_kind, file, file_bytes, room, room_bytes, &n_room, numbers);
}

enum evc_status evc_rsa_read_public(const uint8_t *file, size_t file_bytes, uint8_t *room,
                                    size_t room_bytes, struct evc_rsa_numbers *numbers)
{
    size_t n_room;

    return find_numbers(&public_kind, file, file_bytes, room, room_bytes, &n_room, numbers);
}

static enum evc_status load(const struct kind *kind, void *memory, size_t memory_bytes,
                            uint64_t features, unsigned policy, const uint8_t *file,
                            size_t file_bytes, size_t least_bits, void *scratch,
                            size_t scratch_bytes)
{
    struct evc_rsa_numbers numbers;
    size_t n_room = 0;
    enum evc_status status = EVC_ERR_OVERLAP;

    if (!file || !evc_overlap(memory, memory_bytes, file, file_bytes))
        status = find_numbers(kind, file, file_bytes, scratch, scratch_bytes, &n_room, &numbers);
    if (status == EVC_OK) {
        /* the time goes into powers modulo p and q, or modulo n */
        const size_t n_bytes = numbers.p ? numbers.p_bytes : numbers.n_bytes;
        const struct evc_bn *const kernel =
            evc_bn_select_for(features, policy, EVC_USE_ANY, 8 * n_bytes);

        status = kind->set(memory, memory_bytes, kernel, &numbers, least_bits,
                           evc_out_at(scratch, n_room), scratch_bytes - n_room);
    } else {
        evc_wipe(memory, memory_bytes);
    }
    evc_wipe(scratch, n_room);
    return status;
}

enum evc_status evc_rsa_load_private(void *memory, size_t memory_bytes, uint64_t features,
                                     unsigned policy, const uint8_t *file, size_t file_bytes,
                                     size_t least_bits, void *scratch, size_t scratch_bytes)
{
    return load(&private_kind, memory, memory_bytes, features, policy, file, file_bytes, least_bits,
                scratch, scratch_bytes);
}

enum evc_status evc_rsa_load_public(void *memory, size_t memory_bytes, uint64_t features,
                                    unsigned policy, const uint8_t *file, size_t file_bytes,
                                    size_t least_bits, void *scratch, size_t scratch_bytes)
{
    return load(&public_kind, memory, memory_bytes, features, policy, file, file_bytes, least_bits,
                scratch, scratch_bytes);
}
