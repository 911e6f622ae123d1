/* SPDX-License-Identifier: MIT */
/*
 * PBKDF2 (RFC 8018 section 5.2) with HMAC on SHA-2: keys from passwords.
 *
 *     status = evc_hmac_set_best(&key, evc_cpu_features(), 0, EVC_SHA256, password,
 *                                password_bytes);
 *     status = evc_pbkdf2(&key, salt, salt_bytes, n_iterations, out, out_bytes);
 *
 * An iteration is two calls of the block function. Take one digest of output and no more: each
 * further digest costs you as much time as the first one, while those who guess passwords compute
 * the first one alone.
 *
 * Time, secrets and errors are those of everycore/hmac.h, and
 *
 * EVC_ERR_PARAMETER   also: n_iterations is 0
 * EVC_ERR_LENGTH      out_bytes is 0, or more than 2^32 - 1 digests; the salt is too long for the
 *                     hash
 */
#ifndef EVERYCORE_PBKDF2_H
#define EVERYCORE_PBKDF2_H

#include "everycore/hmac.h"

#ifdef __cplusplus
extern "C" {
#endif

/* password: a key of evc_hmac_set_key, made from the password. salt: at least 16 random bytes, new
 * for each password (SP 800-132 section 5.1). n_iterations: as many as your users can wait for, and
 * at least 1000 (section 5.2); time that a call takes depends on it, on the hash and on the
 * lengths. out may lie in the salt. */
EVC_CHECKED enum evc_status evc_pbkdf2(const struct evc_hmac_key *password, const uint8_t *salt,
                                       size_t salt_bytes, uint32_t n_iterations, uint8_t *out,
                                       size_t out_bytes);

/*
 * Many outputs of one number of iterations, each as by evc_pbkdf2. Kernels of evc_sha2_many that
 * have lanes compute digests side by side: those of neighbours whose passwords have the same kernel
 * and hash, and all digests of one output. Passwords and salts may be shared; an output overlaps no
 * other buffer.
 *
 * The call returns EVC_OK if all succeeded, else the first error; the member `status` has the
 * result of each one. scratch: at any address; scratch_bytes: at least the largest
 * evc_pbkdf2_many_scratch_bytes() of the passwords' kernels, which is 0 without lanes. It is wiped.
 *
 * EVC_ERR_OVERLAP     out overlaps its own salt
 * EVC_ERR_SCRATCH     scratch is NULL, or too small for this password's kernel
 */
struct evc_pbkdf2_job {
    const struct evc_hmac_key *password;
    const uint8_t *salt;
    size_t salt_bytes;
    uint8_t *out;
    size_t out_bytes;
    enum evc_status status; /* result */
};

EVC_API size_t evc_pbkdf2_many_scratch_bytes(const struct evc_sha2 *kernel);
EVC_CHECKED enum evc_status evc_pbkdf2_many(struct evc_pbkdf2_job *jobs, size_t n_jobs,
                                            uint32_t n_iterations, void *scratch,
                                            size_t scratch_bytes);

#ifdef __cplusplus
}
#endif
#endif
